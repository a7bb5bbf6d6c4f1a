#include <numbers>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/accuracy_text.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"

namespace graven::engine {
namespace {

// --- Gradients. Of a function that is complex differentiable it is dy times the conjugate of the
// derivative; conj leaves real numbers alone.

Formula x_of(GradientContext& c) { return {c, c.x(0)}; }

Formula y_of(GradientContext& c) { return {c, c.y(0)}; }

Formula dy_of(GradientContext& c) { return {c, c.dy()}; }

constexpr double kSqrtPi = 1.7724538509055160273;

// --- Signs, squares, roots.

void define_neg_and_abs(OpRegistry& ops) {
  kNeg = ops.define<NoAttrs>({
      .name = "Neg",
      .python = "math.negative, negative",
      .summary = "-x, element by element. Integers wrap around.",
      .details = exact_text(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes | kComplexTypes | kSignedIntTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, -dy_of(c)); },
      .body = elementwise([](auto x) { return -x; }),
  });
  kAbs = ops.define<NoAttrs>({
      .name = "Abs",
      .summary = "The magnitude of real numbers. The smallest integer of a dtype stays what it is.",
      .details = exact_text(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes | kSignedIntTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kSign, x_of(c))); },
      .body = elementwise([](auto x) { return abs(x); }),
  });
}

// The sign of a real number is piecewise constant. The sign s of a complex x turns with x: the
// gradient is the part of dy at right angles to s, over |x|. (TensorFlow takes 0 here too.)
void sign_gradient(GradientContext& c) {
  if (!is_complex(c.dtype_of_x(0))) return c.set_dx(0, call(kZerosLike, dy_of(c)));
  RealPartAttrs part = {.Tout = real_part_type(c.dtype_of_x(0))};
  Formula turning = call(kDivNoNan, call(kImag, conj(y_of(c)) * dy_of(c), part),
                         call(kComplexAbs, x_of(c), part));
  Formula rotation = call(kComplex, constant_like(turning, 0), turning, {.Tout = c.dtype_of_x(0)});
  c.set_dx(0, rotation * y_of(c));
}

void define_sign_and_kin(OpRegistry& ops) {
  kSign = ops.define<NoAttrs>({
      .name = "Sign",
      .python = "math.sign, sign",
      .summary =
          "-1, 0 or 1, with the sign of x; for complex x it is x / |x|, or 0. NaN stays NaN.",
      .details = "Accuracy: exact for real numbers.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes | kComplexTypes | kSignedIntTypes}},
      .infer = same_as_input,
      .gradient = sign_gradient,
      .body = elementwise([](auto x) { return sign(x); }),
  });
  kSquare = ops.define<NoAttrs>({
      .name = "Square",
      .python = "math.square, square",
      .summary = "x * x, element by element. Integers wrap around.",
      .details = correctly_rounded(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kNumberTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * (2.0 * conj(x_of(c)))); },
      .body = elementwise([](auto x) { return x * x; }),
  });
  kSqrt = ops.define<NoAttrs>({
      .name = "Sqrt",
      .python = "math.sqrt, sqrt",
      .summary = "The square root; NaN for negative x. Of complex x the root with a real part of "
                 "at least 0.",
      .details = correctly_rounded({{"x", 0, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, call(kSqrtGrad, y_of(c), dy_of(c))); },
      .body = elementwise([](auto x) { return sqrt(x); }),
  });
  kRsqrt = ops.define<NoAttrs>({
      .name = "Rsqrt",
      .python = "math.rsqrt",
      .summary = "1 / sqrt(x), element by element.",
      .details = accuracy_of(Instruction::kRsqrt, {{"x", 0, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, call(kRsqrtGrad, y_of(c), dy_of(c))); },
      .body = elementwise([](auto x) { return rsqrt(x); }),
  });
}

void reciprocal_gradient(GradientContext& c) {
  c.set_dx(0, call(kReciprocalGrad, y_of(c), dy_of(c)));
}

void define_reciprocal_and_inv(OpRegistry& ops) {
  kReciprocal = ops.define<NoAttrs>({
      .name = "Reciprocal",
      .python = "math.reciprocal",
      .summary = "1 / x, element by element.",
      .details = correctly_rounded(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes, kFloatTypes | kSignedIntTypes | kComplexTypes}},
      .infer = same_as_input,
      .gradient = reciprocal_gradient,
      .body = elementwise([](auto x) { return 1 / x; }),
  });
  kInv = ops.define<NoAttrs>({
      .name = "Inv",
      .summary = "1 / x, element by element: the old name of Reciprocal.",
      .details = correctly_rounded(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes, kFloatTypes | kSignedIntTypes | kComplexTypes}},
      .infer = same_as_input,
      .gradient = reciprocal_gradient,
      .body = elementwise([](auto x) { return 1 / x; }),
  });
}

// The ...Grad ops compute z of y = x(0) and g = x(1), and are themselves differentiated in both.
void sqrt_grad_gradient(GradientContext& c) {
  Formula scaled = dy_of(c) / x_of(c);
  if (c.wants(0)) c.set_dx(0, -(conj(scaled) * y_of(c)));
  if (c.wants(1)) c.set_dx(1, 0.5 * scaled);
}

void define_sqrt_grad_and_rsqrt_grad(OpRegistry& ops) {
  kSqrtGrad = ops.define<NoAttrs>({
      .name = "SqrtGrad",
      .summary = "The gradient of y = sqrt(x): dy / 2 / conj(y).",
      .inputs = {"y: T", "dy: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_shapes,
      .gradient = sqrt_grad_gradient,
      // Where nothing comes in nothing goes on, though the slope is infinite at 0.
      .body = elementwise([](auto y, auto dy) {
        return select(dy == zero_like(dy), zero_like(dy), dy * 0.5 / conj(y));
      }),
  });
  kRsqrtGrad = ops.define<NoAttrs>({
      .name = "RsqrtGrad",
      .summary = "The gradient of y = rsqrt(x): dy conj(y)^3 / -2.",
      .inputs = {"y: T", "dy: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_shapes,
      .gradient =
          [](GradientContext& c) {
            Formula y = conj(x_of(c)), dz = dy_of(c);
            if (c.wants(0)) c.set_dx(0, -1.5 * conj(dz) * Formula(c, c.x(1)) * call(kSquare, y));
            if (c.wants(1)) c.set_dx(1, call(kRsqrtGrad, y, dz));
          },
      .body = elementwise([](auto y, auto dy) {
        auto dx = dy * -0.5 * (conj(y) * conj(y) * conj(y));
        return select(dy == zero_like(dy), zero_like(dy), dx);
      }),
  });
}

void reciprocal_grad_gradient(GradientContext& c) {
  Formula y = conj(x_of(c)), dz = dy_of(c);
  if (c.wants(0)) c.set_dx(0, -2.0 * conj(dz) * Formula(c, c.x(1)) * y);
  if (c.wants(1)) c.set_dx(1, call(kReciprocalGrad, y, dz));
}

void define_reciprocal_grad_and_inv_grad(OpRegistry& ops) {
  kReciprocalGrad = ops.define<NoAttrs>({
      .name = "ReciprocalGrad",
      .summary = "The gradient of y = 1 / x: -dy conj(y)^2.",
      .inputs = {"y: T", "dy: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_shapes,
      .gradient = reciprocal_grad_gradient,
      .body = elementwise([](auto y, auto dy) { return -dy * (conj(y) * conj(y)); }),
  });
  kInvGrad = ops.define<NoAttrs>({
      .name = "InvGrad",
      .summary = "The gradient of y = 1 / x: the old name of ReciprocalGrad.",
      .inputs = {"y: T", "dy: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_shapes,
      .gradient = reciprocal_grad_gradient,
      .body = elementwise([](auto y, auto dy) { return -dy * (conj(y) * conj(y)); }),
  });
}

// --- Exponentials and logarithms.

void define_exp_and_kin(OpRegistry& ops) {
  kExp = ops.define<NoAttrs>({
      .name = "Exp",
      .python = "math.exp, exp",
      .summary = "e to the power of x, element by element.",
      .details = accuracy_of(Instruction::kExp),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * conj(y_of(c))); },
      .body = elementwise([](auto x) { return exp(x); }),
  });
  kExpm1 = ops.define<NoAttrs>({
      .name = "Expm1",
      .python = "math.expm1",
      .summary = "exp(x) - 1, exact for small x too.",
      .details = accuracy_of(Instruction::kExpm1),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kExp, conj(x_of(c)))); },
      .body = elementwise([](auto x) { return expm1(x); }),
  });
  kLog = ops.define<NoAttrs>({
      .name = "Log",
      .python = "math.log",
      .summary = "The natural logarithm: -inf for 0, NaN for negative x.",
      .details = accuracy_of(Instruction::kLog, {{"x", 0, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) / conj(x_of(c))); },
      .body = elementwise([](auto x) { return log(x); }),
  });
  kLog1p = ops.define<NoAttrs>({
      .name = "Log1p",
      .python = "math.log1p",
      .summary = "log(1 + x), exact for small x too.",
      .details = accuracy_of(Instruction::kLog1p, {{"x", -1, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) / (conj(x_of(c)) + 1.0)); },
      .body = elementwise([](auto x) { return log1p(x); }),
  });
  kSigmoid = ops.define<NoAttrs>({
      .name = "Sigmoid",
      .python = "math.sigmoid, sigmoid, nn.sigmoid",
      .summary = "1 / (1 + exp(-x)), element by element.",
      .details = accuracy_of(Instruction::kSigmoid),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) { c.set_dx(0, call(kSigmoidGrad, conj(y_of(c)), dy_of(c))); },
      .body = elementwise([](auto x) { return sigmoid(x); }),
  });
}

void sigmoid_grad_gradient(GradientContext& c) {
  Formula y = conj(x_of(c)), dz = dy_of(c);
  if (c.wants(0)) {
    Formula scaled = dz * conj(Formula(c, c.x(1)));
    c.set_dx(0, scaled - 2.0 * scaled * y);
  }
  if (c.wants(1)) c.set_dx(1, call(kSigmoidGrad, y, dz));
}

void define_sigmoid_grad(OpRegistry& ops) {
  kSigmoidGrad = ops.define<NoAttrs>({
      .name = "SigmoidGrad",
      .summary = "The gradient of y = sigmoid(x): dy y (1 - y).",
      .inputs = {"y: T", "dy: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_shapes,
      .gradient = sigmoid_grad_gradient,
      .body = elementwise([](auto y, auto dy) { return dy * y * (1 - y); }),
  });
}

// --- Trigonometric and hyperbolic functions.

void define_sin_and_kin(OpRegistry& ops) {
  kSin = ops.define<NoAttrs>({
      .name = "Sin",
      .python = "math.sin, sin",
      .summary = "The sine of x in radians.",
      .details = accuracy_of(Instruction::kSin),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kCos, conj(x_of(c)))); },
      .body = elementwise([](auto x) { return sin(x); }),
  });
  kCos = ops.define<NoAttrs>({
      .name = "Cos",
      .python = "math.cos, cos",
      .summary = "The cosine of x in radians.",
      .details = accuracy_of(Instruction::kCos),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, -dy_of(c) * call(kSin, conj(x_of(c)))); },
      .body = elementwise([](auto x) { return cos(x); }),
  });
  kTan = ops.define<NoAttrs>({
      .name = "Tan",
      .python = "math.tan, tan",
      .summary = "The tangent of x in radians.",
      .details = accuracy_of(Instruction::kTan),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) { c.set_dx(0, dy_of(c) * (call(kSquare, conj(y_of(c))) + 1.0)); },
      .body = elementwise([](auto x) { return tan(x); }),
  });
}

// sqrt((1 - x) (1 + x)), exact where 1 - x^2 cancels.
Formula sqrt_one_minus_square(const Formula& x) { return call(kSqrt, (1.0 - x) * (x + 1.0)); }

void define_asin_and_kin(OpRegistry& ops) {
  kAsin = ops.define<NoAttrs>({
      .name = "Asin",
      .python = "math.asin, asin",
      .summary = "The angle in [-pi/2, pi/2] whose sine is x; NaN outside [-1, 1].",
      .details = accuracy_of(Instruction::kAsin, {{"x", -1, 1}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) { c.set_dx(0, dy_of(c) / sqrt_one_minus_square(conj(x_of(c)))); },
      .body = elementwise([](auto x) { return asin(x); }),
  });
  kAcos = ops.define<NoAttrs>({
      .name = "Acos",
      .python = "math.acos, acos",
      .summary = "The angle in [0, pi] whose cosine is x; NaN outside [-1, 1].",
      .details = accuracy_of(Instruction::kAcos, {{"x", -1, 1}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) { c.set_dx(0, -dy_of(c) / sqrt_one_minus_square(conj(x_of(c)))); },
      .body = elementwise([](auto x) { return acos(x); }),
  });
  kAtan = ops.define<NoAttrs>({
      .name = "Atan",
      .python = "math.atan, atan",
      .summary = "The angle in [-pi/2, pi/2] whose tangent is x.",
      .details = accuracy_of(Instruction::kAtan),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) { c.set_dx(0, dy_of(c) / (call(kSquare, conj(x_of(c))) + 1.0)); },
      .body = elementwise([](auto x) { return atan(x); }),
  });
}

void define_sinh_and_kin(OpRegistry& ops) {
  kSinh = ops.define<NoAttrs>({
      .name = "Sinh",
      .python = "math.sinh, sinh",
      .summary = "The hyperbolic sine.",
      .details = accuracy_of(Instruction::kSinh),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kCosh, conj(x_of(c)))); },
      .body = elementwise([](auto x) { return sinh(x); }),
  });
  kCosh = ops.define<NoAttrs>({
      .name = "Cosh",
      .python = "math.cosh, cosh",
      .summary = "The hyperbolic cosine.",
      .details = accuracy_of(Instruction::kCosh),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kSinh, conj(x_of(c)))); },
      .body = elementwise([](auto x) { return cosh(x); }),
  });
  kTanh = ops.define<NoAttrs>({
      .name = "Tanh",
      .python = "math.tanh, tanh, nn.tanh",
      .summary = "The hyperbolic tangent.",
      .details = accuracy_of(Instruction::kTanh),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, call(kTanhGrad, conj(y_of(c)), dy_of(c))); },
      .body = elementwise([](auto x) { return tanh(x); }),
  });
  kTanhGrad = ops.define<NoAttrs>({
      .name = "TanhGrad",
      .summary = "The gradient of y = tanh(x): dy (1 - y^2).",
      .inputs = {"y: T", "dy: T"},
      .outputs = {"z: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_shapes,
      .gradient =
          [](GradientContext& c) {
            Formula y = conj(x_of(c)), dz = dy_of(c);
            if (c.wants(0)) c.set_dx(0, -2.0 * dz * conj(Formula(c, c.x(1))) * y);
            if (c.wants(1)) c.set_dx(1, call(kTanhGrad, y, dz));
          },
      .body = elementwise([](auto y, auto dy) { return dy * (1 - y * y); }),
  });
  kAsinh = ops.define<NoAttrs>({
      .name = "Asinh",
      .python = "math.asinh, asinh",
      .summary = "The inverse hyperbolic sine.",
      .details = accuracy_of(Instruction::kAsinh),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) / call(kCosh, conj(y_of(c)))); },
      .body = elementwise([](auto x) { return asinh(x); }),
  });
  kAcosh = ops.define<NoAttrs>({
      .name = "Acosh",
      .python = "math.acosh, acosh",
      .summary = "The inverse hyperbolic cosine; NaN for x below 1.",
      .details = accuracy_of(Instruction::kAcosh, {{"x", 1, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) / call(kSinh, conj(y_of(c)))); },
      .body = elementwise([](auto x) { return acosh(x); }),
  });
  kAtanh = ops.define<NoAttrs>({
      .name = "Atanh",
      .python = "math.atanh, atanh",
      .summary = "The inverse hyperbolic tangent; NaN outside [-1, 1].",
      .details = accuracy_of(Instruction::kAtanh, {{"x", -1, 1}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kDifferentiableTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) {
            Formula x = conj(x_of(c));
            c.set_dx(0, dy_of(c) / ((1.0 - x) * (x + 1.0)));
          },
      .body = elementwise([](auto x) { return atanh(x); }),
  });
}

// --- The normal distribution and the gamma function.

Formula bell(const Formula& x) { return call(kExp, -call(kSquare, x)); }

void define_erf_and_kin(OpRegistry& ops) {
  kErf = ops.define<NoAttrs>({
      .name = "Erf",
      .python = "math.erf",
      .summary = "The error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.",
      .details = accuracy_of(Instruction::kErf),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, (2 / kSqrtPi) * dy_of(c) * bell(x_of(c))); },
      .body = elementwise([](auto x) { return erf(x); }),
  });
  kErfc = ops.define<NoAttrs>({
      .name = "Erfc",
      .python = "math.erfc",
      .summary = "1 - erf(x), exact for large x too.",
      .details = accuracy_of(Instruction::kErfc),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) { c.set_dx(0, (-2 / kSqrtPi) * dy_of(c) * bell(x_of(c))); },
      .body = elementwise([](auto x) { return erfc(x); }),
  });
  kErfinv = ops.define<NoAttrs>({
      .name = "Erfinv",
      .python = "math.erfinv",
      .summary = "The x with erf(x) = y, for y in [-1, 1].",
      .details = accuracy_of(Instruction::kErfinv, {{"x", -1, 1}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kFloatTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) {
            c.set_dx(0, (kSqrtPi / 2) * dy_of(c) * call(kExp, call(kSquare, y_of(c))));
          },
      .body = elementwise([](auto x) { return erfinv(x); }),
  });
  kNdtri = ops.define<NoAttrs>({
      .name = "Ndtri",
      .python = "math.ndtri",
      .summary = "The quantile of the standard normal distribution, for x in [0, 1].",
      .details = accuracy_of(Instruction::kNdtri, {{"x", 0, 1}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kFloatTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) {
            constexpr double kSqrtTwoPi = kSqrtPi * std::numbers::sqrt2;
            c.set_dx(0, kSqrtTwoPi * dy_of(c) * call(kExp, 0.5 * call(kSquare, y_of(c))));
          },
      .body = elementwise([](auto x) { return ndtri(x); }),
  });
  kLgamma = ops.define<NoAttrs>({
      .name = "Lgamma",
      .python = "math.lgamma",
      .summary = "log |gamma(x)|, infinite at 0, -1, -2, ...",
      .details = accuracy_of(Instruction::kLgamma),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kDigamma, x_of(c))); },
      .body = elementwise([](auto x) { return lgamma(x); }),
  });
  kDigamma = ops.define<NoAttrs>({
      .name = "Digamma",
      .python = "math.digamma",
      .summary = "The derivative of lgamma; NaN at 0, -1, -2, ...",
      .details = accuracy_text(1, 32, {{"x", 2, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) {
            Formula x = x_of(c);
            c.set_dx(0, dy_of(c) * call(kPolygamma, constant_like(x, 1), x));
          },
      .body = elementwise([](auto x) { return digamma(x); }),
  });
}

// --- Rounding and classes of floats.

void define_floor_and_kin(OpRegistry& ops) {
  kFloor = ops.define<NoAttrs>({
      .name = "Floor",
      .python = "math.floor, floor",
      .summary = "The largest integer that is not above x.",
      .details = exact_text(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return floor(x); }),
  });
  kCeil = ops.define<NoAttrs>({
      .name = "Ceil",
      .python = "math.ceil",
      .summary = "The smallest integer that is not below x.",
      .details = exact_text(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return ceil(x); }),
  });
  kRint = ops.define<NoAttrs>({
      .name = "Rint",
      .python = "math.rint",
      .summary = "The nearest integer, halves to the even one.",
      .details = exact_text(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return round(x); }),
  });
  kRound = ops.define<NoAttrs>({
      .name = "Round",
      .python = "math.round, round",
      .summary = "The nearest integer, halves to the even one. Integers stay what they are.",
      .details = exact_text(),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kRealTypes, kFloatTypes | kSignedIntTypes | kComplexTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return round(x); }),
  });
  kIsNan = ops.define<NoAttrs>({
      .name = "IsNan",
      .python = "math.is_nan",
      .summary = "Is x not a number?",
      .inputs = {"x: T"},
      .outputs = {"y: bool"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return is_nan(x); }),
  });
  kIsInf = ops.define<NoAttrs>({
      .name = "IsInf",
      .python = "math.is_inf",
      .summary = "Is x infinite?",
      .inputs = {"x: T"},
      .outputs = {"y: bool"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return is_inf(x); }),
  });
  kIsFinite = ops.define<NoAttrs>({
      .name = "IsFinite",
      .python = "math.is_finite",
      .summary = "Is x neither infinite nor NaN?",
      .inputs = {"x: T"},
      .outputs = {"y: bool"},
      .types = {{"T", kFloatTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return is_finite(x); }),
  });
}

}  // namespace

void define_unary_math_ops(OpRegistry& ops) {
  define_neg_and_abs(ops);
  define_sign_and_kin(ops);
  define_reciprocal_and_inv(ops);
  define_sqrt_grad_and_rsqrt_grad(ops);
  define_reciprocal_grad_and_inv_grad(ops);
  define_exp_and_kin(ops);
  define_sigmoid_grad(ops);
  define_sin_and_kin(ops);
  define_asin_and_kin(ops);
  define_sinh_and_kin(ops);
  define_erf_and_kin(ops);
  define_floor_and_kin(ops);
}

}  // namespace graven::engine
