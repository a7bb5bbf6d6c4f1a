#pragma once
#include <source_location>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/tensor.h"

// Orders of axes, of tensors whose rank is known or found when a traced function runs; not for
// users. An axis that a tensor of known rank does not have is a ValueError; of unknown rank it
// makes an order that Transpose refuses.

namespace graven::internal {

// The axis counted from the front; as it is at unknown rank.
int axis_of(const Tensor& x, int axis, const std::source_location& location);

// Whether an axis is known to be the last one.
bool is_last(const Tensor& x, int axis);

// The permutation that swaps an axis with the last one; it undoes itself.
Axes swapped_with_last(const Tensor& x, int axis, const std::source_location& location);

// The permutation that makes an axis the last, behind the others in their order.
Axes moved_to_end(const Tensor& x, int axis, const std::source_location& location);

}  // namespace graven::internal
