#pragma once
#include "graven/base/heap_bytes.h"
#include "graven/ir/recorded_body.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Computes the scalar body of a lone elementwise op, by the kernel that eager calls use too.
class BodyStep final : public Step {
 public:
  // broadcasts: the shape of the result is the broadcast of the inputs', so that the record need
  // not be asked.
  BodyStep(const Node& node, Ref<const RecordedBody> body, const BodyKernel& kernel,
           TypeBindings types, bool broadcasts)
      : Step(node),
        body_(std::move(body)),
        kernel_(kernel),
        types_(std::move(types)),
        broadcasts_(broadcasts) {}
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  int64_t bytes() const override {
    return bytes_of_object<BodyStep>();  // kernels of bodies are shared
  }

 private:
  Result<Shape> shape_of(std::span<Tensor* const> operands) const;
  const Ref<const RecordedBody> body_;
  const BodyKernel& kernel_;
  const TypeBindings types_;
  const bool broadcasts_;
};

}  // namespace graven::engine
