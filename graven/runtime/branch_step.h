#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "graven/base/heap_bytes.h"
#include "graven/runtime/planned_body.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs one of several bodies, which input 0 chooses, on the other inputs (BodyRun::kOneOf).
class BranchStep final : public Step {
 public:
  BranchStep(const Node& node, bool is_list, std::vector<PlannedBody> branches)
      : Step(node), is_list_(is_list), branches_(std::move(branches)) {}
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    return bytes_of_object<BranchStep>() + heap_bytes(branches_);  // bodies own their Programs
  }
  bool may_block() const override {
    return std::ranges::any_of(branches_, [](const PlannedBody& body) { return body.may_block(); });
  }

 private:
  const bool is_list_;
  const std::vector<PlannedBody> branches_;
};

}  // namespace graven::engine
