#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/kernels/scalar_loop.h"
#include "graven/runtime/planned_body.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs a body as long as a condition holds (BodyRun::kWhile). The values that an iteration makes
// are given up to the next one, which may overwrite them; values that the body returns as it got
// them stay where they are. A loop of scalars alone runs by its instructions (ScalarLoop).
class LoopStep final : public Step {
 public:
  static Result<std::unique_ptr<LoopStep>> create(const Node& node, Ref<Body> condition,
                                                  Ref<Body> body);
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    // Bodies own their Programs.
    return bytes_of_object<LoopStep>() + heap_bytes(changes_) + heap_bytes(changed_) +
           heap_bytes(condition_members_) + heap_bytes(body_members_) +
           (scalar_ ? scalar_->bytes() : 0);
  }
  bool may_block() const override { return condition_.may_block() || body_.may_block(); }

 private:
  LoopStep(const Node& node, PlannedBody condition, PlannedBody body, std::vector<bool> changes)
      : Step(node),
        condition_(std::move(condition)),
        body_(std::move(body)),
        changes_(std::move(changes)) {}
  Status repeat(std::span<Tensor> values, std::span<bool> given_up) const;
  void find_scalar_loop();
  // True if the values are the scalars that the scalar loop is for.
  bool takes_scalars(std::span<const Tensor> values) const;
  Status repeat_scalars(std::span<Tensor> values) const;
  Status trapped_at(const Trap& trap) const;

  const PlannedBody condition_, body_;
  const std::vector<bool> changes_;  // for each variable: the body does not just return it
  // The loop over scalars, if it is one: the variables that change, and the nodes of its traps.
  std::optional<ScalarLoop> scalar_;
  std::vector<int> changed_;
  std::vector<const Node*> condition_members_, body_members_;
};

}  // namespace graven::engine
