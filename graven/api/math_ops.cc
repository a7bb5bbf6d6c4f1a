#include "graven/api/math_ops.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "graven/api/apply.h"
#include "graven/api/array_ops.h"
#include "graven/api/axes.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/linear_algebra_ops.h"
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

Tensor matmul(const Operand& a, const Operand& b, bool transpose_a, bool transpose_b,
              bool adjoint_a, bool adjoint_b) {
  const Here& location = a.location();
  if ((transpose_a && adjoint_a) || (transpose_b && adjoint_b)) {
    throw_error(engine::value_error("Only one of `transpose_a` and `adjoint_a`, and of "
                                    "`transpose_b` and `adjoint_b`, can be true"),
                location);
  }
  Tensor x = a.as_tensor(b.dtype()), y = b.as_tensor(a.dtype());
  auto may_be_matrix = [](const Tensor& t) { return !t.shape().has_rank() || t.rank() == 2; };
  auto conjugate = [&](const Tensor& t) {
    return engine::is_complex(t.dtype()) ? apply(engine::kConj, {at(t, location)}) : t;
  };
  bool one_known = x.shape().has_rank() || y.shape().has_rank();
  if (may_be_matrix(x) && may_be_matrix(y) && one_known) {
    if (adjoint_a) x = conjugate(x);
    if (adjoint_b) y = conjugate(y);
    return apply(
        engine::kMatMul, {at(x, location), at(y, location)},
        {.transpose_a = transpose_a || adjoint_a, .transpose_b = transpose_b || adjoint_b});
  }
  if (transpose_a) x = conjugate(x);
  if (transpose_b) y = conjugate(y);
  return apply(engine::kBatchMatMulV2, {at(x, location), at(y, location)},
               {.adj_x = transpose_a || adjoint_a, .adj_y = transpose_b || adjoint_b}, "MatMul");
}

Tensor add(const Operand& x, const Operand& y) { return x + y; }
Tensor divide(const Operand& x, const Operand& y) { return x / y; }

Tensor abs(const Operand& x) {
  if (!engine::is_complex(x.dtype())) return apply(engine::kAbs, {x});
  return apply(engine::kComplexAbs, {x}, {.Tout = engine::real_part_type(x.dtype())});
}

Tensor equal(const Operand& x, const Operand& y) { return apply(engine::kEqual, {x, y}); }
Tensor not_equal(const Operand& x, const Operand& y) { return apply(engine::kNotEqual, {x, y}); }

Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                     const Operand& clip_value_max) {
  Tensor below = apply(engine::kMinimum, {t, clip_value_max});
  return apply(engine::kMaximum, {at(below, t.location()), clip_value_min});
}

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

// --- Linear algebra.

namespace {

std::vector<int64_t> counted(int64_t first, int64_t end) {
  std::vector<int64_t> numbers;
  for (int64_t i = first; i < end; ++i) numbers.push_back(i);
  return numbers;
}

void check_axes(const char* operand, const Tensor& x, const std::vector<int64_t>& axes,
                const Here& location) {
  if (!x.shape().has_rank()) return;
  int rank = x.rank();
  for (int64_t axis : axes) {
    if (axis >= -rank && axis < rank) continue;
    throw_error(engine::value_error("`axes` of ", operand, " in tensordot must be in [", -rank,
                                    ", ", rank, "), not ", axis),
                location);
  }
}

}  // namespace

Tensor tensordot(const Operand& a, const Operand& b, int axes) {
  Tensor x = a.as_tensor(b.dtype()), y = b.as_tensor(x.dtype());
  int most = axes;
  if (x.shape().has_rank()) most = x.rank();
  if (y.shape().has_rank()) most = x.shape().has_rank() ? std::min(most, y.rank()) : y.rank();
  if (axes < 0 || axes > most) {
    throw_error(engine::value_error("`axes` of tensordot must be in [0, ", most, "], not ", axes),
                a.location());
  }
  return tensordot(at(x, a.location()), at(y, b.location()), {counted(-axes, 0), counted(0, axes)});
}

Tensor tensordot(const Operand& a, const Operand& b, const ContractedAxes& axes) {
  const Here& location = a.location();
  Composite composite("Tensordot", location);
  Tensor x = a.as_tensor(b.dtype()), y = b.as_tensor(x.dtype());
  check_axes("a", x, axes.a, location);
  check_axes("b", y, axes.b, location);
  if (axes.a.size() != axes.b.size()) {
    throw_error(engine::value_error("tensordot needs as many axes of a as of b, not ",
                                    axes.a.size(), " and ", axes.b.size()),
                location);
  }
  auto [free_x, of_x] = internal::axes_apart(x, axes.a, location);
  auto [free_y, of_y] = internal::axes_apart(y, axes.b, location);
  Tensor sizes_x = shape(x), sizes_y = shape(y);
  auto elements = [&](const Tensor& sizes, const Axes& places) {
    return gather(sizes, places.as_tensor({}, location));
  };
  Tensor free = concat({elements(sizes_x, free_x), elements(sizes_y, free_y)}, 0);
  Tensor inner = apply(engine::kProd, {elements(sizes_x, of_x), 0});
  Tensor x_last = transpose(x, internal::joined(free_x, of_x, location));
  Tensor y_first = transpose(y, internal::joined(of_y, free_y, location));
  Tensor left = reshape(x_last, stack({-1, inner}));
  Tensor right = reshape(y_first, stack({inner, -1}));
  return reshape(matmul(left, right), free);
}

Tensor norm(const Operand& tensor, double ord, const Axes& axis, bool keepdims) {
  Composite composite("norm", tensor.location());
  Tensor x = tensor.as_tensor();
  if (ord == 2) {
    Tensor squares = x * math::conj(x);
    return apply(engine::kSqrt, {math::real(reduce_sum(squares, axis, keepdims))});
  }
  if (axis.numbers && axis.numbers->size() == 2) {
    throw_error(
        engine::Status(Code::kUnimplemented,
                       engine::str_cat("norm: Graven has no norm ", ord, " of matrices yet"),
                       ErrorKind::kNotImplementedError),
        tensor.location());
  }
  Tensor sizes = abs(x);
  if (ord == 1) return reduce_sum(sizes, axis, keepdims);
  if (ord == std::numeric_limits<double>::infinity()) return reduce_max(sizes, axis, keepdims);
  if (!(ord > 0)) {
    throw_error(engine::value_error("'ord' must be a supported vector norm, got ", ord),
                tensor.location());
  }
  Tensor sum = reduce_sum(apply(engine::kPow, {sizes, ord}), axis, keepdims);
  return apply(engine::kPow, {sum, 1.0 / ord});
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
    DType wide = internal::quotient_type(dividend.dtype());
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

Tensor l2_normalize(const Operand& x, const Axes& axis, double epsilon) {
  Composite composite("l2_normalize", x.location());
  Tensor tensor = x.as_tensor();
  auto over_length = [&](const Tensor& squares) {
    Tensor sum = reduce_sum(squares, axis, true);
    return apply(engine::kRsqrt, {apply(engine::kMaximum, {sum, epsilon})});
  };
  if (!is_complex(tensor)) return tensor * over_length(apply(engine::kSquare, {tensor}));
  Tensor a = real(tensor), b = imag(tensor);
  Tensor factor = over_length(apply(engine::kSquare, {a}) + apply(engine::kSquare, {b}));
  return complex(a * factor, b * factor);
}

}  // namespace math

namespace linalg {

Tensor matvec(const Operand& a, const Operand& b, bool transpose_a, bool adjoint_a) {
  Composite composite("MatVec", a.location());
  Tensor x = a.as_tensor();
  Tensor columns = expand_dims(b.as_tensor(x.dtype()), -1);
  return squeeze(matmul(x, columns, transpose_a, false, adjoint_a), {-1});
}

}  // namespace linalg

}  // namespace graven
