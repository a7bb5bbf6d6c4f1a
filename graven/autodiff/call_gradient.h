#pragma once
#include <memory>
#include <span>

#include "graven/autodiff/gradient_pair.h"
#include "graven/base/ref.h"
#include "graven/ir/custom_gradient.h"
#include "graven/ir/frame.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The gradient of a call of a pair's forward half, which took these inputs and gave these outputs:
// a call of its backward half. It keeps only the values that a backward half may take. Listeners
// may be told of fewer outputs, the first ones, and give as many gradients.
BackwardRef backward_of_call(Ref<GradientPair> pair, std::span<const Tensor> inputs,
                             std::span<const Tensor> outputs);

// The gradient of a user's function of these inputs, which gave these outputs.
BackwardRef backward_of_custom(const Ref<CustomGradient>& gradient, std::span<const Tensor> inputs,
                               std::span<const Tensor> outputs);

// Zeros of the shape and dtype that the gradient of an input has: for a handle those of the value
// of its variable.
Tensor zeros_like_gradient_of(Emitter& emit, const Tensor& input);

// That shape, as a tensor.
Tensor shape_of_gradient_of(Emitter& emit, const Tensor& input);

// A gradient that fails with this error when it is asked for.
BackwardRef backward_that_fails(std::string name, Status status);

}  // namespace graven::engine
