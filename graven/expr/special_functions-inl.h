// Special functions over the models of elementary_functions-inl.h, which is included before; in
// double, for floats too. The largest errors are in kernels/accuracy.h.
#include <limits>
#include <numbers>

namespace graven::engine::GRAVEN_MODEL_NAMESPACE {
namespace {

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
template <class V>
GRAVEN_MODEL_FUNCTION V normal_quantile(V q, V tail) {
  using C = NormalQuantile;
  V r = mul_add(-q, q, V(0.180625));
  V y = q * polynomial(r, C::kMiddleTop) / polynomial(r, C::kMiddleBottom);
  auto is_outside = abs(q) > 0.425;
  if (!may_hold(is_outside)) return y;
  V s = sqrt(-log(tail));
  V t = s - 1.6;
  V size = polynomial(t, C::kNearTop) / polynomial(t, C::kNearBottom);
  auto is_far = s > 5.0;
  if (may_hold(is_outside & is_far)) {
    t = s - 5.0;
    V far = polynomial(t, C::kFarTop) / polynomial(t, C::kFarBottom);
    size = select(is_far, far, size);
  }
  return select(is_outside, copy_sign(size, q), y);
}

// Functions that are computed in double, for floats too.
#define GRAVEN_IN_DOUBLE(name, Name)                \
  struct Name##InDouble {                           \
    template <class V>                              \
    GRAVEN_MODEL_FUNCTION V operator()(V x) const { \
      return name##_of_doubles(x);                  \
    }                                               \
  };                                                \
  template <class V>                                \
  GRAVEN_MODEL_FUNCTION V name(V x) {               \
    if constexpr (sizeof(ElementOf<V>) == 8) {      \
      return name##_of_doubles(x);                  \
    } else {                                        \
      return in_double(Name##InDouble(), x);        \
    }                                               \
  }

// x with erf(x) = y: infinite for y = 1 and -1, NaN outside.
template <class V>
GRAVEN_MODEL_FUNCTION V erfinv_of_doubles(V y) {
  using Limits = std::numeric_limits<double>;
  V size = abs(y);
  V quantile = normal_quantile(y * 0.5, (1.0 - size) * 0.5);
  V x = quantile / std::numbers::sqrt2;
  x = select(size == 1.0, copy_sign(V(Limits::infinity()), y), x);
  return select(size <= 1.0, x, V(Limits::quiet_NaN()));
}
GRAVEN_IN_DOUBLE(erfinv, Erfinv)

// The quantile of the standard normal distribution: infinite for 0 and 1, NaN outside.
template <class V>
GRAVEN_MODEL_FUNCTION V ndtri_of_doubles(V p) {
  using Limits = std::numeric_limits<double>;
  V rest = 1.0 - p;
  V x = normal_quantile(p - 0.5, select(p < 0.5, p, rest));
  x = select(p == 0.0, V(-Limits::infinity()), x);
  x = select(p == 1.0, V(Limits::infinity()), x);
  return select((p >= 0.0) & (p <= 1.0), x, V(Limits::quiet_NaN()));
}
GRAVEN_IN_DOUBLE(ndtri, Ndtri)

// --- The gamma function's logarithm and its derivative.

// Recurrence up to `limit`, an integer, then the asymptotic series log(x) - 1/(2x) - sum of
// B(2k) / (2k x^(2k)); other than positive arguments are left to the library. Eight terms are
// enough for doubles from 10 on, for floats from 6 on.
struct DigammaSeries {
  static constexpr double kTerms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                      1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
};
template <class V>
GRAVEN_MODEL_FUNCTION V digamma_of_doubles(V x, int limit) {
  const V end(limit);
  V shifted(0);
  auto is_positive = x > 0.0;
  V z = select(is_positive, x, end);
  auto below = z < end;
  for (int i = 0; i < limit && may_hold(below); ++i) {
    shifted = shifted + select(below, 1.0 / z, V(0));
    z = select(below, z + 1.0, z);
    below = z < end;
  }
  V square = 1.0 / (z * z);
  V tail = square * polynomial(square, DigammaSeries::kTerms);
  V y = log(z) - 0.5 / z;
  y = (y - tail) - shifted;
  return or_library<Instruction::kDigammaOfOthers>(is_positive, y, x);
}
struct DigammaForFloats {
  template <class V>
  GRAVEN_MODEL_FUNCTION V operator()(V x) const {
    return digamma_of_doubles(x, 6);
  }
};
template <class V>
GRAVEN_MODEL_FUNCTION V digamma(V x) {
  if constexpr (sizeof(ElementOf<V>) == 8) {
    return digamma_of_doubles(x, 10);
  } else {
    return in_double(DigammaForFloats(), x);
  }
}

// For 0 < x < 8 a step of the recurrence after another leads to 2 + z, |z| <= 1/2, and the product
// of the arguments on the way, whose logarithm is added or taken off; there
//
//   log gamma(2 + z) = (1 - gamma) z + sum over k > 1 of (-1)^k (zeta(k) - 1) / k z^k
//
// so nothing cancels near the zeros at 1 and 2. From 8 on Stirling's series (Abramowitz and
// Stegun, 6.1.33 and 6.1.40). Other
// arguments are left to the library.
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
template <class V>
GRAVEN_MODEL_FUNCTION V lgamma_of_doubles(V x) {
  auto is_near = (x > 0.0) & (x < 8.0);
  auto is_far = (x >= 8.0) & (x < std::numeric_limits<double>::infinity());
  const V one(1), two(2);
  V y(0);
  if (may_hold(is_near)) {
    // Two steps up below 1/2, one below 3/2, as many down as it takes above 5/2. The distance from
    // the argument, not from its rounded sum.
    auto rises = x < 1.5, rises_twice = x < 0.5;
    V at = select(is_near, x, two);
    V product = select(rises, at, one);
    product = select(rises_twice, at * (at + one), product);
    auto high = at > 2.5;
    for (int i = 0; i < 6 && may_hold(high); ++i) {
      at = select(high, at - one, at);
      product = select(high, product * at, product);
      high = at > 2.5;
    }
    V z = at - select(rises, one, two);
    z = select(rises_twice, at, z);
    V log_of_product = log(product);
    log_of_product = select(rises, -log_of_product, log_of_product);
    z = select(is_near, z, V(0));
    y = z * polynomial(z, LogGammaSeries::kNearTwo) + log_of_product;
  }
  if (may_hold(is_far)) {
    V from = select(is_far, x, V(8)), inverse = one / from;
    V square = inverse * inverse;
    V tail = inverse * polynomial(square, LogGammaSeries::kStirling);
    V far = mul_add(from - 0.5, log(from) - one, (LogGammaSeries::kHalfLogOfTwoPi - 0.5) + tail);
    y = select(is_far, far, y);
  }
  return or_library<Instruction::kLgammaOfOthers>(is_near | is_far, y, x);
}
GRAVEN_IN_DOUBLE(lgamma, Lgamma)

}  // namespace
}  // namespace graven::engine::GRAVEN_MODEL_NAMESPACE

// The functions of one number, each with its instruction.
#ifndef GRAVEN_FUNCTIONS_OF_ONE
// clang-format off
#define GRAVEN_FUNCTIONS_OF_ONE(use) \
  use(kExp, exp) use(kExpm1, expm1) use(kLog, log) use(kLog1p, log1p) use(kSin, sin) \
  use(kCos, cos) use(kTan, tan) use(kAsin, asin) use(kAcos, acos) use(kAtan, atan) \
  use(kSinh, sinh) use(kCosh, cosh) use(kTanh, tanh) use(kAsinh, asinh) use(kAcosh, acosh) \
  use(kAtanh, atanh) use(kSigmoid, sigmoid) use(kSoftplus, softplus) use(kErf, erf) \
  use(kErfc, erfc) use(kErfinv, erfinv) use(kNdtri, ndtri) use(kLgamma, lgamma) \
  use(kDigamma, digamma)
// clang-format on
#endif
