// Elementary functions: the one definition of their numbers, for every tier. Written over a model V
// of a floating-point number (float or double), of which there are two: vectors of Highway
// (kernels/highway_model-inl.h), which block instructions are made of, and recorded nodes
// (elementary_expressions.cc), of which a compiler emits code. Both give the same bits. The largest
// errors are in kernels/accuracy.h.
//
// A model is a class V with these names:
//
//   V::Element                   float or double
//   V(element)                   a constant
//   -a  a + b  a - b  a * b  a / b
//   mul_add(a, b, c)             a * b + c, rounded once where the CPU can, else twice
//   sqrt(a)  floor(a)  abs(a)
//   copy_sign(size, sign)
//   a < b, <=, >, >=, ==         a V::Mask, with & | !; false for NaN
//   is_nan(a)
//   select(mask, a, b)
//   bits(a), V::of_bits(n)       between V and V::Bits, signed integers of its size, which have
//                                V::Bits(integer), +, -, &, ^, ==, shift_left<k>, shift_right<k>
//   V::of_integer(n)             the value of a V::Bits
//   may_hold(mask)               false only if a mask holds nowhere, so that values which it
//                                selects need not be computed
//   in_double(function, a...)    function of the values as doubles, rounded to V
//   or_library<instruction>(mask, a, x)   a where the mask holds, elsewhere the C library's
//                                result of the instruction for x as a double
//
// Each model includes this file (no guard: Highway's does so once for each SIMD target, between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE) and may define before
//
//   GRAVEN_MODEL_NAMESPACE       the namespace within graven::engine in which the functions are
//   GRAVEN_MODEL_FUNCTION        the attributes in front of each of them
//
// Denormal arguments count as zero and denormal results are flushed, whatever the control register
// says. Constants are split so that products rounded once or twice keep the stated errors.

#include <cmath>
#include <cstdint>
#include <limits>

#include "graven/expr/elementary_coefficients.h"
#include "graven/expr/expression.h"

#ifndef GRAVEN_MODEL_NAMESPACE
#define GRAVEN_MODEL_NAMESPACE elementary
#define GRAVEN_MODEL_FUNCTION inline
#endif

namespace graven::engine::GRAVEN_MODEL_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): each source that includes it has its own copy

template <class V>
using ElementOf = typename V::Element;

// Horner's scheme, unrolled by hand, because the compiler does not yet unroll loops over constant
// arrays here.
template <size_t kFrom = 0, class V, typename T, size_t kSize>
GRAVEN_MODEL_FUNCTION V polynomial(V x, const T (&coefficients)[kSize]) {
  if constexpr (kFrom + 1 == kSize) {
    return V(coefficients[kFrom]);
  } else {
    return mul_add(polynomial<kFrom + 1>(x, coefficients), x, V(coefficients[kFrom]));
  }
}

// --- Powers of e.

// exp in parts: x = n log(2) + r; `power` is n in the place of the exponent, `rest` exp(r) - 1.
template <class V>
struct ExpParts {
  V rest;
  typename V::Bits power;
};
template <class V>
GRAVEN_MODEL_FUNCTION ExpParts<V> exp_parts(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  V shifted = mul_add(x, V(T(1.44269504088896340736)), V(C::kMagic));
  V n = shifted - C::kMagic;
  V r = mul_add(n, V(-C::kLog2High), x);
  r = mul_add(n, V(-C::kLog2Low), r);
  V p = polynomial(r, Coefficients<T>::kExp);
  return {mul_add(r * r, p, r), shift_left<C::kMantissaBits>(bits(shifted))};
}

template <class V>
GRAVEN_MODEL_FUNCTION V exp(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  ExpParts<V> parts = exp_parts(x);
  // 1 + rest is in [0.7, 1.42], so adding to the exponent reaches every finite result.
  V y = V::of_bits(bits(T(1) + parts.rest) + parts.power);
  y = select(x <= C::kExpHighest, y, x + std::numeric_limits<T>::infinity());
  return select(x < C::kExpLowest, V(0), y);
}

// exp(x) - 1 for x that does not overflow, not below kExpm1Lowest.
template <class V>
GRAVEN_MODEL_FUNCTION V expm1_inside(V x) {
  using T = ElementOf<V>;
  ExpParts<V> parts = exp_parts(x);
  // Through half of 2^n, which is finite for all n.
  V half = V::of_bits(bits(V(T(0.5))) + parts.power);
  V y = mul_add(parts.rest, half, half - T(0.5));
  return y + y;
}
// x where the function is x + O(x^2) and x too small for anything else, -0 included.
template <class V>
GRAVEN_MODEL_FUNCTION V or_itself_if_tiny(V x, V y) {
  return select(abs(x) < std::numeric_limits<ElementOf<V>>::epsilon() / 4, x, y);
}
template <class V>
GRAVEN_MODEL_FUNCTION V expm1(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  V y = expm1_inside(select(x < C::kExpm1Lowest, V(C::kExpm1Lowest), x));
  y = or_itself_if_tiny(x, y);
  return select(x <= C::kExpHighest, y, x + std::numeric_limits<T>::infinity());
}

// --- Logarithms.

// log(1 + f) + k log(2) + c, sqrt(1/2) <= 1 + f < sqrt(2).
template <class V>
GRAVEN_MODEL_FUNCTION V log_sum(V f, V k, V c) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  V half_square = f * f * T(0.5);
  V low = mul_add(k, V(C::kLog2Low), c);
  V high = k * C::kLog2High;
  if constexpr (sizeof(T) == 4) {
    V p = polynomial(f, Coefficients<T>::kLog);
    V rest = mul_add(f * f * f, p, low);
    return high + (f - (half_square - rest));
  } else {
    // log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + z P(z)), with the s and z of kLog.
    V s = f / (T(2) + f), z = s * s;
    V p = z * polynomial(z, Coefficients<T>::kLog);
    V rest = mul_add(s, half_square + p, low);
    return high + (f - (half_square - rest));
  }
}

// x = (1 + f) 2^k for positive normal x.
template <class V>
struct LogParts {
  V f, k;
};
template <class V>
GRAVEN_MODEL_FUNCTION LogParts<V> log_parts(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  using Bits = typename V::Bits;
  const Bits sqrt_half(C::kSqrtHalf);
  Bits shifted = bits(x) - sqrt_half;
  Bits mantissa = shifted & Bits((typename C::Int{1} << C::kMantissaBits) - 1);
  V m = V::of_bits(mantissa + sqrt_half);
  V k = V::of_integer(shift_right<C::kMantissaBits>(shifted));
  return {m - T(1), k};
}

template <class V>
GRAVEN_MODEL_FUNCTION V log(V x) {
  using T = ElementOf<V>;
  using Limits = std::numeric_limits<T>;
  auto [f, k] = log_parts(x);
  V y = log_sum(f, k, V(0));
  // Infinity and NaN stay themselves; zeros and denormals give -infinity, negatives NaN.
  y = select(x < Limits::infinity(), y, x);
  y = select(x < Limits::min(), V(-Limits::infinity()), y);
  return select(x <= -Limits::min(), V(Limits::quiet_NaN()), y);
}

// log(1 + x) for -1 < x < infinity.
template <class V>
GRAVEN_MODEL_FUNCTION V log1p_inside(V x) {
  using T = ElementOf<V>;
  const V one(1);
  V u = one + x;
  auto [f, k] = log_parts(u);
  // The rounding error of 1 + x, relative to u; near zero f is x itself.
  V larger = select(x > one, x, one), smaller = select(x > one, one, x);
  V lost = (smaller - (u - larger)) / u;
  auto near = k == T(0);
  return log_sum(select(near, x, f), k, select(near, V(0), lost));
}
template <class V>
GRAVEN_MODEL_FUNCTION V log1p(V x) {
  using T = ElementOf<V>;
  using Limits = std::numeric_limits<T>;
  V y = log1p_inside(x);
  y = select(x < Limits::infinity(), y, x);
  y = select(x == T(0), x, y);  // -0
  y = select(x == T(-1), V(-Limits::infinity()), y);
  return select(x < T(-1), V(Limits::quiet_NaN()), y);
}

// --- Hyperbolic functions and kin.

// Not above the limit; NaN stays NaN.
template <class V>
GRAVEN_MODEL_FUNCTION V at_most(V x, ElementOf<V> limit) {
  return select(x > limit, V(limit), x);
}

template <class V>
GRAVEN_MODEL_FUNCTION V tanh(V x) {
  using T = ElementOf<V>;
  V size = at_most(abs(x), ElementaryConstants<T>::kTanhIsOne);
  V e = expm1_inside(size + size);
  return copy_sign(e / (e + T(2)), x);
}

template <class V>
GRAVEN_MODEL_FUNCTION V sigmoid(V x) {
  using T = ElementOf<V>;
  const V one(1);
  V e = exp(-abs(x));
  return select(x < T(0), e, one) / (one + e);
}

template <class V>
GRAVEN_MODEL_FUNCTION V softplus(V x) {
  using T = ElementOf<V>;
  V e = exp(-abs(x));
  return select(x > T(0), x, V(0)) + log1p_inside(e);
}

// exp(x / 2) as both factors, where exp(x) would overflow too early.
template <class V>
GRAVEN_MODEL_FUNCTION V half_exp_by_factors(V size) {
  using T = ElementOf<V>;
  V e = exp(size * T(0.5));
  return T(0.5) * e * e;
}
template <class V>
GRAVEN_MODEL_FUNCTION V sinh(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  V size = abs(x);
  V e = expm1_inside(at_most(size, C::kSinhFactors));
  V y = T(0.5) * (e + e / (e + T(1)));
  y = copy_sign(select(size > C::kSinhFactors, half_exp_by_factors(size), y), x);
  return or_itself_if_tiny(x, y);
}
template <class V>
GRAVEN_MODEL_FUNCTION V cosh(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  V size = abs(x);
  const V half(T(0.5));
  V e = exp(at_most(size, C::kSinhFactors));
  V y = mul_add(half, e, half / e);
  return select(size > C::kSinhFactors, half_exp_by_factors(size), y);
}

// log(2 x) for large x; infinity and NaN stay themselves.
template <class V>
GRAVEN_MODEL_FUNCTION V log_of_twice(V x) {
  return log(x) + ElementOf<V>(0.693147180559945309417);
}
template <class V>
GRAVEN_MODEL_FUNCTION V asinh(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  const V one(1);
  V size = abs(x);
  auto large = size > C::kLogOnly;
  V inside = select(large, one, size), square = inside * inside;
  V root = sqrt(square + one);
  V y = log1p_inside(inside + square / (one + root));
  return copy_sign(select(large, log_of_twice(size), y), x);
}
template <class V>
GRAVEN_MODEL_FUNCTION V acosh(V x) {
  using T = ElementOf<V>;
  using C = ElementaryConstants<T>;
  const V one(1);
  auto large = x > C::kLogOnly;
  V above = select(large, one, x) - one;
  V root = sqrt((above + above) + above * above);
  V y = select(large, log_of_twice(x), log1p(above + root));
  return select(x < one, V(std::numeric_limits<T>::quiet_NaN()), y);
}
template <class V>
GRAVEN_MODEL_FUNCTION V atanh(V x) {
  using T = ElementOf<V>;
  V size = abs(x);
  V y = log1p((size + size) / (T(1) - size));
  return copy_sign(T(0.5) * y, x);
}

// --- Angles of ratios.

// atan(top / bottom) for top, bottom >= 0: in [0, pi / 2]. One division: by an addition theorem
// the argument comes below tan(pi / 8).
template <class V>
GRAVEN_MODEL_FUNCTION V atan_of_ratio(V top, V bottom) {
  using T = ElementOf<V>;
  // pi / 4 and pi / 2, and their rounding errors.
  constexpr long double kQuarter = 0.785398163397448309615660845819875721L;
  constexpr T kHigh = static_cast<T>(kQuarter);
  constexpr T kLow = static_cast<T>(kQuarter - kHigh);
  auto above = top > bottom * T(2.414213562373095);
  auto middle = (!above) & (top > bottom * T(0.41421356237309503));
  V n = select(above, -bottom, top), m = select(above, top, bottom);
  V x = select(middle, n - m, n) / select(middle, n + m, m);
  V z = x * x;
  V high = select(above, V(T(2) * kHigh), select(middle, V(kHigh), V(0)));
  V low = select(above, V(T(2) * kLow), select(middle, V(kLow), V(0)));
  V rest = mul_add(x * z, polynomial(z, Coefficients<T>::kAtan), low);
  return high + (x + rest);
}
template <class V>
GRAVEN_MODEL_FUNCTION V atan(V x) {
  using T = ElementOf<V>;
  // Infinity would meet infinity in the sum of the middle range's test; pi / 2 is reached before.
  return copy_sign(atan_of_ratio(at_most(abs(x), T(0x1p60)), V(1)), x);
}
template <class V>
GRAVEN_MODEL_FUNCTION V atan2(V y, V x) {
  using T = ElementOf<V>;
  using Limits = std::numeric_limits<T>;
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  constexpr T kHigh = static_cast<T>(kPi), kLow = static_cast<T>(kPi - kHigh);
  const V one(1), zero(0), infinity(Limits::infinity());
  V top = abs(y), bottom = abs(x);
  // Scaled so that sums neither overflow nor vanish.
  auto huge = (top > Limits::max() / 8) | (bottom > Limits::max() / 8);
  auto tiny = (top < Limits::min() * 8) & (bottom < Limits::min() * 8);
  V scale = select(huge, V(T(0.125)), select(tiny, V(T(0x1p40)), one));
  // Two infinities are equal, and so are two zeros (0 / 1).
  auto both_infinite = (top == infinity) & (bottom == infinity);
  V t = select(both_infinite, one, top * scale);
  V b = select(both_infinite, one, bottom * scale);
  // One infinity: 1 / 0 or 0 / 1.
  auto t_infinite = t == infinity, b_infinite = b == infinity;
  t = select(t_infinite, one, select(b_infinite, zero, t));
  b = select(b_infinite, one, select(t_infinite, zero, b));
  b = select((t == zero) & (b == zero), one, b);
  V angle = atan_of_ratio(t, b);
  // The sign bit of x, as -0 is on the left.
  auto left = copy_sign(one, x) < zero;
  V mirrored = kHigh - (angle - kLow);
  angle = copy_sign(select(left, mirrored, angle), y);
  return select(is_nan(x) | is_nan(y), x + y, angle);
}

// asin(s) for s in [0, 1/2], or of s = sqrt((1 - |x|) / 2), by which the other half is reached.
template <class V>
GRAVEN_MODEL_FUNCTION V asin_inside(V s, V square) {
  return mul_add(s * square, polynomial(square, Coefficients<ElementOf<V>>::kAsin), s);
}
// The common part of asin and acos: |x| > 1/2, and asin_inside.
template <class V>
struct AsinParts {
  typename V::Mask outside;
  V inside;
};
template <class V>
GRAVEN_MODEL_FUNCTION AsinParts<V> asin_parts(V x) {
  using T = ElementOf<V>;
  V size = abs(x);
  auto outside = size > T(0.5);
  V square = select(outside, T(0.5) * (T(1) - size), size * size);
  V s = select(outside, sqrt(square), size);
  return {outside, asin_inside(s, square)};
}
template <typename T>
struct HalfPi {
  static constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  static constexpr T kHigh = static_cast<T>(kHalfPi), kLow = static_cast<T>(kHalfPi - kHigh);
};
template <class V>
GRAVEN_MODEL_FUNCTION V asin(V x) {
  using C = HalfPi<ElementOf<V>>;
  auto [outside, inside] = asin_parts(x);
  V mirrored = C::kHigh - ((inside + inside) - C::kLow);
  return copy_sign(select(outside, mirrored, inside), x);
}
template <class V>
GRAVEN_MODEL_FUNCTION V acos(V x) {
  using T = ElementOf<V>;
  using C = HalfPi<T>;
  auto [outside, inside] = asin_parts(x);
  V twice = inside + inside;
  V middle = C::kHigh - (copy_sign(inside, x) - C::kLow);
  V left = 2 * C::kHigh - (twice - 2 * C::kLow);
  V y = select(outside, select(x < T(0), left, twice), middle);
  return select(is_nan(x), x, y);
}

// --- Trigonometric functions.

// x = n pi / 2 + r, |r| <= pi / 4, for |x| < kTrigonometricLimit: pi / 2 in three parts, the first
// two of 33 bits (the split of FreeBSD's msun), so that their products with n are exact. Floats
// are reduced in double.
template <class V>
struct Reduced {
  V r, n, shifted;  // `shifted` has n in its lowest bits
};
template <class V>
GRAVEN_MODEL_FUNCTION Reduced<V> reduce_doubles(V x) {
  V shifted = mul_add(x, V(6.36619772367581382433e-01), V(0x1.8p52));
  V n = shifted - 0x1.8p52;
  V r = mul_add(n, V(-1.57079632673412561417e+00), x);
  V second = n * 6.07710050630396597660e-11;  // exact
  V next = r - second;
  V lost = (r - next) - second;
  r = next - (n * 2.02226624879595063154e-21 - lost);
  return {r, n, shifted};
}
struct RestOfReduction {
  template <class V>
  GRAVEN_MODEL_FUNCTION V operator()(V x) const {
    return reduce_doubles(x).r;
  }
};
struct QuartersOfReduction {
  template <class V>
  GRAVEN_MODEL_FUNCTION V operator()(V x) const {
    return reduce_doubles(x).n;
  }
};

template <class V>
struct Quadrant {
  V r;
  typename V::Bits n;  // right in its lowest bits
};
template <class V>
GRAVEN_MODEL_FUNCTION Quadrant<V> quadrant(V x) {
  if constexpr (sizeof(ElementOf<V>) == 8) {
    Reduced<V> reduced = reduce_doubles(x);
    return {reduced.r, bits(reduced.shifted)};
  } else {
    V n = in_double(QuartersOfReduction(), x);
    return {in_double(RestOfReduction(), x), bits(n + ElementaryConstants<float>::kMagic)};
  }
}

// Both at r; `cosine` sums 1 - z / 2 + ... and corrects the rounding error of 1 - z / 2.
template <class V>
GRAVEN_MODEL_FUNCTION V sine(V r, V z) {
  return mul_add(r * z, polynomial(z, Coefficients<ElementOf<V>>::kSin), r);
}
template <class V>
GRAVEN_MODEL_FUNCTION V cosine(V z) {
  using T = ElementOf<V>;
  const V one(1);
  V half = z * T(0.5);
  V first = one - half;
  V lost = (one - first) - half;
  return first + mul_add(z * z, polynomial(z, Coefficients<T>::kCos), lost);
}

template <class V>
GRAVEN_MODEL_FUNCTION typename V::Mask is_odd(typename V::Bits n) {
  const typename V::Bits one(1);
  return (n & one) == one;
}
template <class V>
GRAVEN_MODEL_FUNCTION V sin_or_cos(V x, int quarter) {
  using Bits = typename V::Bits;
  Quadrant<V> q = quadrant(x);
  Bits n = q.n + Bits(quarter);
  V z = q.r * q.r;
  V y = select(is_odd<V>(n), cosine(z), sine(q.r, z));
  // Bit 1 of n is the sign.
  Bits sign = shift_left<sizeof(ElementOf<V>) * 8 - 2>(n & Bits(2));
  return V::of_bits(bits(y) ^ sign);
}
template <class V>
GRAVEN_MODEL_FUNCTION typename V::Mask is_reduced(V x) {
  using T = ElementOf<V>;
  return abs(x) < T(kTrigonometricLimit);
}
template <class V>
GRAVEN_MODEL_FUNCTION V sin(V x) {
  using T = ElementOf<V>;
  V y = select(x == T(0), x, sin_or_cos(x, 0));  // -0
  return or_library<Instruction::kSinOfLarge>(is_reduced(x), y, x);
}
template <class V>
GRAVEN_MODEL_FUNCTION V cos(V x) {
  return or_library<Instruction::kCosOfLarge>(is_reduced(x), sin_or_cos(x, 1), x);
}
template <class V>
GRAVEN_MODEL_FUNCTION V tan(V x) {
  using T = ElementOf<V>;
  Quadrant<V> q = quadrant(x);
  V z = q.r * q.r;
  V s = sine(q.r, z), c = cosine(z);
  auto odd = is_odd<V>(q.n);
  V y = select(odd, -c, s) / select(odd, s, c);
  y = select(x == T(0), x, y);
  return or_library<Instruction::kTanOfLarge>(is_reduced(x), y, x);
}

// --- The error function.

// erfc(x) for x >= 0, or for floats x >= 1/2. The square is split, so that its rounding does not
// reach exp.
template <class V>
GRAVEN_MODEL_FUNCTION V erfc_of_positive(V x) {
  using T = ElementOf<V>;
  using Bits = typename V::Bits;
  constexpr bool kIsFloat = sizeof(T) == 4;
  V size = at_most(x, kIsFloat ? T(10.1) : T(28));
  V high = V::of_bits(bits(size) & Bits(kIsFloat ? ~0xfff : ~0x7ffffff));
  V low = (size - high) * (size + high);  // x^2 - high^2, below 1e-5, for floats below 1/12
  V series = T(0.5);
  V p = T(0);
  if constexpr (kIsFloat) {
    series = mul_add(low, mul_add(low, V(T(1.0 / 24)), V(T(-1.0 / 6))), series);
    V s = T(1) / (size + T(2));
    V t = mul_add(s, V(Coefficients<T>::kErfcScale), V(-Coefficients<T>::kErfcShift));
    p = s * polynomial(t, Coefficients<T>::kErfc);
  } else {
    series = mul_add(low, V(-1.0 / 6), series);
    V t = (size - 3.75) / (size + 3.75);
    p = polynomial(t, Coefficients<T>::kErfc) / (1.0 + (size + size));
  }
  V correction = low * mul_add(low, series, V(T(-1)));  // exp(-low) - 1
  return exp(-(high * high)) * mul_add(p, correction, p);
}
template <class V>
GRAVEN_MODEL_FUNCTION V erf_near_zero(V x) {
  return x * polynomial(x * x, Coefficients<ElementOf<V>>::kErf);
}
template <class V>
GRAVEN_MODEL_FUNCTION V erf(V x) {
  using T = ElementOf<V>;
  const V one(1);
  V size = abs(x), far = one;
  if constexpr (sizeof(T) == 4) {
    V inside = at_most(size, 4.0f);
    far = one - exp(inside * polynomial(inside, Coefficients<T>::kLogErfc));
  } else {
    far = one - erfc_of_positive(size);
  }
  V near = erf_near_zero(select(size > one, one, size));
  return select(size > one, copy_sign(far, x), copy_sign(near, x));
}

template <class V>
GRAVEN_MODEL_FUNCTION V erfc(V x) {
  using T = ElementOf<V>;
  V size = abs(x);
  V far = erfc_of_positive(size);
  far = select(x < T(0), T(2) - far, far);
  V near = T(1) - erf_near_zero(select(size > T(0.5), V(T(0.5)), x));
  return select(size > T(0.5), far, near);
}

// --- Powers of floats. Those of doubles are the C library's.

// |x|^y = exp(y log|x|) in double, which is enough for float results; then C's special cases.
struct PowInDouble {
  template <class V>
  GRAVEN_MODEL_FUNCTION V operator()(V x, V y) const {
    const V one(1), zero(0), infinity(std::numeric_limits<double>::infinity());
    V size = abs(x);
    V power = exp(y * log(size));
    auto is_whole = floor(y) == y;
    V half = y * 0.5;
    auto is_odd_number = is_whole & !(floor(half) == half);
    auto is_negative = copy_sign(one, x) < zero;
    power = select(is_odd_number & is_negative, -power, power);
    auto has_root = is_whole | (size == zero) | (size == infinity);
    power = select((!has_root) & (x < zero), V(std::numeric_limits<double>::quiet_NaN()), power);
    auto minus_one_to_infinity = (size == one) & (abs(y) == infinity);
    auto is_one = (y == zero) | (x == one) | minus_one_to_infinity;
    return select(is_one, one, power);
  }
};
template <class V>
GRAVEN_MODEL_FUNCTION V pow(V x, V y) {
  static_assert(sizeof(ElementOf<V>) == 4);
  return in_double(PowInDouble(), x, y);
}

}  // namespace
}  // namespace graven::engine::GRAVEN_MODEL_NAMESPACE
