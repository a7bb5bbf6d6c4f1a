#pragma once
#include "graven/library/function_context.h"

namespace graven::engine {

// The singular values of matrices, real numbers in descending order.
Tensor singular_values(FunctionContext& c, const Tensor& x);

}  // namespace graven::engine
