#include "graven/ops/special_ops.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "graven/expr/scalar.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/boost_functions.h"
#include "graven/ops/accuracy_text.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements_in_double.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gamma_functions.h"
#include "graven/ops/integral_functions.h"
#include "graven/ops/large_shapes.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

// Declared by TensorFlow's OpDefs, but without a kernel here.
constexpr DTypeSet kShortFloats = {DType::kHalf, DType::kBFloat16};

constexpr double kPi = std::numbers::pi;

Formula x_of(GradientContext& c, int i = 0) { return {c, c.x(i)}; }
Formula dy_of(GradientContext& c) { return {c, c.dy()}; }
void set_sum(GradientContext& c, int i, const Formula& dx) {
  c.set_dx(i, reduce_to_shape(c, dx, i));
}

// --- Integrals.

double expint(double x) {
  return x < 0 ? std::numeric_limits<double>::quiet_NaN() : exponential_integral(x);
}

Formula fresnel_angle(GradientContext& c) { return (kPi / 2) * call(kSquare, x_of(c)); }

// With D(u) the integral of t / (exp(t) - 1) from 0 to u, which has Bernoulli's numbers in its
// series, spence(x) = D(log(1 / x)), here for x in [1/2, 1]; two identities lead there (Lewin,
// Polylogarithms and associated functions, 1981, 1.11 and 1.12).
Scalar spence_of_doubles(Scalar x) {
  const auto near_one = [](Scalar u) {
    constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                     5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
    double factorials[8];  // of 3, 5, 7, ...
    double factorial = 1;
    for (int k = 0; k < 8; ++k) {
      factorial *= (2 * k + 2) * (2 * k + 3);
      factorials[k] = factorial;
    }
    const Scalar square = u * u;
    Scalar sum = constant_like(u, kBernoulli[7] / factorials[7]);
    for (int k = 6; k >= 0; --k) sum = sum * square + kBernoulli[k] / factorials[k];
    return u - square * 0.25 + u * square * sum;
  };
  const Scalar log_of_x = log(x);
  const Scalar is_large = x > 1.0, inverse = select(is_large, 1.0 / x, x);
  const Scalar is_small = inverse < 0.5, log_of_inverse = select(is_large, -log_of_x, log_of_x);
  const Scalar log_of_rest = log1p(-inverse);
  const Scalar y = near_one(-select(is_small, log_of_rest, log_of_inverse));
  // At 0 the product is of infinity and 0.
  const Scalar product = select(inverse == 0.0, zero_like(x), log_of_inverse * log_of_rest);
  const Scalar inner = select(is_small, kPi * kPi / 6 - product - y, y);
  return select(is_large, -inner - log_of_x * log_of_x * 0.5, inner);
}

Scalar spence(Scalar x) { return cast(spence_of_doubles(cast(x, DType::kFloat64)), x.dtype()); }

void spence_gradient(GradientContext& c) {
  Formula x = x_of(c), one = constant_like(x, 1);
  Formula slope = call(kLog, x) / (1.0 - x), is_one = call(kEqual, x, one);
  c.set_dx(0, dy_of(c) * Formula(c, c(kSelectV2, {is_one, -one, slope})));
}

void define_dawsn_and_kin(OpRegistry& ops) {
  kDawsn = ops.define<NoAttrs>({
      .name = "Dawsn",
      .python = "math.special.dawsn",
      .summary = "Dawson's function: exp(-x^2) times the integral of exp(t^2) from 0 to x.",
      .details = accuracy_text(1, 16),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = same_as_input,
      .gradient =
          [](GradientContext& c) {
            c.set_dx(0, dy_of(c) * (1.0 - 2.0 * x_of(c) * Formula(c, c.y(0))));
          },
      .batch = batch_any_shape,
      .body = kernel(unary_in_double<dawson>),
  });
  kExpint = ops.define<NoAttrs>({
      .name = "Expint",
      .python = "math.special.expint",
      .summary = "The exponential integral: that of exp(t) / t up to x. NaN for x below 0.",
      .details = accuracy_text(1, 16, {{"x", 0, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kExp, x_of(c)) / x_of(c)); },
      .batch = batch_any_shape,
      .body = kernel(unary_in_double<expint>),
  });
  kFresnelCos = ops.define<NoAttrs>({
      .name = "FresnelCos",
      .python = "math.special.fresnel_cos",
      .summary = "The integral of cos(pi t^2 / 2) from 0 to x.",
      .details = accuracy_text(1, 16),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kCos, fresnel_angle(c))); },
      .batch = batch_any_shape,
      .body = kernel(unary_in_double<fresnel_cosine>),
  });
  kFresnelSin = ops.define<NoAttrs>({
      .name = "FresnelSin",
      .python = "math.special.fresnel_sin",
      .summary = "The integral of sin(pi t^2 / 2) from 0 to x.",
      .details = accuracy_text(1, 16),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = same_as_input,
      .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kSin, fresnel_angle(c))); },
      .batch = batch_any_shape,
      .body = kernel(unary_in_double<fresnel_sine>),
  });
  kSpence = ops.define<NoAttrs>({
      .name = "Spence",
      .python = "math.special.spence",
      .summary = "Spence's integral: that of log(t) / (1 - t) from 1 to x. NaN for x below 0.",
      .details = accuracy_text(1, 8, {{"x", 0, kEndless}}),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = same_as_input,
      .gradient = spence_gradient,
      .body = elementwise([](auto x) { return spence(x); }),
  });
}

// --- Incomplete gamma and beta functions.

// The derivative of igamma in x, by its logarithm.
Formula gamma_slope(const Formula& a, const Formula& x) {
  return call(kExp, (a - 1.0) * call(kLog, x) - x - call(kLgamma, a));
}

void igamma_gradient(GradientContext& c) {
  Formula a = x_of(c, 0), x = x_of(c, 1);
  if (c.wants(0)) set_sum(c, 0, dy_of(c) * call(kIgammaGradA, a, x));
  if (c.wants(1)) set_sum(c, 1, dy_of(c) * gamma_slope(a, x));
}

void igammac_gradient(GradientContext& c) {
  Formula a = x_of(c, 0), x = x_of(c, 1);
  if (c.wants(0)) set_sum(c, 0, -dy_of(c) * call(kIgammaGradA, a, x));
  if (c.wants(1)) set_sum(c, 1, -dy_of(c) * gamma_slope(a, x));
}

void define_igamma_and_kin(OpRegistry& ops) {
  kIgamma = ops.define<NoAttrs>({
      .name = "Igamma",
      .python = "math.igamma",
      .summary = "The lower regularised incomplete gamma function: the integral of "
                 "t^(a - 1) exp(-t) from 0 to x, divided by gamma(a).",
      .details = accuracy_text(1, 128, {{"a", 0.0625, 64}, {"x", 0.0625, 64}}) +
                 "\n\nNaN unless a > 0 and x >= 0.",
      .inputs = {"a: T", "x: T"},
      .outputs = {"z: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = broadcast_inputs,
      .gradient = igamma_gradient,
      .batch = batch_broadcasting,
      .body = kernel(binary_in_double<igamma>),
  });
  kIgammac = ops.define<NoAttrs>({
      .name = "Igammac",
      .python = "math.igammac",
      .summary = "The upper regularised incomplete gamma function, 1 - igamma(a, x), exact where "
                 "it is small.",
      .details = accuracy_text(1, 128, {{"a", 0.0625, 64}, {"x", 0.0625, 64}}) +
                 "\n\nNaN unless a > 0 and x >= 0.",
      .inputs = {"a: T", "x: T"},
      .outputs = {"z: T"},
      .types = {{"T", kWideFloats, kShortFloats}},
      .infer = broadcast_inputs,
      .gradient = igammac_gradient,
      .batch = batch_broadcasting,
      .body = kernel(binary_in_double<igammac>),
  });
  kIgammaGradA = ops.define<NoAttrs>({
      .name = "IgammaGradA",
      .summary = "The derivative of igamma(a, x) in a.",
      .inputs = {"a: T", "x: T"},
      .outputs = {"z: T"},
      .types = {{"T", kWideFloats}},
      .infer = broadcast_inputs,
      .batch = batch_broadcasting,
      .body = kernel(binary_in_double<igamma_grad_a>),
  });
  kRandomGammaGrad = ops.define<NoAttrs>({
      .name = "RandomGammaGrad",
      .summary = "The derivative of a sample of the gamma distribution in its shape alpha.",
      .inputs = {"alpha: T", "sample: T"},
      .outputs = {"output: T"},
      .types = {{"T", kWideFloats}},
      .infer = broadcast_inputs,
      .batch = batch_broadcasting,
      .body = kernel(binary_in_double<gamma_sample_grad>),
  });
}

double betainc(double a, double b, double x) {
  const bool is_valid = a > 0 && b > 0 && x >= 0 && x <= 1;
  if (!is_valid || std::isinf(a) || std::isinf(b)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const bool are_large = a > kLargeShape && b > kLargeShape;
  return are_large ? large_beta_share_below(a, b, x) : beta_share_below(a, b, x);
}

// Shapes are equal, but for scalars.
Status betainc_shape(InferContext& c) {
  const char* names[] = {"a", "b", "x"};
  int first = -1;
  bool are_known = true;
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = c.shape(i);
    are_known = are_known && shape.has_rank();
    if (!shape.has_rank() || shape.rank() == 0) continue;
    if (first >= 0 && !are_compatible(c.shape(first), shape)) {
      return invalid_argument("Shapes of ", names[first], " and ", names[i],
                              " are inconsistent: ", c.shape(first).to_message(), " vs. ",
                              shape.to_message());
    }
    if (first < 0) first = i;
  }
  if (!are_known) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  return broadcast_inputs(c);
}

void betainc_gradient(GradientContext& c) {
  Formula a = x_of(c, 0), b = x_of(c, 1), x = x_of(c, 2);
  if (!c.wants(2)) return;
  Formula log_beta = call(kLgamma, a) + call(kLgamma, b) - call(kLgamma, a + b);
  Formula powers = call(kXlog1py, b - 1.0, -x) + call(kXlogy, a - 1.0, x);
  set_sum(c, 2, dy_of(c) * call(kExp, powers - log_beta));
}

void define_betainc(OpRegistry& ops) {
  kBetainc = ops.define<NoAttrs>({
      .name = "Betainc",
      .python = "math.betainc",
      .summary = "The regularised incomplete beta function: the integral of "
                 "t^(a - 1) (1 - t)^(b - 1) from 0 to x, divided by that to 1.",
      .details = "a, b and x have one shape, or are scalars. NaN unless a > 0, b > 0 and x is in "
                 "[0, 1]. The gradient is that in x alone.",
      .inputs = {"a: T", "b: T", "x: T"},
      .outputs = {"z: T"},
      .types = {{"T", kWideFloats}},
      .infer = betainc_shape,
      .gradient = betainc_gradient,
      .batch = batch_broadcast_to_output,
      .body = kernel([](KernelContext& c) { return compute_in_double<3>(c, betainc); }),
  });
}

}  // namespace

void define_special_ops(OpRegistry& ops) {
  define_dawsn_and_kin(ops);
  define_igamma_and_kin(ops);
  define_betainc(ops);
}

}  // namespace graven::engine
