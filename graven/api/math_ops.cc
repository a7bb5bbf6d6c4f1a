#include "graven/api/math_ops.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "graven/api/apply.h"
#include "graven/api/array_ops.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"

namespace graven {
namespace {

using internal::apply;
using internal::at;
using internal::Composite;
using internal::LineScope;

}  // namespace

// --- Reductions.

Tensor argmax(const Operand& input, int axis, DType output_type) {
  return apply(engine::kArgMax, {input, Operand(axis, input.location())},
               {.output_type = output_type});
}
Tensor argmin(const Operand& input, int axis, DType output_type) {
  return apply(engine::kArgMin, {input, Operand(axis, input.location())},
               {.output_type = output_type});
}

// --- Mathematics.

Tensor add(const Operand& x, const Operand& y) { return x + y; }
Tensor divide(const Operand& x, const Operand& y) { return x / y; }

Tensor abs(const Operand& x) {
  if (!engine::is_complex(x.dtype())) return apply(engine::kAbs, {x});
  return apply(engine::kComplexAbs, {x}, {.Tout = engine::real_part_type(x.dtype())});
}

Tensor equal(const Operand& x, const Operand& y) { return apply(engine::kEqual, {x, y}); }
Tensor not_equal(const Operand& x, const Operand& y) { return apply(engine::kNotEqual, {x, y}); }

Tensor truediv(const Operand& x, const Operand& y) { return x / y; }

Tensor scalar_mul(const Operand& scalar, const Operand& x) {
  LineScope line(x.location());
  Tensor tensor = x.as_tensor(), factor = scalar.as_tensor(tensor.dtype());
  if (factor.shape().has_rank() && factor.rank() != 0) {
    throw_error(engine::value_error("The input scalar must be a 0-D value. Received shape ",
                                    factor.shape().to_text(), "."),
                x.location());
  }
  return apply(engine::kMul, {factor, tensor});
}

Tensor complex(const Operand& real, const Operand& imag) {
  Tensor first = real.as_tensor(imag.dtype());
  bool is_short = first.dtype() == DType::kFloat32;
  return apply(engine::kComplex, {at(first, real.location()), imag},
               {.Tout = is_short ? DType::kComplex64 : DType::kComplex128});
}

Tensor cumsum(const Operand& x, const Operand& axis, bool exclusive, bool reverse) {
  return apply(engine::kCumsum, {x, axis}, {.exclusive = exclusive, .reverse = reverse});
}

namespace math {

Tensor cumprod(const Operand& x, const Operand& axis, bool exclusive, bool reverse) {
  return apply(engine::kCumprod, {x, axis}, {.exclusive = exclusive, .reverse = reverse});
}

namespace {

Operand zero_of(DType dtype) {
  if (dtype == DType::kString) return "";
  if (dtype == DType::kBool) return false;
  return 0;
}

}  // namespace

Tensor zero_fraction(const Operand& value) {
  Composite composite("zero_fraction", value.location());
  Tensor x = value.as_tensor();
  return reduce_mean(cast(equal(x, zero_of(x.dtype())), DType::kFloat32));
}

Tensor accumulate_n(const std::vector<Tensor>& inputs, Here location) {
  return apply(*engine::kAddN, std::vector<engine::Tensor>(inputs.begin(), inputs.end()),
               engine::NoAttrs(), location)[0];
}

Tensor divide_no_nan(const Operand& x, const Operand& y) {
  LineScope line(x.location());
  Tensor dividend = x.as_tensor(y.dtype()), divisor = y.as_tensor(dividend.dtype());
  if (engine::is_integer(dividend.dtype())) {
    DType wide = engine::quotient_type(dividend.dtype());
    dividend = cast(dividend, wide);
    divisor = cast(divisor, wide);
  }
  return apply(engine::kDivNoNan, {dividend, divisor});
}

Tensor logical_xor(const Operand& x, const Operand& y) {
  Composite composite("LogicalXor", x.location());
  return internal::exclusive_or(x, y);
}

namespace {

bool is_complex(const Tensor& x) { return engine::is_complex(x.dtype()); }

// A part of complex numbers.
Tensor part(const engine::OpHandle<engine::RealPartAttrs>& op, const Tensor& x) {
  return apply(op, {x}, {.Tout = engine::real_part_type(x.dtype())});
}

}  // namespace

Tensor real(const Operand& input) {
  LineScope line(input.location());
  Tensor x = input.as_tensor();
  return is_complex(x) ? part(engine::kReal, x) : x;
}

Tensor imag(const Operand& input) {
  LineScope line(input.location());
  Tensor x = input.as_tensor();
  return is_complex(x) ? part(engine::kImag, x) : zeros_like(x);
}

Tensor angle(const Operand& input) {
  LineScope line(input.location());
  Tensor x = input.as_tensor();
  if (is_complex(x)) return part(engine::kAngle, x);
  return where(x < 0, std::numbers::pi * ones_like(x), zeros_like(x));
}

Tensor conj(const Operand& x) {
  LineScope line(x.location());
  Tensor tensor = x.as_tensor();
  return is_complex(tensor) ? apply(engine::kConj, {tensor}) : tensor;
}

Tensor log_sigmoid(const Operand& x) {
  Composite composite("LogSigmoid", x.location());
  return -apply(engine::kSoftplus, {-x});
}

}  // namespace math

}  // namespace graven
