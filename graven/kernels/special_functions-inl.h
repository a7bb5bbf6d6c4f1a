// Special functions over vectors of double; for floats, through doubles. The largest errors are in
// accuracy.h.
//
// Included after elementary_functions.h, once for each SIMD target, with a guard of its own that
// toggles.
#if defined(GRAVEN_SPECIAL_FUNCTIONS) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAVEN_SPECIAL_FUNCTIONS
#undef GRAVEN_SPECIAL_FUNCTIONS
#else
#define GRAVEN_SPECIAL_FUNCTIONS
#endif

#include <cmath>
#include <limits>
#include <numbers>

#include "graven/kernels/elementary_functions.h"
#include "graven/kernels/special_functions.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// The lanes of y where `by_itself` holds become function(x), one by one.
template <class D, class V, class M>
HWY_INLINE V with_lanes(D d, M by_itself, V x, V y, double (*function)(double)) {
  if (HWY_LIKELY(hn::AllFalse(d, by_itself))) return y;
  HWY_ALIGN double from[hn::MaxLanes(d)], to[hn::MaxLanes(d)];
  HWY_ALIGN double chosen[hn::MaxLanes(d)];
  hn::Store(x, d, from);
  hn::Store(y, d, to);
  hn::Store(hn::IfThenElseZero(by_itself, hn::Set(d, 1.0)), d, chosen);
  for (size_t i = 0; i < hn::MaxLanes(d); ++i) {
    if (chosen[i] != 0) to[i] = function(from[i]);
  }
  return hn::Load(d, to);
}

// --- The normal quantile.
//
// Algorithm AS 241 (M. J. Wichura, The Percentage Points of the Normal Distribution, Applied
// Statistics 37, 1988), routine PPND16: the quantile of 0.5 + q, whose smaller tail has the given
// probability. Three rational functions: of q^2 in the middle, of sqrt(-log(tail)) outside.
struct NormalQuantile {
  static constexpr double kMiddleTop[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                          1.9715909503065514427e3, 1.3731693765509461125e4,
                                          4.5921953931549871457e4, 6.7265770927008700853e4,
                                          3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double kMiddleBottom[] = {1.0,
                                             4.2313330701600911252e1,
                                             6.8718700749205790830e2,
                                             5.3941960214247511077e3,
                                             2.1213794301586595867e4,
                                             3.9307895800092710610e4,
                                             2.8729085735721942674e4,
                                             5.2264952788528545610e3};
  static constexpr double kNearTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                        5.76949722146069140550e0,  3.64784832476320460504e0,
                                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kNearBottom[] = {1.0,
                                           2.05319162663775882187e0,
                                           1.67638483018380384940e0,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  static constexpr double kFarTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                       1.78482653991729133580e0,  2.96560571828504891230e-1,
                                       2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kFarBottom[] = {1.0,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};
};
template <class D, class V>
HWY_INLINE V normal_quantile(D d, V q, V tail) {
  using C = NormalQuantile;
  V r = hn::NegMulAdd(q, q, hn::Set(d, 0.180625));
  V y = hn::Div(hn::Mul(q, polynomial(d, r, C::kMiddleTop)), polynomial(d, r, C::kMiddleBottom));
  auto is_outside = hn::Gt(hn::Abs(q), hn::Set(d, 0.425));
  if (hn::AllFalse(d, is_outside)) return y;
  V s = hn::Sqrt(hn::Neg(log(d, tail)));
  V t = hn::Sub(s, hn::Set(d, 1.6));
  V size = hn::Div(polynomial(d, t, C::kNearTop), polynomial(d, t, C::kNearBottom));
  auto is_far = hn::Gt(s, hn::Set(d, 5.0));
  if (!hn::AllFalse(d, hn::And(is_outside, is_far))) {
    t = hn::Sub(s, hn::Set(d, 5.0));
    V far = hn::Div(polynomial(d, t, C::kFarTop), polynomial(d, t, C::kFarBottom));
    size = hn::IfThenElse(is_far, far, size);
  }
  return hn::IfThenElse(is_outside, hn::CopySign(size, q), y);
}

// x with erf(x) = y: infinite for y = 1 and -1, NaN outside.
template <class D, class V>
HWY_INLINE V erfinv(D d, V y) {
  V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5), size = hn::Abs(y);
  V quantile = normal_quantile(d, hn::Mul(y, half), hn::Mul(hn::Sub(one, size), half));
  V x = hn::Div(quantile, hn::Set(d, std::numbers::sqrt2));
  V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  x = hn::IfThenElse(hn::Eq(size, one), hn::CopySign(infinity, y), x);
  V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  return hn::IfThenElse(hn::Le(size, one), x, nan);
}

// The quantile of the standard normal distribution: infinite for 0 and 1, NaN outside.
template <class D, class V>
HWY_INLINE V ndtri(D d, V p) {
  V zero = hn::Zero(d), one = hn::Set(d, 1.0), half = hn::Set(d, 0.5);
  V rest = hn::Sub(one, p);
  V x = normal_quantile(d, hn::Sub(p, half), hn::IfThenElse(hn::Lt(p, half), p, rest));
  V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  x = hn::IfThenElse(hn::Eq(p, zero), hn::Neg(infinity), x);
  x = hn::IfThenElse(hn::Eq(p, one), infinity, x);
  V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  return hn::IfThenElse(hn::And(hn::Ge(p, zero), hn::Le(p, one)), x, nan);
}

// --- The gamma function's logarithm and its derivative.

// Recurrence up to `limit`, then the asymptotic series log(x) - 1/(2x) - sum of
// B(2k) / (2k x^(2k)); other than positive arguments one by one. Eight terms are enough for
// doubles from 10 on, for floats from 6 on.
struct DigammaSeries {
  static constexpr double kTerms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                      1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
};
template <class D, class V>
HWY_INLINE V digamma(D d, V x, double limit) {
  V one = hn::Set(d, 1.0), end = hn::Set(d, limit), shifted = hn::Zero(d);
  auto is_positive = hn::Gt(x, hn::Zero(d));
  V z = hn::IfThenElse(is_positive, x, end);
  for (auto below = hn::Lt(z, end); !hn::AllFalse(d, below); below = hn::Lt(z, end)) {
    shifted = hn::Add(shifted, hn::IfThenElseZero(below, hn::Div(one, z)));
    z = hn::IfThenElse(below, hn::Add(z, one), z);
  }
  V square = hn::Div(one, hn::Mul(z, z));
  V tail = hn::Mul(square, polynomial(d, square, DigammaSeries::kTerms));
  V y = hn::Sub(log(d, z), hn::Div(hn::Set(d, 0.5), z));
  y = hn::Sub(hn::Sub(y, tail), shifted);
  return with_lanes(d, hn::Not(is_positive), x, y, engine::digamma);
}

// For 0 < x < 8 a step of the recurrence after another leads to 2 + z, |z| <= 1/2, and the product
// of the arguments on the way, whose logarithm is added or taken off; there
//
//   log gamma(2 + z) = (1 - gamma) z + sum over k > 1 of (-1)^k (zeta(k) - 1) / k z^k
//
// so nothing cancels near the zeros at 1 and 2. From 8 on Stirling's series (Abramowitz and
// Stegun, 6.1.33 and 6.1.40). Other arguments one by one.
struct LogGammaSeries {
  static constexpr double kNearTwo[] = {
      0.42278433509846713,     0.3224670334241132,     -0.0673523010531981,
      0.020580808427784546,    -0.007385551028673986,  0.0028905103307415234,
      -0.001192753911703261,   0.0005096695247430425,  -0.00022315475845357939,
      9.945751278180853e-05,   -4.492623673813314e-05, 2.050721277567069e-05,
      -9.439488275268397e-06,  4.374866789907488e-06,  -2.039215753801366e-06,
      9.55141213040742e-07,    -4.492469198764566e-07, 2.1207184805554665e-07,
      -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08,
      1.0838659214896955e-08,  -5.183475041970047e-09, 2.4836745438024785e-09,
      -1.1921401405860912e-09, 5.731367241678862e-10,  -2.7595228851242334e-10,
  };
  static constexpr double kStirling[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                         1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  static constexpr double kHalfLogOfTwoPi = 0.91893853320467274178;
};
template <class D, class V>
HWY_INLINE V log_gamma_near_two(D d, V z) {
  return hn::Mul(z, polynomial(d, z, LogGammaSeries::kNearTwo));
}
template <class D, class V>
HWY_INLINE V log_gamma(D d, V x) {
  V one = hn::Set(d, 1.0), two = hn::Set(d, 2.0), half = hn::Set(d, 0.5), eight = hn::Set(d, 8.0);
  auto is_near = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, eight));
  auto is_far =
      hn::And(hn::Ge(x, eight), hn::Lt(x, hn::Set(d, std::numeric_limits<double>::infinity())));
  V y = hn::Zero(d);
  if (!hn::AllFalse(d, is_near)) {
    // Two steps up below 1/2, one below 3/2, as many down as it takes above 5/2. The distance from
    // the argument, not from its rounded sum.
    auto rises = hn::Lt(x, hn::Set(d, 1.5)), rises_twice = hn::Lt(x, half);
    V at = hn::IfThenElse(is_near, x, two), limit = hn::Set(d, 2.5);
    V product = hn::IfThenElse(rises, at, one);
    product = hn::IfThenElse(rises_twice, hn::Mul(at, hn::Add(at, one)), product);
    for (auto high = hn::Gt(at, limit); !hn::AllFalse(d, high); high = hn::Gt(at, limit)) {
      at = hn::IfThenElse(high, hn::Sub(at, one), at);
      product = hn::IfThenElse(high, hn::Mul(product, at), product);
    }
    V z = hn::Sub(at, hn::IfThenElse(rises, one, two));
    z = hn::IfThenElse(rises_twice, at, z);
    V log_of_product = log(d, product);
    log_of_product = hn::IfThenElse(rises, hn::Neg(log_of_product), log_of_product);
    y = hn::Add(log_gamma_near_two(d, hn::IfThenElseZero(is_near, z)), log_of_product);
  }
  if (!hn::AllFalse(d, is_far)) {
    V from = hn::IfThenElse(is_far, x, eight), inverse = hn::Div(one, from);
    V square = hn::Mul(inverse, inverse);
    V tail = hn::Mul(inverse, polynomial(d, square, LogGammaSeries::kStirling));
    V constant = hn::Set(d, LogGammaSeries::kHalfLogOfTwoPi - 0.5);
    V far = hn::MulAdd(hn::Sub(from, half), hn::Sub(log(d, from), one), hn::Add(constant, tail));
    y = hn::IfThenElse(is_far, far, y);
  }
  return with_lanes(d, hn::Not(hn::Or(is_near, is_far)), x, y, lgamma_of_magnitude);
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
