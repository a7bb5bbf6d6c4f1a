#pragma once
#include "graven/library/function_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// Spectra of real numbers, for functions made of them.

// x with zeros behind the last axis, where that is shorter.
Tensor with_zeros(FunctionContext& c, const Tensor& x, const Size& length);

// The first half of the spectrum of the last axis, of which so many elements are transformed:
// others are cut off, missing ones are zero. x is float32 or float64.
Tensor half_spectrum(FunctionContext& c, const Tensor& x, const Size& length);

// The numbers that have such a half, in as many elements of the last axis.
Tensor of_half_spectrum(FunctionContext& c, const Tensor& spectrum, const Size& length);

}  // namespace graven::engine
