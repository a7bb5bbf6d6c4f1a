#pragma once
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/runtime/planned_body.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs a body once, on all inputs (BodyRun::kOnce).
class CallStep final : public Step {
 public:
  CallStep(const Node& node, PlannedBody body) : Step(node), body_(std::move(body)) {}
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    return bytes_of_object<CallStep>();  // the body is charged for its Program
  }
  bool may_block() const override { return body_.may_block(); }

 private:
  const PlannedBody body_;
};

}  // namespace graven::engine
