#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string>

#include "graven/expr/scalar.h"
#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/kernels/boost_functions.h"
#include "graven/ops/accuracy_text.h"
#include "graven/ops/chebyshev.h"
#include "graven/ops/elements_in_double.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/special_ops.h"

namespace graven::engine {
namespace {

constexpr DTypeSet kTypes = {DType::kHalf, DType::kFloat32, DType::kFloat64};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Formula x_of(GradientContext& c) { return {c, c.x(0)}; }
Formula y_of(GradientContext& c) { return {c, c.y(0)}; }
Formula dy_of(GradientContext& c) { return {c, c.dy()}; }

// The slope, or 0.5 where x is 0, which it divides by.
Formula or_half_at_zero(const Formula& x, const Formula& slope) {
  const Formula is_zero = call(kEqual, x, constant_like(x, 0));
  return {x.emit(), x.emit()(kSelectV2, {is_zero, constant_like(slope, 0.5), slope})};
}

struct Record {
  std::string name, python, summary, accuracy;
  GradientFunction gradient;
  OpBody body;
};

void define(OpRegistry& ops, OpHandle<NoAttrs>& handle, Record record) {
  handle = ops.define<NoAttrs>({
      .name = std::move(record.name),
      .python = std::move(record.python),
      .summary = std::move(record.summary),
      .details = std::move(record.accuracy),
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kTypes, DTypeSet{DType::kBFloat16}}},
      .infer = same_as_input,
      .gradient = record.gradient,
      .batch = batch_any_shape,
      .body = std::move(record.body),
  });
}

// --- The modified functions of the first kind, as expressions, in double.
//
// Up to 8 their power series, sum of (x / 2)^(2 k + order) / (k! (k + order)!), all of whose terms
// are positive; beyond it Chebyshev series of sqrt(x) exp(-x) I(x) in s = 16 / x - 1, computed with
// 60 digits.
struct ModifiedBessel {
  static constexpr double kFar0[] = {
      4.02245205507054416e-1,   3.36911647825569409e-3,   6.88975834691682398e-5,
      2.89137052083475648e-6,   2.04891858946906374e-7,   2.26666899049817806e-8,
      3.39623202570838635e-9,   4.94060238822496959e-10,  1.18891471078464383e-11,
      -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
      7.18012445138366623e-13,  3.8527783827421427e-13,   1.54008621752140983e-14,
      -4.15056934728722209e-14, -9.55484669882830765e-15, 3.81168066935262242e-15,
      1.77256013305652638e-15,  -3.42548561967721913e-16, -2.82762398051658348e-16,
      3.46122286769746109e-17,  4.46562142029676e-17};
  static constexpr double kFar1[] = {
      3.8928811750914006e-1,    -9.76109749136146841e-3,  -1.10588938762623716e-4,
      -3.88256480887769039e-6,  -2.51223623787020893e-7,  -2.63146884688951951e-8,
      -3.83538038596423702e-9,  -5.58974346219658381e-10, -1.89749581235054123e-11,
      3.25260358301548824e-11,  1.41258074366137813e-11,  2.03562854414708951e-12,
      -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14,
      4.27244001671195135e-14,  1.04202769841288028e-14,  -3.8144030724370078e-15,
      -1.88035477551078245e-15, 3.30820231092092828e-16,  2.96262899764595014e-16,
      -3.20952592199342396e-17, -4.65030536848935833e-17};
  static constexpr double kNear = 8;

  int order;
  bool is_scaled;  // by exp(-|x|)

  // For floats shorter sums will do.
  Scalar operator()(Scalar x) const {
    const bool is_double = x.dtype() == DType::kFloat64;
    const Scalar wide = cast(x, DType::kFloat64), size = abs(wide);
    const Scalar near = series(wide * 0.5, is_double ? 25 : 17);
    const auto all = order == 0 ? std::span(kFar0) : std::span(kFar1);
    const Scalar far = chebyshev(2 * kNear / size - 1, is_double ? all : all.first(7));
    Scalar y = select(size <= kNear, near, with_sign(far / sqrt(size), wide));
    if (is_scaled) {
      y = select(size <= kNear, near * exp(-size), y);
    } else {
      // The exponential overflows before its product does: half of it twice, and not infinity times
      // 0.
      const Scalar half = exp(min(size, constant_like(size, 1440)) * 0.5);
      y = select(size <= kNear, near, y * half * half);
      y = select(size == kInfinity, wide * wide * (order == 0 ? size : wide), y);
    }
    return cast(y, x.dtype());
  }

 private:
  Scalar with_sign(Scalar y, Scalar x) const { return order == 0 ? y : select(x < 0.0, -y, y); }

  // Of half of x.
  Scalar series(Scalar half, int terms) const {
    double coefficient = 1;  // 1 / (k! (k + order)!)
    for (int k = 1; k < terms; ++k) coefficient /= static_cast<double>(k) * (k + order);
    const Scalar square = half * half;
    Scalar sum = constant_like(half, coefficient);
    for (int k = terms - 1; k > 0; --k) {
      coefficient *= static_cast<double>(k) * (k + order);
      sum = sum * square + coefficient;
    }
    return order == 0 ? sum : sum * half;
  }
};

void define_bessel_i0_and_kin(OpRegistry& ops) {
  define(
      ops, kBesselI0,
      {
          .name = "BesselI0",
          .python = "math.bessel_i0, math.special.bessel_i0",
          .summary = "The modified Bessel function of the first kind of order 0.",
          .accuracy = accuracy_text(1, 8),
          .gradient = [](GradientContext& c) { c.set_dx(0, dy_of(c) * call(kBesselI1, x_of(c))); },
          .body = elementwise([](auto x) {
            return ModifiedBessel{0, false}(x);
          }),
      });
  define(ops, kBesselI0e,
         {
             .name = "BesselI0e",
             .python = "math.bessel_i0e, math.special.bessel_i0e",
             .summary = "The modified Bessel function of the first kind of order 0, times "
                        "exp(-|x|).",
             .accuracy = accuracy_text(1, 8),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c);
                   c.set_dx(0, dy_of(c) * (call(kBesselI1e, x) - call(kSign, x) * y_of(c)));
                 },
             .body = elementwise([](auto x) {
               return ModifiedBessel{0, true}(x);
             }),
         });
  define(ops, kBesselI1,
         {
             .name = "BesselI1",
             .python = "math.bessel_i1, math.special.bessel_i1",
             .summary = "The modified Bessel function of the first kind of order 1.",
             .accuracy = accuracy_text(1, 8),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c), slope = call(kBesselI0, x) - y_of(c) / x;
                   c.set_dx(0, dy_of(c) * or_half_at_zero(x, slope));
                 },
             .body = elementwise([](auto x) {
               return ModifiedBessel{1, false}(x);
             }),
         });
  define(ops, kBesselI1e,
         {
             .name = "BesselI1e",
             .python = "math.bessel_i1e, math.special.bessel_i1e",
             .summary = "The modified Bessel function of the first kind of order 1, times "
                        "exp(-|x|).",
             .accuracy = accuracy_text(1, 8),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c);
                   Formula turn = call(kSign, x) + constant_like(x, 1) / x;
                   Formula slope = call(kBesselI0e, x) - y_of(c) * turn;
                   c.set_dx(0, dy_of(c) * or_half_at_zero(x, slope));
                 },
             .body = elementwise([](auto x) {
               return ModifiedBessel{1, true}(x);
             }),
         });
}

// --- The others.

// exp(x) K(x): where exp(x) would overflow by its asymptotic series (Abramowitz and Stegun, 9.7.2),
// in which mu is 4 times the square of the order.
double scaled_k(double k, double mu, double x) {
  constexpr double kFar = 500;
  if (!(x > kFar)) return k * std::exp(x);
  double term = 1, sum = 1;
  for (int i = 1; i < 8; ++i) {
    const double odd = 2 * i - 1;
    term *= (mu - odd * odd) / (8 * x * i);
    sum += term;
  }
  return std::sqrt(std::numbers::pi / 2 / x) * sum;
}

// Infinite for x <= 0, as TensorFlow's.
double k0(double x) { return x <= 0 ? kInfinity : bessel_k0(x); }
double k1(double x) { return x <= 0 ? kInfinity : bessel_k1(x); }
double k0e(double x) { return x <= 0 ? kInfinity : scaled_k(bessel_k0(x), 0, x); }
double k1e(double x) { return x <= 0 ? kInfinity : scaled_k(bessel_k1(x), 4, x); }
// Those of the C library, which are closer than Boost's where they cross 0.
double j0(double x) { return ::j0(x); }
double j1(double x) { return ::j1(x); }
double y0(double x) { return x <= 0 ? -kInfinity : ::y0(x); }
double y1(double x) { return x <= 0 ? -kInfinity : ::y1(x); }

void define_bessel_k0_and_kin(OpRegistry& ops) {
  define(
      ops, kBesselK0,
      {
          .name = "BesselK0",
          .python = "math.special.bessel_k0",
          .summary = "The modified Bessel function of the second kind of order 0; infinite for "
                     "x <= 0.",
          .accuracy = accuracy_text(1, 8),
          .gradient = [](GradientContext& c) { c.set_dx(0, -dy_of(c) * call(kBesselK1, x_of(c))); },
          .body = kernel(unary_in_double<k0>),
      });
  define(ops, kBesselK0e,
         {
             .name = "BesselK0e",
             .python = "math.special.bessel_k0e",
             .summary = "The modified Bessel function of the second kind of order 0, times exp(x).",
             .accuracy = accuracy_text(1, 8),
             .gradient =
                 [](GradientContext& c) {
                   c.set_dx(0, dy_of(c) * (y_of(c) - call(kBesselK1e, x_of(c))));
                 },
             .body = kernel(unary_in_double<k0e>),
         });
  define(ops, kBesselK1,
         {
             .name = "BesselK1",
             .python = "math.special.bessel_k1",
             .summary = "The modified Bessel function of the second kind of order 1; infinite for "
                        "x <= 0.",
             .accuracy = accuracy_text(1, 8),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c);
                   c.set_dx(0, -dy_of(c) * (call(kBesselK0, x) + y_of(c) / x));
                 },
             .body = kernel(unary_in_double<k1>),
         });
  define(ops, kBesselK1e,
         {
             .name = "BesselK1e",
             .python = "math.special.bessel_k1e",
             .summary = "The modified Bessel function of the second kind of order 1, times exp(x).",
             .accuracy = accuracy_text(1, 8),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c), y = y_of(c);
                   c.set_dx(0, dy_of(c) * (y - y / x - call(kBesselK0e, x)));
                 },
             .body = kernel(unary_in_double<k1e>),
         });
}

void define_bessel_j0_and_kin(OpRegistry& ops) {
  define(
      ops, kBesselJ0,
      {
          .name = "BesselJ0",
          .python = "math.special.bessel_j0",
          .summary = "The Bessel function of the first kind of order 0.",
          .accuracy = accuracy_text(1, 8, {{"x", -2, 2}}),
          .gradient = [](GradientContext& c) { c.set_dx(0, -dy_of(c) * call(kBesselJ1, x_of(c))); },
          .body = kernel(unary_in_double<j0>),
      });
  define(ops, kBesselJ1,
         {
             .name = "BesselJ1",
             .python = "math.special.bessel_j1",
             .summary = "The Bessel function of the first kind of order 1.",
             .accuracy = accuracy_text(1, 8, {{"x", -3, 3}}),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c), slope = call(kBesselJ0, x) - y_of(c) / x;
                   c.set_dx(0, dy_of(c) * or_half_at_zero(x, slope));
                 },
             .body = kernel(unary_in_double<j1>),
         });
  define(
      ops, kBesselY0,
      {
          .name = "BesselY0",
          .python = "math.special.bessel_y0",
          .summary = "The Bessel function of the second kind of order 0; -inf for x <= 0.",
          .accuracy = accuracy_text(1, 8, {{"x", 1, 3.5}}),
          .gradient = [](GradientContext& c) { c.set_dx(0, -dy_of(c) * call(kBesselY1, x_of(c))); },
          .body = kernel(unary_in_double<y0>),
      });
  define(ops, kBesselY1,
         {
             .name = "BesselY1",
             .python = "math.special.bessel_y1",
             .summary = "The Bessel function of the second kind of order 1; -inf for x <= 0.",
             .accuracy = accuracy_text(1, 8, {{"x", 0, 2}}),
             .gradient =
                 [](GradientContext& c) {
                   Formula x = x_of(c);
                   c.set_dx(0, dy_of(c) * (call(kBesselY0, x) - y_of(c) / x));
                 },
             .body = kernel(unary_in_double<y1>),
         });
}

}  // namespace

void define_bessel_ops(OpRegistry& ops) {
  define_bessel_i0_and_kin(ops);
  define_bessel_k0_and_kin(ops);
  define_bessel_j0_and_kin(ops);
}

}  // namespace graven::engine
