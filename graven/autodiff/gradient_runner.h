#pragma once
#include <span>
#include <vector>

#include "graven/autodiff/step.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/gradient_context.h"

namespace graven::engine {

// The gradients of a step's inputs, one each, from those of its outputs: none where there is no
// path, or where the gradient is not wanted. An op without gradient is an error of kind
// kLookupError.
Result<std::vector<Gradient>> run_gradient(const TapeStep& step, std::span<const Gradient> dy,
                                           const std::vector<bool>& wants, Builder& builder);

// Outputs of these are their inputs, so a gradient goes through as it is, IndexedSlices too.
bool hands_through(const Op& op);

// True if an attribute is a tensor or a Body, so that the attributes are no key of a small memory.
bool holds_objects(AttrsRef attrs);

// The shape as an int32 vector, a constant if it is known now, and zeros of the shape.
Tensor shape_of(Emitter& emit, const StepTensor& tensor);
Tensor zeros_like(Emitter& emit, const StepTensor& tensor);

// The error for a step whose op has no gradient.
Status no_gradient_error(const TapeStep& step);

// The tensors that the gradient of an op asks for, found by running it once on placeholders of the
// step's dtypes and ranks, and remembered. All tensors, if that run fails.
struct AskedFor {
  std::vector<bool> inputs, outputs;
};
AskedFor asked_for(const Op& op, AttrsRef attrs, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs);

// The bytes that asked_for remembers, for the whole process.
int64_t bytes_of_gradients_asked_for();

}  // namespace graven::engine
