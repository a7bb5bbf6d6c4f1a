#pragma once
#include <cstdint>
#include <memory>
#include <string>
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
  Tensor tensor;    // may be empty
  uint64_t id = 0;  // 0: no gradient flows to it from the step, or from it into the step
  DType dtype = DType::kInvalid;
  Shape shape;
};

// One application of an op, or of something that has a gradient as a whole. Never changes.
struct Step {
  const Op* op = nullptr;  // null if it is none
  Attrs attrs{attrs_type<NoAttrs>()};
  std::string name;  // of the node, if it is one in a graph; or of the step
  InlineVector<StepTensor, 2> inputs;
  InlineVector<StepTensor, 1> outputs;
  std::shared_ptr<const Backward> backward;  // in place of the op's gradient
};
using StepRef = std::shared_ptr<const Step>;

// Whether gradients flow through tensors of the dtype. Those of a resource or variant are
// gradients of what it holds.
constexpr bool propagates(DType dtype) {
  return kDifferentiableTypes.contains(dtype) || dtype == DType::kResource ||
         dtype == DType::kVariant;
}

// The step of an op that was applied, with all of its tensors; differentiated by `backward` if
// that is given.
StepRef make_step(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                  std::span<const Tensor> outputs,
                  std::shared_ptr<const Backward> backward = nullptr);
// The same without the large values that the op's gradient does not ask for, and without the ids
// of inputs that are not watched.
StepRef make_lean_step(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                       std::span<const Tensor> outputs,
                       FunctionRef<bool(const Tensor&)> is_watched);

}  // namespace graven::engine
