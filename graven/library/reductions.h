#pragma once
#include <string_view>

#include "graven/library/function_context.h"
#include "graven/ops/reduction_ops.h"

namespace graven::engine {

// Reductions as public functions have them: over named axes, or all of them. Other bodies of the
// library use these.

// The axes as a tensor: the given axes, or all of x.
Tensor axes_tensor(FunctionContext& c, const Tensor& x, const Axes& axes);

Formula reduce(FunctionContext& c, const OpHandle<ReductionAttrs>& op, const Tensor& x,
               const Axes& axes = {}, bool keepdims = false, std::string_view name = {});

}  // namespace graven::engine
