#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/function_ref.h"
#include "graven/base/inline_vector.h"
#include "graven/ir/attributes.h"
#include "graven/ir/frame.h"
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A tensor that a step took or made. The tensor itself is kept only if a gradient asks for it.
struct StepTensor {
  StepTensor() = default;
  explicit StepTensor(const Tensor& t)
      : tensor(t), id(t.get()->id()), dtype(t.dtype()), shape(t.shape()) {}
  // A tensor without value and shape: the gradient of the whole step keeps those that it needs.
  StepTensor(uint64_t id, DType dtype) : id(id), dtype(dtype) {}
  Tensor tensor;    // may be empty
  uint64_t id = 0;  // 0: no gradient flows to it from the step, or from it into the step
  DType dtype = DType::kInvalid;
  Shape shape;
};

// One application of an op, or of a whole that has one gradient, such as a call. Never changes.
struct TapeStep {
  const Op* op = nullptr;      // null if the step is no op
  std::optional<Attrs> attrs;  // of the op
  std::string node_name;       // of the op's node, if it is one in a graph
  InlineVector<StepTensor, 2> inputs;
  InlineVector<StepTensor, 1> outputs;
  BackwardRef backward;  // in place of the op's gradient

  std::string_view name() const {
    return node_name.empty() && backward ? backward->name() : std::string_view(node_name);
  }
};
using TapeStepRef = std::shared_ptr<const TapeStep>;

// Whether gradients flow through tensors of the dtype. The gradient of a resource or variant is
// that of the value it holds.
constexpr bool propagates(DType dtype) {
  return kDifferentiableTypes.contains(dtype) || dtype == DType::kResource ||
         dtype == DType::kVariant;
}
// Whether an output of a body has a gradient of its own. That of a resource goes to its variable.
constexpr bool may_have_gradient(DType dtype) {
  return propagates(dtype) && dtype != DType::kResource;
}

// The step of an op that was applied, with all of its tensors; `backward`, if given, differentiates
// it.
TapeStepRef make_step(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                      std::span<const Tensor> outputs, BackwardRef backward = nullptr);
// The same without the large values that the op's gradient does not ask for, and without the ids
// of inputs that are not watched.
TapeStepRef make_lean_step(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                           std::span<const Tensor> outputs,
                           FunctionRef<bool(const Tensor&)> is_watched);

}  // namespace graven::engine
