#include <algorithm>
#include <optional>
#include <string>

#include "graven/ir/broadcast_rules.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/accuracy_text.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/elements_in_double.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gamma_functions.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"

namespace graven::engine {
namespace {

// --- Quotients and powers, which refuse some integers.

Scalar checked_divisor(Scalar y) {
  if (is_integer(y.dtype())) trap_if(y == zero_like(y), "Integer division by zero");
  return y;
}

// --- Gradients: the derivative times dy, summed over what was broadcast. conj leaves real numbers
// alone.

Formula x_of(GradientContext& c, int i) { return {c, c.x(i)}; }

Formula dy_of(GradientContext& c) { return {c, c.dy()}; }

void set_sum(GradientContext& c, int i, const Formula& dx) {
  c.set_dx(i, reduce_to_shape(c, dx, i));
}

// dy where the condition holds, else 0.
Formula where(const Formula& condition, const Formula& t, const Formula& e) {
  return {t.emit(), t.emit()(kSelectV2, {condition.tensor(), t.tensor(), e.tensor()})};
}

// --- Sums and products.

void add_gradient(GradientContext& c) {
  if (c.wants(0)) set_sum(c, 0, dy_of(c));
  if (c.wants(1)) set_sum(c, 1, dy_of(c));
}

void define_add_v2(OpRegistry& ops) {
  kAddV2 = ops.define<NoAttrs>({
      .name = "AddV2",
      .summary = "x + y, element by element. Integers wrap around.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_sizes<&InferContext::add>,
      .gradient = add_gradient,
      .body = elementwise([](auto x, auto y) { return x + y; }),
      .commutative = true,
      .identity_on_right = -0.0,
  });
}

// --- Kernels.

Status join_strings(KernelContext& c) {
  auto x = c.in<std::string>(0), y = c.in<std::string>(1);
  auto z = c.out<std::string>(0);
  for_each_broadcast<2>(c.output(0).shape(), {&c.input(0).shape(), &c.input(1).shape()},
                        [&](int64_t i, const auto& at) { z[i] = x[at[0]] + y[at[1]]; });
  return {};
}

void define_add_and_kin(OpRegistry& ops) {
  kAdd = ops.define<NoAttrs>({
      .name = "Add",
      .summary = "x + y, element by element. Integers wrap around, strings are joined.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes | DTypeSet{DType::kString}}},
      .infer = broadcast_sizes<&InferContext::add>,
      .gradient = add_gradient,
      .body = elementwise([](auto x, auto y) {
                return x + y;
              }).with_kernel_for({DType::kString}, join_strings),
      .identity_on_right = -0.0,
  });
  kSub = ops.define<NoAttrs>({
      .name = "Sub",
      .python = "math.subtract, subtract",
      .summary = "x - y, element by element. Integers wrap around.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_sizes<&InferContext::subtract>,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) set_sum(c, 0, dy_of(c));
            if (c.wants(1)) set_sum(c, 1, -dy_of(c));
          },
      .body = elementwise([](auto x, auto y) { return x - y; }),
      .identity_on_right = 0,
  });
  kMul = ops.define<NoAttrs>({
      .name = "Mul",
      .python = "math.multiply, multiply",
      .summary = "x * y, element by element. Integers wrap around.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_sizes<&InferContext::multiply>,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) set_sum(c, 0, dy_of(c) * conj(x_of(c, 1)));
            if (c.wants(1)) set_sum(c, 1, dy_of(c) * conj(x_of(c, 0)));
          },
      .body = elementwise([](auto x, auto y) { return x * y; }),
      .commutative = true,
      .identity_on_right = 1,
  });
  kMulNoNan = ops.define<NoAttrs>({
      .name = "MulNoNan",
      .python = "math.multiply_no_nan",
      .summary = "x * y, but 0 where y is 0, even if x is infinite or NaN.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) set_sum(c, 0, call(kMulNoNan, dy_of(c), conj(x_of(c, 1))));
            if (c.wants(1)) set_sum(c, 1, call(kMulNoNan, conj(x_of(c, 0)), dy_of(c)));
          },
      .body = elementwise(
          [](auto x, auto y) { return select(y == zero_like(y), zero_like(x), x * y); }),
      .identity_on_right = 1,
  });
  kSquaredDifference = ops.define<NoAttrs>({
      .name = "SquaredDifference",
      .python = "math.squared_difference",
      .summary = "conj(x - y) * (x - y), element by element.",
      .details = accuracy_text(2, 2),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes | kIndexTypes}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            Formula scaled = 2.0 * dy_of(c) * (x_of(c, 0) - x_of(c, 1));
            if (c.wants(0)) set_sum(c, 0, scaled);
            if (c.wants(1)) set_sum(c, 1, -scaled);
          },
      .body = elementwise([](auto x, auto y) { return conj(x - y) * (x - y); }),
      .commutative = true,
  });
}

// --- Quotients and remainders.

void div_gradient(GradientContext& c) {
  Formula y = conj(x_of(c, 1));
  if (c.wants(0)) set_sum(c, 0, dy_of(c) / y);
  if (c.wants(1)) set_sum(c, 1, dy_of(c) * (-conj(x_of(c, 0)) / y / y));
}

void define_real_div_and_kin(OpRegistry& ops) {
  kRealDiv = ops.define<NoAttrs>({
      .name = "RealDiv",
      .python = "realdiv",
      .summary = "x / y, element by element.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes, kNumberTypes}},
      .infer = broadcast_inputs,
      .gradient = div_gradient,
      .body = elementwise([](auto x, auto y) { return x / y; }),
      .identity_on_right = 1,
  });
  kDiv = ops.define<NoAttrs>({
      .name = "Div",
      .summary = "x / y, element by element; quotients of integers are truncated towards 0.",
      .details = correctly_rounded() + "\n\nRaises:\n  InvalidArgumentError: An integer y is 0.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kNumberTypes}},
      .infer = broadcast_inputs,
      .gradient = div_gradient,
      .body = elementwise([](auto x, auto y) { return x / checked_divisor(y); }),
      .identity_on_right = 1,
  });
  kTruncateDiv = ops.define<NoAttrs>({
      .name = "TruncateDiv",
      .python = "truncatediv",
      .summary = "x / y, truncated towards 0.",
      .details = "Raises:\n  InvalidArgumentError: An integer y is 0.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes, kNumberTypes}},
      .infer = broadcast_inputs,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return trunc(x / checked_divisor(y)); }),
  });
  kFloorDiv = ops.define<NoAttrs>({
      .name = "FloorDiv",
      .python = "math.floordiv",
      .summary = "x / y rounded down to an integer.",
      .details = "Raises:\n  InvalidArgumentError: An integer y is 0.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes, kNumberTypes}},
      .infer = broadcast_sizes<&InferContext::floor_div>,
      .gradient = not_differentiable,
      .body = elementwise([](auto x, auto y) { return floor_div(x, checked_divisor(y)); }),
  });
  kFloorMod = ops.define<NoAttrs>({
      .name = "FloorMod",
      .python = "math.floormod, math.mod",
      .summary = "The remainder of x / y with the sign of y.",
      .details = correctly_rounded() + "\n\nRaises:\n  InvalidArgumentError: An integer y is 0.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) set_sum(c, 0, dy_of(c));
            if (c.wants(1)) set_sum(c, 1, -dy_of(c) * call(kFloorDiv, x_of(c, 0), x_of(c, 1)));
          },
      .body = elementwise([](auto x, auto y) { return floor_mod(x, checked_divisor(y)); }),
  });
  kMod = ops.define<NoAttrs>({
      .name = "Mod",
      .summary = "The remainder of x / y with the sign of x.",
      .details = exact_text() + "\n\nRaises:\n  InvalidArgumentError: An integer y is 0.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .body = elementwise([](auto x, auto y) { return rem(x, checked_divisor(y)); }),
  });
  kTruncateMod = ops.define<NoAttrs>({
      .name = "TruncateMod",
      .python = "truncatemod",
      .summary = "The remainder of x / y with the sign of x.",
      .details = exact_text() + "\n\nRaises:\n  InvalidArgumentError: An integer y is 0.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .body = elementwise([](auto x, auto y) { return rem(x, checked_divisor(y)); }),
  });
}

void div_no_nan_gradient(GradientContext& c) {
  Formula y = conj(x_of(c, 1));
  if (c.wants(0)) set_sum(c, 0, call(kDivNoNan, dy_of(c), y));
  if (c.wants(1)) {
    Formula quotient = call(kDivNoNan, call(kDivNoNan, -conj(x_of(c, 0)), y), y);
    set_sum(c, 1, dy_of(c) * quotient);
  }
}

void define_div_no_nan(OpRegistry& ops) {
  kDivNoNan = ops.define<NoAttrs>({
      .name = "DivNoNan",
      .summary = "x / y, but 0 where y is 0.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = broadcast_inputs,
      .gradient = div_no_nan_gradient,
      .body = elementwise(
          [](auto x, auto y) { return select(y == zero_like(y), zero_like(x), x / y); }),
      .identity_on_right = 1,
  });
}

// 1 where x is not 0, in x's dtype.
Formula is_not_zero(GradientContext& c, const Formula& x) {
  return {c, cast(c, call(kNotEqual, x, constant_like(x, 0)), x.dtype())};
}

void define_xdivy_and_kin(OpRegistry& ops) {
  kXdivy = ops.define<NoAttrs>({
      .name = "Xdivy",
      .python = "math.xdivy",
      .summary = "x / y, but 0 where x is 0.",
      .details = correctly_rounded(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            Formula x = conj(x_of(c, 0)), y = conj(x_of(c, 1));
            if (c.wants(0)) set_sum(c, 0, dy_of(c) * call(kXdivy, is_not_zero(c, x), y));
            if (c.wants(1)) set_sum(c, 1, dy_of(c) * call(kXdivy, -x, call(kSquare, y)));
          },
      .body = elementwise(
          [](auto x, auto y) { return select(x == zero_like(x), zero_like(x), x / y); }),
  });
  kXlogy = ops.define<NoAttrs>({
      .name = "Xlogy",
      .python = "math.xlogy",
      .summary = "x * log(y), but 0 where x is 0.",
      .details = accuracy_text(3, 3, {{"y", 0, kEndless}}),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            Formula x = conj(x_of(c, 0)), y = conj(x_of(c, 1));
            if (c.wants(0)) set_sum(c, 0, dy_of(c) * call(kXlogy, is_not_zero(c, x), y));
            if (c.wants(1)) set_sum(c, 1, dy_of(c) * call(kXdivy, x, y));
          },
      .body = elementwise(
          [](auto x, auto y) { return select(x == zero_like(x), zero_like(x), x * log(y)); }),
  });
  kXlog1py = ops.define<NoAttrs>({
      .name = "Xlog1py",
      .python = "math.xlog1py",
      .summary = "x * log1p(y), but 0 where x is 0.",
      .details = accuracy_text(4, 4, {{"y", -1, kEndless}}),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            Formula x = conj(x_of(c, 0)), y = conj(x_of(c, 1));
            if (c.wants(0)) set_sum(c, 0, dy_of(c) * call(kXlog1py, is_not_zero(c, x), y));
            if (c.wants(1)) set_sum(c, 1, dy_of(c) * call(kXdivy, x, y + 1.0));
          },
      .body = elementwise(
          [](auto x, auto y) { return select(x == zero_like(x), zero_like(x), x * log1p(y)); }),
  });
}

// --- Extremes, powers, angles.

// Where both are equal, x has the gradient.
void extreme_gradient(GradientContext& c, const OpHandle<NoAttrs>& x_is_taken) {
  Formula condition = call(x_is_taken, x_of(c, 0), x_of(c, 1));
  Formula zero = constant_like(dy_of(c), 0);
  if (c.wants(0)) set_sum(c, 0, where(condition, dy_of(c), zero));
  if (c.wants(1)) set_sum(c, 1, where(condition, zero, dy_of(c)));
}

void define_maximum_and_minimum(OpRegistry& ops) {
  kMaximum = ops.define<NoAttrs>({
      .name = "Maximum",
      .python = "math.maximum, maximum",
      .summary = "The larger of x and y; NaN if one of them is.",
      .details = exact_text(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_sizes<&InferContext::max>,
      .gradient = [](GradientContext& c) { extreme_gradient(c, kGreaterEqual); },
      .body = elementwise([](auto x, auto y) { return max(x, y); }),
      .commutative = true,
  });
  kMinimum = ops.define<NoAttrs>({
      .name = "Minimum",
      .python = "math.minimum, minimum",
      .summary = "The smaller of x and y; NaN if one of them is.",
      .details = exact_text(),
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kRealTypes}},
      .infer = broadcast_inputs,
      .gradient = [](GradientContext& c) { extreme_gradient(c, kLessEqual); },
      .body = elementwise([](auto x, auto y) { return min(x, y); }),
      .commutative = true,
  });
}

Scalar checked_pow(Scalar x, Scalar y) {
  if (is_integer(y.dtype())) {
    trap_if(y < zero_like(y), "Integers to negative integer powers are not allowed");
  }
  return pow(x, y);
}

// x^y log(x) is taken as 0 where the logarithm is of no real number, or of 0.
void pow_gradient(GradientContext& c) {
  Formula x = conj(x_of(c, 0)), y = conj(x_of(c, 1));
  if (c.wants(0)) set_sum(c, 0, dy_of(c) * y * call(kPow, x, y - 1.0));
  if (c.wants(1)) {
    Formula zero = constant_like(x, 0);
    Formula has_log = is_complex(x.dtype()) ? call(kNotEqual, x, zero) : call(kGreater, x, zero);
    Formula log_x = call(kLog, where(has_log, x, constant_like(x, 1)));
    set_sum(c, 1, dy_of(c) * conj(Formula(c, c.y(0))) * where(has_log, log_x, zero));
  }
}

void define_pow(OpRegistry& ops) {
  kPow = ops.define<NoAttrs>({
      .name = "Pow",
      .python = "math.pow, pow",
      .summary = "x to the power of y, element by element. Integers wrap around.",
      .details = accuracy_of(Instruction::kPow) +
                 "\n\nRaises:\n  InvalidArgumentError: An integer y is negative.",
      .inputs = {"x: T", "y: T"},
      .outputs = {"z: T"},
      .types = {{"T", kFloatTypes | kComplexTypes | kSignedIntTypes}},
      .infer = broadcast_inputs,
      .gradient = pow_gradient,
      .body = elementwise(checked_pow),
      .identity_on_right = 1,
  });
}

void atan2_gradient(GradientContext& c) {
  Formula y = x_of(c, 0), x = x_of(c, 1);
  Formula scaled = dy_of(c) / (call(kSquare, x) + call(kSquare, y));
  if (c.wants(0)) set_sum(c, 0, x * scaled);
  if (c.wants(1)) set_sum(c, 1, -y * scaled);
}

void define_atan2_and_next_after(OpRegistry& ops) {
  kAtan2 = ops.define<NoAttrs>({
      .name = "Atan2",
      .python = "math.atan2, atan2",
      .summary = "The angle of the point (x, y) in [-pi, pi].",
      .details = accuracy_of(Instruction::kAtan2),
      .inputs = {"y: T", "x: T"},
      .outputs = {"z: T"},
      .types = {{"T", kFloatTypes}},
      .infer = broadcast_inputs,
      .gradient = atan2_gradient,
      .body = elementwise([](auto y, auto x) { return atan2(y, x); }),
  });
  kNextAfter = ops.define<NoAttrs>({
      .name = "NextAfter",
      .python = "math.nextafter",
      .summary = "The float next to x1 in the direction of x2.",
      .inputs = {"x1: T", "x2: T"},
      .outputs = {"output: T"},
      .types = {{"T", kWideFloats}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) set_sum(c, 0, dy_of(c));
            if (c.wants(1)) set_sum(c, 1, call(kZerosLike, dy_of(c)));
          },
      .body = elementwise([](auto x1, auto x2) { return next_after(x1, x2); }),
  });
}

// --- Shapes.

Status clip_shape(InferContext& c) {
  for (int i = 1; i < 3; ++i) {
    const Shape& bound = c.shape(i);
    bool is_scalar = bound.has_rank() && bound.rank() == 0;
    if (!is_scalar && !are_compatible(bound, c.shape(0))) {
      return invalid_argument(
          "clip_value_min and clip_value_max must be scalars or have the shape "
          "of t, ",
          c.shape(0).to_message(), ", got ", bound.to_message());
    }
  }
  c.set_shape(0, c.shape(0));
  return {};
}

void clip_gradient(GradientContext& c) {
  Formula t = x_of(c, 0), low = x_of(c, 1), high = x_of(c, 2), zero = constant_like(dy_of(c), 0);
  Formula is_low = call(kLess, t, low), is_high = call(kGreater, t, high);
  if (c.wants(0)) c.set_dx(0, where(call(kLogicalOr, is_low, is_high), zero, dy_of(c)));
  if (c.wants(1)) set_sum(c, 1, where(is_low, dy_of(c), zero));
  if (c.wants(2)) set_sum(c, 2, where(is_high, dy_of(c), zero));
}

void define_clip_by_value(OpRegistry& ops) {
  kClipByValue = ops.define<NoAttrs>({
      .name = "ClipByValue",
      .summary = "t, but not below clip_value_min and not above clip_value_max.",
      .inputs = {"t: T", "clip_value_min: T", "clip_value_max: T"},
      .outputs = {"output: T"},
      .types = {{"T", kRealTypes, kNumberTypes}},
      .infer = clip_shape,
      .gradient = clip_gradient,
      .batch = batch_broadcast_to_output,
      .body = elementwise([](auto t, auto low, auto high) { return min(max(t, low), high); }),
  });
}

// --- Functions of two variables that need a series.

// The second function is for floats.
Status apply_in_double(KernelContext& c, double (*f)(double, double),
                       double (*f_for_floats)(double, double)) {
  return compute_in_double<2>(c, c.output(0).dtype() == DType::kFloat32 ? f_for_floats : f);
}

// TensorFlow has no gradient in the order of these either.
void zeta_gradient(GradientContext& c) {
  Formula x = x_of(c, 0), q = x_of(c, 1);
  if (c.wants(1)) set_sum(c, 1, dy_of(c) * (-x * call(kZeta, x + 1.0, q)));
}

void define_zeta_and_polygamma(OpRegistry& ops) {
  kZeta = ops.define<NoAttrs>({
      .name = "Zeta",
      .python = "math.zeta",
      .summary = "The Hurwitz zeta function: the sum of (q + n)^-x over n = 0, 1, 2, ...",
      .details = accuracy_text(1, 64, {{"x", 1.0625, 64}, {"q", 0.0625, 64}}) +
                 "\n\nNaN for x below 1, infinite for x = 1.",
      .inputs = {"x: T", "q: T"},
      .outputs = {"z: T"},
      .types = {{"T", kWideFloats}},
      .infer = broadcast_inputs,
      .gradient = zeta_gradient,
      .batch = batch_broadcasting,
      .body = kernel(
          [](KernelContext& c) -> Status { return apply_in_double(c, zeta, zeta_for_floats); }),
  });
  kPolygamma = ops.define<NoAttrs>({
      .name = "Polygamma",
      .python = "math.polygamma",
      .summary = "The derivative of order a of digamma, for whole a of 0 or more.",
      .details = accuracy_text(1, 64, {{"a", 1, 16}, {"x", 0.0625, 64}}),
      .inputs = {"a: T", "x: T"},
      .outputs = {"z: T"},
      .types = {{"T", kWideFloats}},
      .infer = broadcast_inputs,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(1))
              set_sum(c, 1, dy_of(c) * call(kPolygamma, x_of(c, 0) + 1.0, x_of(c, 1)));
          },
      .batch = batch_broadcasting,
      .body = kernel([](KernelContext& c) -> Status {
        return apply_in_double(c, polygamma, polygamma_for_floats);
      }),
  });
}

}  // namespace

void define_binary_math_ops(OpRegistry& ops) {
  define_add_v2(ops);
  define_add_and_kin(ops);
  define_real_div_and_kin(ops);
  define_div_no_nan(ops);
  define_xdivy_and_kin(ops);
  define_maximum_and_minimum(ops);
  define_pow(ops);
  define_atan2_and_next_after(ops);
  define_clip_by_value(ops);
  define_zeta_and_polygamma(ops);
}

}  // namespace graven::engine
