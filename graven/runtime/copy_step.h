#pragma once
#include "graven/base/heap_bytes.h"
#include "graven/runtime/step.h"
#include "graven/tensor/device_queues.h"

namespace graven::engine {

// Copies a tensor to the device of its queue, for a step there; a tensor that is there is not
// copied.
class CopyStep final : public Step {
 public:
  explicit CopyStep(const Node& reader) : Step(reader) {}
  Status run(ProgramRun& run) const override {
    ASSIGN_OR_RETURN(Tensor copy, on_device(run.input(*this, 0), queue->device()));
    return run.put(*this, 0, std::move(copy));
  }
  std::string text() const override { return "Copy to " + queue->device().name(); }
  int64_t bytes() const override { return bytes_of_object<CopyStep>(); }
};

}  // namespace graven::engine
