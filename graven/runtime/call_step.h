#pragma once
#include "graven/base/heap_bytes.h"
#include "graven/ir/body.h"
#include "graven/runtime/program.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Runs the Program of a body. If that does not accept the shapes of this run, runs the body node by
// node.
class CallStep final : public Step {
 public:
  CallStep(const Node& node, Ref<Body> body, Ref<Program> program)
      : Step(node), body_(std::move(body)), program_(std::move(program)) {}
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    return bytes_of_object<CallStep>();  // the body is charged for its Program
  }
  bool may_block() const override { return program_->may_block(); }

 private:
  const Ref<Body> body_;
  const Ref<Program> program_;
};

}  // namespace graven::engine
