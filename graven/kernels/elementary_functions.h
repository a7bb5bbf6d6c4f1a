// Elementary functions over vectors of float or double: the one definition of their numbers. The
// largest errors are in accuracy.h.
//
// Included by *_blocks.cc once for each SIMD target, between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE of Highway's scheme, so it has a guard of its own that toggles.
//
// Denormal arguments count as zero and denormal results are flushed, whatever the control
// register says. Where a multiply-add exists it is used, otherwise the products are rounded;
// constants are split so that both keep the stated errors.
#if defined(GRAVEN_ELEMENTARY_FUNCTIONS) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAVEN_ELEMENTARY_FUNCTIONS
#undef GRAVEN_ELEMENTARY_FUNCTIONS
#else
#define GRAVEN_ELEMENTARY_FUNCTIONS
#endif

#include <cmath>
#include <cstdint>
#include <limits>

#include "graven/kernels/elementary_coefficients.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): each source that includes it has its own copy
namespace hn = hwy::HWY_NAMESPACE;

// Constants that depend on the type.
template <typename T>
struct Constants;
template <>
struct Constants<float> {
  using Int = int32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr float kMagic = 0x1.8p23f;  // x + kMagic has x, rounded, in its lowest bits
  static constexpr float kLog2High = 0.693145751953125f, kLog2Low = 1.42860677e-6f;
  static constexpr float kExpHighest = 88.72283172607421875f, kExpLowest = -87.336540f;
  static constexpr float kExpm1Lowest = -18.0f;
  static constexpr float kTanhIsOne = 10.0f, kSinhFactors = 80.0f;
  static constexpr float kLogOnly = 0x1p13f;  // x^2 + 1 is x^2
  static constexpr Int kSqrtHalf = 0x3f3504f3;
};
template <>
struct Constants<double> {
  using Int = int64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr double kMagic = 0x1.8p52;
  static constexpr double kLog2High = 6.93147180369123816490e-01;
  static constexpr double kLog2Low = 1.90821492927058770002e-10;
  static constexpr double kExpHighest = 709.782712893383973096, kExpLowest = -708.3964185322641;
  static constexpr double kExpm1Lowest = -40.0;
  static constexpr double kTanhIsOne = 22.0, kSinhFactors = 700.0;
  static constexpr double kLogOnly = 0x1p28;
  static constexpr Int kSqrtHalf = 0x3fe6a09e667f3bcd;
};

template <class D>
using Element = hn::TFromD<D>;
template <class D>
using IntsOf = hn::RebindToSigned<D>;

// Horner's scheme, unrolled: loops over constant arrays are not, at this point.
template <size_t kFrom = 0, class D, class V, typename T, size_t kSize>
HWY_INLINE V polynomial(D d, V x, const T (&coefficients)[kSize]) {
  if constexpr (kFrom + 1 == kSize) {
    return hn::Set(d, coefficients[kFrom]);
  } else {
    return hn::MulAdd(polynomial<kFrom + 1>(d, x, coefficients), x,
                      hn::Set(d, coefficients[kFrom]));
  }
}

// exp in parts: x = n log(2) + r; `power` is n in the place of the exponent, `rest` exp(r) - 1.
template <class V, class VI>
struct ExpParts {
  V rest;
  VI power;
};
template <class D, class V>
HWY_INLINE auto exp_parts(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  const IntsOf<D> di;
  V magic = hn::Set(d, C::kMagic);
  V shifted = hn::MulAdd(x, hn::Set(d, T(1.44269504088896340736)), magic);
  V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, C::kLog2High), x);
  r = hn::NegMulAdd(n, hn::Set(d, C::kLog2Low), r);
  V p = polynomial(d, r, Coefficients<T>::kExp);
  auto power = hn::ShiftLeft<C::kMantissaBits>(hn::BitCast(di, shifted));
  return ExpParts<V, decltype(power)>{hn::MulAdd(hn::Mul(r, r), p, r), power};
}

template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  const IntsOf<D> di;
  auto parts = exp_parts(d, x);
  V one_and_rest = hn::Add(hn::Set(d, T(1)), parts.rest);
  // 1 + rest is in [0.7, 1.42], so adding to the exponent reaches every finite result.
  V y = hn::BitCast(d, hn::Add(hn::BitCast(di, one_and_rest), parts.power));
  V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  y = hn::IfThenElse(hn::Le(x, hn::Set(d, C::kExpHighest)), y, hn::Add(x, infinity));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, C::kExpLowest)), y);
}

// exp(x) - 1 for x that does not overflow, not below kExpm1Lowest.
template <class D, class V>
HWY_INLINE V expm1_inside(D d, V x) {
  using T = Element<D>;
  const IntsOf<D> di;
  auto parts = exp_parts(d, x);
  // Through half of 2^n, which is finite for all n.
  V half = hn::BitCast(d, hn::Add(hn::BitCast(di, hn::Set(d, T(0.5))), parts.power));
  V y = hn::MulAdd(parts.rest, half, hn::Sub(half, hn::Set(d, T(0.5))));
  return hn::Add(y, y);
}
// x where the function is x + O(x^2) and x too small for anything else, -0 included.
template <class D, class V>
HWY_INLINE V or_itself_if_tiny(D d, V x, V y) {
  auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<Element<D>>::epsilon() / 4));
  return hn::IfThenElse(tiny, x, y);
}
template <class D, class V>
HWY_INLINE V expm1(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  V low = hn::Set(d, C::kExpm1Lowest);
  V y = expm1_inside(d, hn::IfThenElse(hn::Lt(x, low), low, x));
  y = or_itself_if_tiny(d, x, y);
  V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  return hn::IfThenElse(hn::Le(x, hn::Set(d, C::kExpHighest)), y, hn::Add(x, infinity));
}

// log(1 + f) + k log(2) + c, sqrt(1/2) <= 1 + f < sqrt(2).
template <class D, class V>
HWY_INLINE V log_sum(D d, V f, V k, V c) {
  using T = Element<D>;
  using C = Constants<T>;
  V half_square = hn::Mul(hn::Mul(f, f), hn::Set(d, T(0.5)));
  V low = hn::MulAdd(k, hn::Set(d, C::kLog2Low), c);
  V high = hn::Mul(k, hn::Set(d, C::kLog2High));
  if constexpr (sizeof(T) == 4) {
    V p = polynomial(d, f, Coefficients<T>::kLog);
    V rest = hn::MulAdd(hn::Mul(hn::Mul(f, f), f), p, low);
    return hn::Add(high, hn::Sub(f, hn::Sub(half_square, rest)));
  } else {
    // log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + z P(z)), with the s and z of kLog.
    V s = hn::Div(f, hn::Add(hn::Set(d, T(2)), f)), z = hn::Mul(s, s);
    V p = hn::Mul(z, polynomial(d, z, Coefficients<T>::kLog));
    V rest = hn::MulAdd(s, hn::Add(half_square, p), low);
    return hn::Add(high, hn::Sub(f, hn::Sub(half_square, rest)));
  }
}

// x = (1 + f) 2^k for positive normal x.
template <class V>
struct LogParts {
  V f, k;
};
template <class D, class V>
HWY_INLINE LogParts<V> log_parts(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  const IntsOf<D> di;
  auto sqrt_half = hn::Set(di, C::kSqrtHalf);
  auto bits = hn::Sub(hn::BitCast(di, x), sqrt_half);
  auto mantissa = hn::And(bits, hn::Set(di, (typename C::Int{1} << C::kMantissaBits) - 1));
  V m = hn::BitCast(d, hn::Add(mantissa, sqrt_half));
  V k = hn::ConvertTo(d, hn::ShiftRight<C::kMantissaBits>(bits));
  return {hn::Sub(m, hn::Set(d, T(1))), k};
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  using T = Element<D>;
  using Limits = std::numeric_limits<T>;
  auto [f, k] = log_parts(d, x);
  V y = log_sum(d, f, k, hn::Zero(d));
  V infinity = hn::Set(d, Limits::infinity());
  // Infinity and NaN stay themselves; zeros and denormals give -infinity, negatives NaN.
  y = hn::IfThenElse(hn::Lt(x, infinity), y, x);
  y = hn::IfThenElse(hn::Lt(x, hn::Set(d, Limits::min())), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Le(x, hn::Set(d, -Limits::min())), hn::Set(d, Limits::quiet_NaN()), y);
}

// log(1 + x) for -1 < x < infinity.
template <class D, class V>
HWY_INLINE V log1p_inside(D d, V x) {
  using T = Element<D>;
  V one = hn::Set(d, T(1));
  V u = hn::Add(one, x);
  auto [f, k] = log_parts(d, u);
  // What rounding 1 + x lost, relative to u; near zero f is x itself.
  V larger = hn::IfThenElse(hn::Gt(x, one), x, one),
    smaller = hn::IfThenElse(hn::Gt(x, one), one, x);
  V lost = hn::Div(hn::Sub(smaller, hn::Sub(u, larger)), u);
  auto near = hn::Eq(k, hn::Zero(d));
  return log_sum(d, hn::IfThenElse(near, x, f), k, hn::IfThenZeroElse(near, lost));
}
template <class D, class V>
HWY_INLINE V log1p(D d, V x) {
  using T = Element<D>;
  using Limits = std::numeric_limits<T>;
  V y = log1p_inside(d, x);
  V infinity = hn::Set(d, Limits::infinity()), minus_one = hn::Set(d, T(-1));
  y = hn::IfThenElse(hn::Lt(x, infinity), y, x);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0
  y = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, minus_one), hn::Set(d, Limits::quiet_NaN()), y);
}

// Not above the limit; NaN stays NaN.
template <class D, class V>
HWY_INLINE V at_most(D d, V x, Element<D> limit) {
  V highest = hn::Set(d, limit);
  return hn::IfThenElse(hn::Gt(x, highest), highest, x);
}

template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  using T = Element<D>;
  V size = at_most(d, hn::Abs(x), Constants<T>::kTanhIsOne);
  V e = expm1_inside(d, hn::Add(size, size));
  return hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, T(2)))), x);
}

template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  using T = Element<D>;
  V one = hn::Set(d, T(1));
  V e = exp(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

template <class D, class V>
HWY_INLINE V softplus(D d, V x) {
  V e = exp(d, hn::Neg(hn::Abs(x)));
  V positive = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Zero(d));
  return hn::Add(positive, log1p_inside(d, e));
}

// exp(x / 2) as both factors, where exp(x) would overflow too early.
template <class D, class V>
HWY_INLINE V half_exp_by_factors(D d, V size) {
  using T = Element<D>;
  V half = hn::Set(d, T(0.5));
  V e = exp(d, hn::Mul(size, half));
  return hn::Mul(hn::Mul(half, e), e);
}
template <class D, class V>
HWY_INLINE V sinh(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  V size = hn::Abs(x), half = hn::Set(d, T(0.5));
  V e = expm1_inside(d, at_most(d, size, C::kSinhFactors));
  V y = hn::Mul(half, hn::Add(e, hn::Div(e, hn::Add(e, hn::Set(d, T(1))))));
  auto large = hn::Gt(size, hn::Set(d, C::kSinhFactors));
  y = hn::CopySign(hn::IfThenElse(large, half_exp_by_factors(d, size), y), x);
  return or_itself_if_tiny(d, x, y);
}
template <class D, class V>
HWY_INLINE V cosh(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  V size = hn::Abs(x), half = hn::Set(d, T(0.5));
  V e = exp(d, at_most(d, size, C::kSinhFactors));
  V y = hn::MulAdd(half, e, hn::Div(half, e));
  auto large = hn::Gt(size, hn::Set(d, C::kSinhFactors));
  return hn::IfThenElse(large, half_exp_by_factors(d, size), y);
}

template <class D, class V>
HWY_INLINE V asinh(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  V size = hn::Abs(x), one = hn::Set(d, T(1));
  auto large = hn::Gt(size, hn::Set(d, C::kLogOnly));
  V inside = hn::IfThenElse(large, one, size), square = hn::Mul(inside, inside);
  V root = hn::Sqrt(hn::Add(square, one));
  V argument = hn::Add(inside, hn::Div(square, hn::Add(one, root)));
  V y = log1p_inside(d, argument);
  // log(2 |x|); infinity and NaN stay themselves.
  V far = hn::Add(log(d, size), hn::Set(d, T(0.693147180559945309417)));
  return hn::CopySign(hn::IfThenElse(large, far, y), x);
}
template <class D, class V>
HWY_INLINE V acosh(D d, V x) {
  using T = Element<D>;
  using C = Constants<T>;
  V one = hn::Set(d, T(1));
  auto large = hn::Gt(x, hn::Set(d, C::kLogOnly));
  V above = hn::Sub(hn::IfThenElse(large, one, x), one);
  V root = hn::Sqrt(hn::Add(hn::Add(above, above), hn::Mul(above, above)));
  V y = log1p(d, hn::Add(above, root));
  V far = hn::Add(log(d, x), hn::Set(d, T(0.693147180559945309417)));
  y = hn::IfThenElse(large, far, y);
  V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  return hn::IfThenElse(hn::Lt(x, one), nan, y);
}
template <class D, class V>
HWY_INLINE V atanh(D d, V x) {
  using T = Element<D>;
  V size = hn::Abs(x), one = hn::Set(d, T(1));
  V y = log1p(d, hn::Div(hn::Add(size, size), hn::Sub(one, size)));
  return hn::CopySign(hn::Mul(hn::Set(d, T(0.5)), y), x);
}

// atan(top / bottom) for top, bottom >= 0: in [0, pi / 2]. One division: by an addition theorem
// the argument comes below tan(pi / 8).
template <class D, class V>
HWY_INLINE V atan_of_ratio(D d, V top, V bottom) {
  using T = Element<D>;
  // pi / 4 and pi / 2, and what is missing there.
  constexpr long double kQuarter = 0.785398163397448309615660845819875721L;
  constexpr T kHigh = static_cast<T>(kQuarter);
  constexpr T kLow = static_cast<T>(kQuarter - kHigh);
  auto above = hn::Gt(top, hn::Mul(bottom, hn::Set(d, T(2.414213562373095))));
  auto middle = hn::AndNot(above, hn::Gt(top, hn::Mul(bottom, hn::Set(d, T(0.41421356237309503)))));
  V n = hn::IfThenElse(above, hn::Neg(bottom), top), m = hn::IfThenElse(above, top, bottom);
  V x = hn::Div(hn::IfThenElse(middle, hn::Sub(n, m), n), hn::IfThenElse(middle, hn::Add(n, m), m));
  V z = hn::Mul(x, x);
  V high = hn::IfThenElse(above, hn::Set(d, T(2) * kHigh),
                          hn::IfThenElseZero(middle, hn::Set(d, kHigh)));
  V low =
      hn::IfThenElse(above, hn::Set(d, T(2) * kLow), hn::IfThenElseZero(middle, hn::Set(d, kLow)));
  V rest = hn::MulAdd(hn::Mul(x, z), polynomial(d, z, Coefficients<T>::kAtan), low);
  return hn::Add(high, hn::Add(x, rest));
}
template <class D, class V>
HWY_INLINE V atan(D d, V x) {
  using T = Element<D>;
  // Infinity would meet infinity in the sum of the middle range's test; pi / 2 is reached before.
  V size = at_most(d, hn::Abs(x), T(0x1p60));
  return hn::CopySign(atan_of_ratio(d, size, hn::Set(d, T(1))), x);
}
template <class D, class V>
HWY_INLINE V atan2(D d, V y, V x) {
  using T = Element<D>;
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  constexpr T kHigh = static_cast<T>(kPi), kLow = static_cast<T>(kPi - kHigh);
  V top = hn::Abs(y), bottom = hn::Abs(x);
  // Scaled so that sums neither overflow nor vanish.
  auto huge = hn::Gt(hn::Max(top, bottom), hn::Set(d, std::numeric_limits<T>::max() / 8));
  auto tiny = hn::Lt(hn::Max(top, bottom), hn::Set(d, std::numeric_limits<T>::min() * 8));
  V scale = hn::IfThenElse(huge, hn::Set(d, T(0.125)),
                           hn::IfThenElse(tiny, hn::Set(d, T(0x1p40)), hn::Set(d, T(1))));
  // Two infinities are equal, and so are two zeros (0 / 1).
  V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  auto both_infinite = hn::And(hn::Eq(top, infinity), hn::Eq(bottom, infinity));
  V one = hn::Set(d, T(1));
  V t = hn::IfThenElse(both_infinite, one, hn::Mul(top, scale));
  V b = hn::IfThenElse(both_infinite, one, hn::Mul(bottom, scale));
  // One infinity: 1 / 0 or 0 / 1.
  auto t_infinite = hn::Eq(t, infinity), b_infinite = hn::Eq(b, infinity);
  t = hn::IfThenElse(t_infinite, one, hn::IfThenElse(b_infinite, hn::Zero(d), t));
  b = hn::IfThenElse(b_infinite, one, hn::IfThenElse(t_infinite, hn::Zero(d), b));
  auto both_zero = hn::And(hn::Eq(t, hn::Zero(d)), hn::Eq(b, hn::Zero(d)));
  b = hn::IfThenElse(both_zero, one, b);
  V angle = atan_of_ratio(d, t, b);
  // The sign bit of x, as -0 is on the left.
  auto left = hn::Lt(hn::CopySign(one, x), hn::Zero(d));
  V mirrored = hn::Sub(hn::Set(d, kHigh), hn::Sub(angle, hn::Set(d, kLow)));
  angle = hn::CopySign(hn::IfThenElse(left, mirrored, angle), y);
  auto has_nan = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
  return hn::IfThenElse(has_nan, hn::Add(x, y), angle);
}

// asin(s) for s in [0, 1/2], or of s = sqrt((1 - |x|) / 2), by which the other half is reached.
template <class D, class V>
HWY_INLINE V asin_inside(D d, V s, V square) {
  return hn::MulAdd(hn::Mul(s, square), polynomial(d, square, Coefficients<Element<D>>::kAsin), s);
}
template <class D, class V>
HWY_INLINE V asin(D d, V x) {
  using T = Element<D>;
  constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  constexpr T kHigh = static_cast<T>(kHalfPi), kLow = static_cast<T>(kHalfPi - kHigh);
  V size = hn::Abs(x), half = hn::Set(d, T(0.5));
  auto outside = hn::Gt(size, half);
  V square =
      hn::IfThenElse(outside, hn::Mul(half, hn::Sub(hn::Set(d, T(1)), size)), hn::Mul(size, size));
  V s = hn::IfThenElse(outside, hn::Sqrt(square), size);
  V inside = asin_inside(d, s, square);
  V mirrored = hn::Sub(hn::Set(d, kHigh), hn::Sub(hn::Add(inside, inside), hn::Set(d, kLow)));
  return hn::CopySign(hn::IfThenElse(outside, mirrored, inside), x);
}
template <class D, class V>
HWY_INLINE V acos(D d, V x) {
  using T = Element<D>;
  constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  constexpr T kHigh = static_cast<T>(kHalfPi), kLow = static_cast<T>(kHalfPi - kHigh);
  V size = hn::Abs(x), half = hn::Set(d, T(0.5));
  auto outside = hn::Gt(size, half);
  V square =
      hn::IfThenElse(outside, hn::Mul(half, hn::Sub(hn::Set(d, T(1)), size)), hn::Mul(size, size));
  V s = hn::IfThenElse(outside, hn::Sqrt(square), size);
  V inside = asin_inside(d, s, square);
  V twice = hn::Add(inside, inside);
  V signed_inside = hn::CopySign(inside, x);
  V middle = hn::Sub(hn::Set(d, kHigh), hn::Sub(signed_inside, hn::Set(d, kLow)));
  V left = hn::Sub(hn::Set(d, 2 * kHigh), hn::Sub(twice, hn::Set(d, 2 * kLow)));
  auto is_left = hn::Lt(x, hn::Zero(d));
  V y = hn::IfThenElse(outside, hn::IfThenElse(is_left, left, twice), middle);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// x = n pi / 2 + r, |r| <= pi / 4, for |x| < kTrigonometricLimit: pi / 2 in three parts, the first
// two of 33 bits (the split of FreeBSD's msun), so that their products with n are exact. Floats
// are reduced in double.
template <class V>
struct Reduced {
  V r, n, shifted;  // `shifted` has n in its lowest bits
};
template <class D, class V>
HWY_INLINE Reduced<V> reduce_doubles(D d, V x) {
  V magic = hn::Set(d, 0x1.8p52);
  V shifted = hn::MulAdd(x, hn::Set(d, 6.36619772367581382433e-01), magic);
  V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 1.57079632673412561417e+00), x);
  V second = hn::Mul(n, hn::Set(d, 6.07710050630396597660e-11));  // exact
  V next = hn::Sub(r, second);
  V lost = hn::Sub(hn::Sub(r, next), second);
  r = hn::Sub(next, hn::Sub(hn::Mul(n, hn::Set(d, 2.02226624879595063154e-21)), lost));
  return {r, n, shifted};
}

template <class D, class V>
struct Quadrant {
  V r;
  hn::Vec<IntsOf<D>> n;
};
template <class D, class V>
HWY_INLINE Quadrant<D, V> quadrant(D d, V x) {
  const IntsOf<D> di;
  if constexpr (sizeof(Element<D>) == 8) {
    auto [r, n, shifted] = reduce_doubles(d, x);
    return {r, hn::BitCast(di, shifted)};
  } else {
    const hn::Half<D> dh;
    const hn::Rebind<double, decltype(dh)> dd;
    const hn::Rebind<int32_t, decltype(dh)> dhi;
    auto low = reduce_doubles(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)));
    auto high = reduce_doubles(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)));
    return {hn::Combine(d, hn::DemoteTo(dh, high.r), hn::DemoteTo(dh, low.r)),
            hn::Combine(di, hn::DemoteTo(dhi, high.n), hn::DemoteTo(dhi, low.n))};
  }
}

// Both at r; `cosine` of the sum is 1 - z / 2 + ..., with what rounding 1 - z / 2 lost.
template <class D, class V>
HWY_INLINE V sine(D d, V r, V z) {
  return hn::MulAdd(hn::Mul(r, z), polynomial(d, z, Coefficients<Element<D>>::kSin), r);
}
template <class D, class V>
HWY_INLINE V cosine(D d, V z) {
  using T = Element<D>;
  V half = hn::Mul(z, hn::Set(d, T(0.5))), one = hn::Set(d, T(1));
  V first = hn::Sub(one, half);
  V lost = hn::Sub(hn::Sub(one, first), half);
  V p = polynomial(d, z, Coefficients<T>::kCos);
  return hn::Add(first, hn::MulAdd(hn::Mul(z, z), p, lost));
}

// Lanes beyond the limit are computed one by one.
template <class D, class V>
HWY_INLINE V with_large(D d, V x, V y, double (*function)(double)) {
  using T = Element<D>;
  auto inside = hn::Lt(hn::Abs(x), hn::Set(d, T(kTrigonometricLimit)));
  if (HWY_LIKELY(hn::AllTrue(d, inside))) return y;
  HWY_ALIGN T from[hn::MaxLanes(d)], to[hn::MaxLanes(d)];
  hn::Store(x, d, from);
  hn::Store(y, d, to);
  for (size_t i = 0; i < hn::MaxLanes(d); ++i) {
    if (!(std::fabs(from[i]) < T(kTrigonometricLimit))) {
      to[i] = static_cast<T>(function(static_cast<double>(from[i])));
    }
  }
  return hn::Load(d, to);
}

template <class D, class V>
HWY_INLINE V sin_or_cos(D d, V x, int quarter) {
  const IntsOf<D> di;
  Quadrant<D, V> q = quadrant(d, x);
  auto n = hn::Add(q.n, hn::Set(di, quarter));
  V z = hn::Mul(q.r, q.r);
  auto one = hn::Set(di, 1);
  auto is_odd = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, hn::Eq(hn::And(n, one), one))));
  V y = hn::IfThenElse(is_odd, cosine(d, z), sine(d, q.r, z));
  // Bit 1 of n is the sign.
  auto sign = hn::ShiftLeft<sizeof(Element<D>) * 8 - 2>(hn::And(n, hn::Set(di, 2)));
  return hn::Xor(y, hn::BitCast(d, sign));
}
template <class D, class V>
HWY_INLINE V sin(D d, V x) {
  V y = sin_or_cos(d, x, 0);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0
  return with_large(d, x, y, std::sin);
}
template <class D, class V>
HWY_INLINE V cos(D d, V x) {
  return with_large(d, x, sin_or_cos(d, x, 1), std::cos);
}
template <class D, class V>
HWY_INLINE V tan(D d, V x) {
  const IntsOf<D> di;
  Quadrant<D, V> q = quadrant(d, x);
  V z = hn::Mul(q.r, q.r);
  V s = sine(d, q.r, z), c = cosine(d, z);
  auto one = hn::Set(di, 1);
  auto is_odd =
      hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, hn::Eq(hn::And(q.n, one), one))));
  V y = hn::Div(hn::IfThenElse(is_odd, hn::Neg(c), s), hn::IfThenElse(is_odd, s, c));
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  return with_large(d, x, y, std::tan);
}

// erfc(x) for doubles x >= 0. The square is split, so that its rounding does not reach exp.
template <class D, class V>
HWY_INLINE V erfc_of_positive(D d, V x) {
  const IntsOf<D> di;
  V size = at_most(d, x, 28.0);
  V one = hn::Set(d, 1.0), center = hn::Set(d, 3.75);
  V high = hn::BitCast(d, hn::And(hn::BitCast(di, size), hn::Set(di, ~int64_t{0x7ffffff})));
  V low = hn::Mul(hn::Sub(size, high), hn::Add(size, high));  // x^2 - high^2, below 1e-5
  V series = hn::MulAdd(low, hn::Set(d, -1.0 / 6), hn::Set(d, 0.5));
  V correction = hn::Mul(low, hn::MulAdd(low, series, hn::Set(d, -1.0)));  // exp(-low) - 1
  V e = exp(d, hn::Neg(hn::Mul(high, high)));
  V t = hn::Div(hn::Sub(size, center), hn::Add(size, center));
  V p = hn::Div(polynomial(d, t, Coefficients<double>::kErfc), hn::Add(one, hn::Add(size, size)));
  return hn::Mul(e, hn::MulAdd(p, correction, p));
}
template <class D, class V>
HWY_INLINE V erf_near_zero(D d, V x) {
  return hn::Mul(x, polynomial(d, hn::Mul(x, x), Coefficients<Element<D>>::kErf));
}
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  using T = Element<D>;
  V size = hn::Abs(x), one = hn::Set(d, T(1));
  V far;
  if constexpr (sizeof(T) == 4) {
    V inside = at_most(d, size, 4.0f);
    V exponent = hn::Mul(inside, polynomial(d, inside, Coefficients<T>::kLogErfc));
    far = hn::Sub(one, exp(d, exponent));
  } else {
    far = hn::Sub(one, erfc_of_positive(d, size));
  }
  far = hn::CopySign(far, x);
  V near = erf_near_zero(d, hn::IfThenElse(hn::Gt(size, one), one, size));
  return hn::IfThenElse(hn::Gt(size, one), far, hn::CopySign(near, x));
}
template <class D, class V>
HWY_INLINE V erfc(D d, V x) {
  V size = hn::Abs(x), half = hn::Set(d, 0.5);
  V far = erfc_of_positive(d, size);
  far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0), far), far);
  V inside = hn::IfThenElse(hn::Gt(size, half), half, x);
  V near = hn::Sub(hn::Set(d, 1.0), erf_near_zero(d, inside));
  return hn::IfThenElse(hn::Gt(size, half), far, near);
}

// |x|^y = exp(y log|x|) in double, which is enough for float results; then C's special cases.
template <class D, class V>
HWY_INLINE V pow_for_floats(D d, V x, V y) {
  V one = hn::Set(d, 1.0), zero = hn::Zero(d), infinity = hn::Set(d, HUGE_VAL);
  V size = hn::Abs(x);
  V power = exp(d, hn::Mul(y, log(d, size)));
  auto is_whole = hn::Eq(hn::Floor(y), y);
  V half = hn::Mul(y, hn::Set(d, 0.5));
  auto is_odd = hn::And(is_whole, hn::Ne(hn::Floor(half), half));
  auto is_negative = hn::Lt(hn::CopySign(one, x), zero);
  power = hn::IfThenElse(hn::And(is_odd, is_negative), hn::Neg(power), power);
  auto has_root = hn::Or(is_whole, hn::Or(hn::Eq(size, zero), hn::Eq(size, infinity)));
  V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  power = hn::IfThenElse(hn::AndNot(has_root, hn::Lt(x, zero)), nan, power);
  auto minus_one_to_infinity = hn::And(hn::Eq(size, one), hn::Eq(hn::Abs(y), infinity));
  auto is_one = hn::Or(hn::Or(hn::Eq(y, zero), hn::Eq(x, one)), minus_one_to_infinity);
  return hn::IfThenElse(is_one, one, power);
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
