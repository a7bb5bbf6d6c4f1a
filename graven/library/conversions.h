#pragma once
#include "graven/library/function_context.h"

namespace graven::engine {

// The largest number of an integer dtype.
long double largest_of(DType dtype);

// tf.saturate_cast of a real tensor.
Tensor saturated(FunctionContext& c, const Tensor& x, DType dtype);

}  // namespace graven::engine
