#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "graven/library/function_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// Orders of axes, for tensors whose rank may be known only at run time. A wrong axis is a
// ValueError if the rank is known; otherwise the order is one that Transpose refuses.

// The axis counted from the front; unchanged at unknown rank.
int64_t axis_of(FunctionContext& c, const Tensor& x, int64_t axis);

// Whether an axis is known to be the last one.
bool is_last(FunctionContext& c, const Tensor& x, int64_t axis);

// Tells the graph what is known of the shape of a result and no op's own rule says, as set_shape of
// a tensor does. Nothing in an eager call.
void set_known_shape(FunctionContext& c, const Tensor& result, const Shape& shape);

// The permutation that swaps an axis with the last one; it undoes itself.
Tensor swapped_with_last(FunctionContext& c, const Tensor& x, int64_t axis);

// The permutation that makes an axis the last, behind the others in their order.
Tensor moved_to_end(FunctionContext& c, const Tensor& x, int64_t axis);

// A vector with one size per axis of x: `size` at one axis, a number at the others.
Tensor sizes_but_one(FunctionContext& c, const Tensor& x, int64_t axis, const Size& size,
                     int64_t elsewhere);

// The axes that are not given, in order, and the given ones counted from the front, as vectors of
// int32.
std::pair<Tensor, Tensor> axes_apart(FunctionContext& c, const Tensor& x,
                                     std::span<const int64_t> axes);
// The same for a vector of axes.
std::pair<Tensor, Tensor> axes_apart(FunctionContext& c, const Tensor& x, const Tensor& axes);

}  // namespace graven::engine
