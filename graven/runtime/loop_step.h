#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/kernels/scalar_loop.h"
#include "graven/runtime/loop_counters.h"
#include "graven/runtime/planned_body.h"
#include "graven/runtime/recompute.h"
#include "graven/runtime/repeated_run.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs a body as long as a condition holds (BodyRun::kWhile). The values that an iteration makes
// are given up to the next one, which may overwrite them; values that the body returns as it got
// them stay where they are. A loop of scalars alone runs by its instructions (ScalarLoop), and so
// do the scalars of another one (LoopCounters).
class LoopStep final : public Step {
 public:
  static Result<std::unique_ptr<LoopStep>> create(const Node& node, Ref<Body> condition,
                                                  Ref<Body> body);
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    // Bodies own their Programs. That of body_ is the node's, or this step's alone.
    int64_t total = bytes_of_object<LoopStep>() + condition_.bytes() + body_.bytes();
    const Body& body = body_.planned().body();
    if (&body != whole_body_.get()) total += body.bytes();
    if (scalars_) {
      total += scalars_->loop.bytes() + heap_bytes(scalars_->condition_members) +
               heap_bytes(scalars_->body_members);
    }
    if (counters_) total += counters_->bytes();
    return total + (recompute_ ? recompute_->bytes() : 0);
  }
  bool may_block() const override {
    return condition_.planned().may_block() || body_.planned().may_block();
  }

 private:
  // The loop over scalars that the whole loop is, and the nodes of its traps.
  struct Scalars {
    ScalarLoop loop;
    std::vector<const Node*> condition_members, body_members;
  };
  static std::optional<Scalars> scalar_loop(const Graph& condition, const Graph& body);

  LoopStep(const Node& node, PlannedBody condition, PlannedBody body, Ref<Body> whole_body,
           std::vector<int> changed)
      : Step(node),
        body_(std::move(body), std::move(changed)),
        condition_(std::move(condition), body_),
        whole_body_(std::move(whole_body)) {}
  double cost_of_iteration() const { return condition_.planned().cost() + body_.planned().cost(); }
  Status repeat(std::span<Tensor> values, std::span<bool> given_up) const;
  Status repeat_scalars(std::span<Tensor> values) const;
  Status repeat_whole_body(std::span<Tensor> values) const;
  // True if the values are the scalars that the bodies say.
  bool takes_scalars(std::span<const Tensor> values) const;
  Status trapped_at(const Trap& trap) const;

  // Gives the variables that it changes; counters_ and recompute_ do the rest.
  const RepeatedBody body_;
  const RepeatedBody condition_;
  const Ref<Body> whole_body_;
  std::optional<Scalars> scalars_;              // none: some variables are no scalars
  std::optional<LoopCounters> counters_;        // none: the condition is no expression of scalars
  std::unique_ptr<const Recompute> recompute_;  // null: nothing is computed again
};

}  // namespace graven::engine
