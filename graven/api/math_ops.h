#pragma once
#include <cstdint>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Mathematics whose signature is not that of one op; the rest is printed from the records.

namespace graven {

// The index of the largest (smallest) element along an axis; of equal ones the first.
GRAVEN_API Tensor argmax(const Operand& input, int axis = 0, DType output_type = DType::kInt64);
GRAVEN_API Tensor argmin(const Operand& input, int axis = 0, DType output_type = DType::kInt64);

// --- Mathematics.
// Element by element; shapes broadcast. InvalidArgument, or a TypeError while a function is traced,
// if the dtypes differ. add joins strings; divide divides integers as floats.
GRAVEN_API Tensor add(const Operand& x, const Operand& y);
GRAVEN_API Tensor divide(const Operand& x, const Operand& y);
GRAVEN_API Tensor truediv(const Operand& x, const Operand& y);
// A scalar times x; a ValueError if it is none.
GRAVEN_API Tensor scalar_mul(const Operand& scalar, const Operand& x);
// The complex64 or complex128 of float32 or float64 parts, whose shapes broadcast.
GRAVEN_API Tensor complex(const Operand& real, const Operand& imag);
// Sums and products of the elements up to each place along an axis; exclusive: without the place's
// own; reverse: from the end.
GRAVEN_API Tensor cumsum(const Operand& x, const Operand& axis = 0, bool exclusive = false,
                         bool reverse = false);
GRAVEN_API Tensor abs(const Operand& x);
GRAVEN_API Tensor equal(const Operand& x, const Operand& y);
GRAVEN_API Tensor not_equal(const Operand& x, const Operand& y);

namespace math {
using graven::abs;
using graven::add;
using graven::argmax;
using graven::argmin;
using graven::cumsum;
using graven::divide;
using graven::equal;
using graven::not_equal;
using graven::scalar_mul;
using graven::truediv;

GRAVEN_API Tensor cumprod(const Operand& x, const Operand& axis = 0, bool exclusive = false,
                          bool reverse = false);
// The part of elements that are zero, false or empty, float32.
GRAVEN_API Tensor zero_fraction(const Operand& value);
// The sum of tensors of one shape and dtype.
GRAVEN_API Tensor accumulate_n(const std::vector<Tensor>& inputs, Here location = Here::current());
// x / y, and 0 where y is 0. Integers are divided as floats.
GRAVEN_API Tensor divide_no_nan(const Operand& x, const Operand& y);
// Exclusive or of bools.
GRAVEN_API Tensor logical_xor(const Operand& x, const Operand& y);
// The parts of complex numbers, their angle in radians and conjugate. Of real numbers they are x,
// zeros, 0 or pi, and x.
GRAVEN_API Tensor real(const Operand& input);
GRAVEN_API Tensor imag(const Operand& input);
GRAVEN_API Tensor angle(const Operand& input);
GRAVEN_API Tensor conj(const Operand& x);
// log(1 / (1 + exp(-x))).
GRAVEN_API Tensor log_sigmoid(const Operand& x);
}  // namespace math

namespace dtypes {
using graven::complex;
}  // namespace dtypes

}  // namespace graven
