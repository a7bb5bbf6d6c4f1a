#pragma once
#include <utility>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/runtime/planned_body.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs a body as long as a condition holds (BodyRun::kWhile). The values that an iteration makes
// are given up to the next one, which may overwrite them; values that the body returns as it got
// them stay where they are.
class LoopStep final : public Step {
 public:
  static Result<std::unique_ptr<LoopStep>> create(const Node& node, Ref<Body> condition,
                                                  Ref<Body> body);
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    return bytes_of_object<LoopStep>() + heap_bytes(changes_);  // bodies own their Programs
  }
  bool may_block() const override { return condition_.may_block() || body_.may_block(); }

 private:
  LoopStep(const Node& node, PlannedBody condition, PlannedBody body, std::vector<bool> changes)
      : Step(node),
        condition_(std::move(condition)),
        body_(std::move(body)),
        changes_(std::move(changes)) {}
  Status repeat(std::span<Tensor> values, std::span<bool> given_up) const;

  const PlannedBody condition_, body_;
  const std::vector<bool> changes_;  // for each variable: the body does not just return it
};

}  // namespace graven::engine
