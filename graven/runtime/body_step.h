#pragma once
#include "graven/base/heap_bytes.h"
#include "graven/ir/recorded_body.h"
#include "graven/runtime/compiler.h"
#include "graven/runtime/step.h"

namespace graven::engine {

// Computes the scalar body of a lone elementwise op, by the kernel that eager calls use too.
class BodyStep final : public Step {
 public:
  // The source of the result's shape.
  enum class ResultShape {
    kInGraph,      // as the graph says, the same in every run
    kByBroadcast,  // the broadcast of the inputs' shapes
    kByInference,  // shape inference by the op's record
  };
  BodyStep(const Node& node, Ref<const RecordedBody> body, const BodyKernel& kernel,
           TypeBindings types, ResultShape result_shape)
      : Step(node),
        body_(std::move(body)),
        kernel_(kernel),
        types_(std::move(types)),
        result_shape_(result_shape) {}
  Status run(ProgramRun& run) const override;
  std::string text() const override { return node->op().name(); }
  bool writes_kept(size_t /*i*/) const override { return result_shape_ == ResultShape::kInGraph; }
  int64_t bytes() const override {
    return bytes_of_object<BodyStep>();  // kernels of bodies are shared
  }

 private:
  Status find_shape(std::span<Tensor* const> operands, Shape& shape) const;
  const Ref<const RecordedBody> body_;
  const BodyKernel& kernel_;
  const TypeBindings types_;
  const ResultShape result_shape_;
};

}  // namespace graven::engine
