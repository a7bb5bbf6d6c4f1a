#pragma once
#include "graven/base/heap_bytes.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// The only output shares the elements of an input, under a shape that is known before the run.
class ViewStep final : public Step {
 public:
  ViewStep(const Node& node, int view_of) : Step(node), view_of_(view_of) {}
  Status run(ProgramRun& run) const override {
    return run.put(*this, 0,
                   run.input(*this, static_cast<size_t>(view_of_)).with_shape(outputs[0].shape));
  }
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override { return bytes_of_object<ViewStep>(); }

 private:
  const int view_of_;
};

}  // namespace graven::engine
