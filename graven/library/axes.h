#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "graven/library/function_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// Orders of axes, for tensors whose rank is known or found when a function runs. An axis that a
// tensor of known rank does not have is a ValueError; where the rank is not known it makes an order
// that Transpose refuses.

// The axis counted from the front; unchanged at unknown rank.
int64_t axis_of(FunctionContext& c, const Tensor& x, int64_t axis);

// Whether an axis is known to be the last one.
bool is_last(FunctionContext& c, const Tensor& x, int64_t axis);

// The permutation that swaps an axis with the last one; it undoes itself.
Tensor swapped_with_last(FunctionContext& c, const Tensor& x, int64_t axis);

// The permutation that makes an axis the last, behind the others in their order.
Tensor moved_to_end(FunctionContext& c, const Tensor& x, int64_t axis);

// A vector with a size for each axis of x: this one at an axis, a number elsewhere.
Tensor sizes_but_one(FunctionContext& c, const Tensor& x, int64_t axis, const Size& size,
                     int64_t elsewhere);

// The other axes, in order, and the given ones, none of which is negative: vectors of int32.
std::pair<Tensor, Tensor> axes_apart(FunctionContext& c, const Tensor& x,
                                     std::span<const int64_t> axes);
// The same for a vector of axes.
std::pair<Tensor, Tensor> axes_apart(FunctionContext& c, const Tensor& x, const Tensor& axes);

}  // namespace graven::engine
