#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/op.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// Estimates of time, in nanoseconds on one core: good for a decision such as whether other threads
// may run meanwhile, not for more. Sizes that are not known yet are guessed.

GRAVEN_API double guessed_size(Dim dim);
// The number of elements.
GRAVEN_API double guessed_elements(const Shape& shape);
// Their product from axis `first` on; the first may be negative, counted from the end.
GRAVEN_API double guessed_elements(const Shape& shape, int first);

// What the op's record says of inputs and outputs of these shapes. Where it says nothing, the time
// goes with the elements that are read and written.
GRAVEN_API double estimated_cost(const Op& op, AttrsRef attrs, std::span<const Shape> inputs,
                                 std::span<const Shape> outputs);

}  // namespace graven::engine
