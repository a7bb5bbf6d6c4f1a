// Vectors of Highway as a model of graven/expr/elementary_functions-inl.h, and the elementary and
// special functions over them.
//
// Included by sources that are compiled once for each SIMD target, with a guard that toggles.
#if defined(GRAVEN_HIGHWAY_MODEL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAVEN_HIGHWAY_MODEL
#undef GRAVEN_HIGHWAY_MODEL
#else
#define GRAVEN_HIGHWAY_MODEL
#endif

// Headers that the formulas need are included before, because they are compiled for no special
// target.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "graven/expr/elementary_coefficients.h"
#include "graven/expr/expression.h"
#include "graven/kernels/special_functions.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): each source that includes it has its own copy
namespace hn = hwy::HWY_NAMESPACE;

// Integers of the size of D's elements.
template <class D>
struct Bits {
  using DI = hn::RebindToSigned<D>;
  using Int = hn::TFromD<DI>;
  hn::Vec<DI> v;

  HWY_INLINE explicit Bits(hn::Vec<DI> vector) : v(vector) {}
  HWY_INLINE explicit Bits(Int value) : v(hn::Set(DI(), value)) {}
  friend HWY_INLINE Bits operator+(Bits a, Bits b) { return Bits(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Bits operator-(Bits a, Bits b) { return Bits(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Bits operator&(Bits a, Bits b) { return Bits(hn::And(a.v, b.v)); }
  friend HWY_INLINE Bits operator^(Bits a, Bits b) { return Bits(hn::Xor(a.v, b.v)); }
};
template <int kBits, class D>
HWY_INLINE Bits<D> shift_left(Bits<D> a) {
  return Bits<D>(hn::ShiftLeft<kBits>(a.v));
}
template <int kBits, class D>
HWY_INLINE Bits<D> shift_right(Bits<D> a) {
  return Bits<D>(hn::ShiftRight<kBits>(a.v));
}

template <class D>
struct Mask {
  hn::Mask<D> m;
  friend HWY_INLINE Mask operator&(Mask a, Mask b) { return {hn::And(a.m, b.m)}; }
  friend HWY_INLINE Mask operator|(Mask a, Mask b) { return {hn::Or(a.m, b.m)}; }
  friend HWY_INLINE Mask operator!(Mask a) { return {hn::Not(a.m)}; }
};
template <class D>
HWY_INLINE Mask<D> operator==(Bits<D> a, Bits<D> b) {
  return {hn::RebindMask(D(), hn::Eq(a.v, b.v))};
}
template <class D>
HWY_INLINE bool may_hold(Mask<D> mask) {
  return !hn::AllFalse(D(), mask.m);
}

template <class D>
struct Vector {
  using Element = hn::TFromD<D>;
  using Bits = HWY_NAMESPACE::Bits<D>;
  using Mask = HWY_NAMESPACE::Mask<D>;
  hn::Vec<D> v;

  HWY_INLINE explicit Vector(hn::Vec<D> vector) : v(vector) {}
  HWY_INLINE Vector(Element value) : v(hn::Set(D(), value)) {}  // NOLINT: T(1) + x
  static HWY_INLINE Vector of_bits(Bits n) { return Vector(hn::BitCast(D(), n.v)); }
  static HWY_INLINE Vector of_integer(Bits n) { return Vector(hn::ConvertTo(D(), n.v)); }

  friend HWY_INLINE Vector operator-(Vector a) { return Vector(hn::Neg(a.v)); }
  friend HWY_INLINE Vector operator+(Vector a, Vector b) { return Vector(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Vector operator-(Vector a, Vector b) { return Vector(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Vector operator*(Vector a, Vector b) { return Vector(hn::Mul(a.v, b.v)); }
  friend HWY_INLINE Vector operator/(Vector a, Vector b) { return Vector(hn::Div(a.v, b.v)); }
  friend HWY_INLINE Mask operator<(Vector a, Vector b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator<=(Vector a, Vector b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>(Vector a, Vector b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>=(Vector a, Vector b) { return {hn::Ge(a.v, b.v)}; }
  friend HWY_INLINE Mask operator==(Vector a, Vector b) { return {hn::Eq(a.v, b.v)}; }
  friend HWY_INLINE Mask is_nan(Vector a) { return {hn::IsNaN(a.v)}; }
  friend HWY_INLINE Vector mul_add(Vector a, Vector b, Vector c) {
    return Vector(hn::MulAdd(a.v, b.v, c.v));
  }
  friend HWY_INLINE Vector sqrt(Vector a) { return Vector(hn::Sqrt(a.v)); }
  friend HWY_INLINE Vector floor(Vector a) { return Vector(hn::Floor(a.v)); }
  friend HWY_INLINE Vector abs(Vector a) { return Vector(hn::Abs(a.v)); }
  friend HWY_INLINE Vector copy_sign(Vector size, Vector sign) {
    return Vector(hn::CopySign(size.v, sign.v));
  }
  friend HWY_INLINE Vector select(Mask mask, Vector a, Vector b) {
    return Vector(hn::IfThenElse(mask.m, a.v, b.v));
  }
  friend HWY_INLINE Bits bits(Vector a) { return Bits(hn::BitCast(typename Bits::DI(), a.v)); }
};

// Fewer elements than a vector has, and zeros.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE Vector<D> load_some(D d, const T* from, int64_t n) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T some[hn::MaxLanes(d)] = {};
  for (int64_t i = 0; i < n; ++i) some[i] = from[i];
  return Vector<D>(hn::Load(d, some));
#else
  return Vector<D>(hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, from));
#endif
}
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void store_some(Vector<D> x, D d, T* to, int64_t n) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T some[hn::MaxLanes(d)];
  hn::Store(x.v, d, some);
  for (int64_t i = 0; i < n; ++i) to[i] = some[i];
#else
  hn::BlendedStore(x.v, hn::FirstN(d, static_cast<size_t>(n)), d, to);
#endif
}

// On both halves of a vector of floats.
template <class D>
using Doubles = Vector<hn::Rebind<double, hn::Half<D>>>;
template <class D>
HWY_INLINE Doubles<D> lower_doubles(Vector<D> x) {
  const hn::Half<D> dh;
  return Doubles<D>(hn::PromoteTo(hn::Rebind<double, hn::Half<D>>(), hn::LowerHalf(dh, x.v)));
}
template <class D>
HWY_INLINE Doubles<D> upper_doubles(Vector<D> x) {
  const hn::Half<D> dh;
  return Doubles<D>(hn::PromoteTo(hn::Rebind<double, hn::Half<D>>(), hn::UpperHalf(dh, x.v)));
}
template <typename Function, class D, class... More>
HWY_INLINE Vector<D> in_double(Function function, Vector<D> x, More... more) {
  const hn::Half<D> dh;
  auto low = function(lower_doubles(x), lower_doubles(more)...);
  auto high = function(upper_doubles(x), upper_doubles(more)...);
  return Vector<D>(hn::Combine(D(), hn::DemoteTo(dh, high.v), hn::DemoteTo(dh, low.v)));
}

// The C library's result for arguments that an instruction leaves to it.
template <Instruction kInstruction>
double library_function(double x) {
  if constexpr (kInstruction == Instruction::kSinOfLarge) return std::sin(x);
  if constexpr (kInstruction == Instruction::kCosOfLarge) return std::cos(x);
  if constexpr (kInstruction == Instruction::kTanOfLarge) return std::tan(x);
  if constexpr (kInstruction == Instruction::kLgammaOfOthers) return lgamma_of_magnitude(x);
  if constexpr (kInstruction == Instruction::kDigammaOfOthers) return engine::digamma(x);
}
// Lanes outside of the mask are computed one by one.
template <Instruction kInstruction, class D>
HWY_INLINE Vector<D> or_library(Mask<D> inside, Vector<D> y, Vector<D> x) {
  using T = hn::TFromD<D>;
  const D d;
  if (HWY_LIKELY(hn::AllTrue(d, inside.m))) return y;
  HWY_ALIGN T from[hn::MaxLanes(d)], to[hn::MaxLanes(d)], is_inside[hn::MaxLanes(d)];
  hn::Store(x.v, d, from);
  hn::Store(y.v, d, to);
  hn::Store(hn::IfThenElseZero(inside.m, hn::Set(d, T(1))), d, is_inside);
  for (size_t i = 0; i < hn::MaxLanes(d); ++i) {
    if (is_inside[i] == 0) {
      to[i] = static_cast<T>(library_function<kInstruction>(static_cast<double>(from[i])));
    }
  }
  return Vector<D>(hn::Load(d, to));
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE

#define GRAVEN_MODEL_NAMESPACE HWY_NAMESPACE
#define GRAVEN_MODEL_FUNCTION HWY_INLINE
#include "graven/expr/elementary_functions-inl.h"
#include "graven/expr/special_functions-inl.h"
#undef GRAVEN_MODEL_NAMESPACE
#undef GRAVEN_MODEL_FUNCTION
#undef GRAVEN_IN_DOUBLE
HWY_AFTER_NAMESPACE();

#endif  // toggle
