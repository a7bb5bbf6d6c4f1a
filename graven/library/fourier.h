#pragma once
#include "graven/library/function_context.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

// Spectra of real numbers, as other functions need them.

// x with zeros behind the last axis, where that is shorter.
Tensor with_zeros(FunctionContext& c, const Tensor& x, const Size& length);

// The first half of the spectrum of the last axis, cut or padded with zeros to `length` elements. x
// is float32 or float64.
Tensor half_spectrum(FunctionContext& c, const Tensor& x, const Size& length);

// The inverse: `length` real numbers from the first half of their spectrum.
Tensor of_half_spectrum(FunctionContext& c, const Tensor& spectrum, const Size& length);

}  // namespace graven::engine
