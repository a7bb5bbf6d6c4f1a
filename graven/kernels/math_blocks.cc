// Elementary and special functions of floats.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/math_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/elementary_functions.h"
#include "graven/kernels/simd_target.h"
#include "graven/kernels/special_functions-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// Whole vectors, then the rest in a vector that is filled up with zeros: so the result of an
// element does not depend on where it stands.
template <typename T, typename Function>
HWY_INLINE void vector_loop(void* out, const void* a, int64_t n, Function function) {
  const hn::ScalableTag<T> d;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(function(d, hn::LoadU(d, x + i)), d, o + i);
  if (i == n) return;
  HWY_ALIGN T rest[kLanes] = {};
  for (int64_t k = i; k < n; ++k) rest[k - i] = x[k];
  hn::Store(function(d, hn::Load(d, rest)), d, rest);
  for (int64_t k = i; k < n; ++k) o[k] = rest[k - i];
}
template <typename T, typename Function>
HWY_INLINE void vector_loop(void* out, const void* a, const void* b, int64_t n, Function function) {
  const hn::ScalableTag<T> d;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(function(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, o + i);
  }
  if (i == n) return;
  HWY_ALIGN T rest[kLanes] = {}, other[kLanes] = {};
  for (int64_t k = i; k < n; ++k) rest[k - i] = x[k], other[k - i] = y[k];
  hn::Store(function(d, hn::Load(d, rest), hn::Load(d, other)), d, rest);
  for (int64_t k = i; k < n; ++k) o[k] = rest[k - i];
}

// A function of doubles, for floats: on both halves of a vector.
template <class D, class V, typename Function>
HWY_INLINE V through_doubles(D d, V x, Function function) {
  const hn::Half<D> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  auto low = function(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)));
  auto high = function(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)));
  return hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
}
template <class D, class V, typename Function>
HWY_INLINE V through_doubles(D d, V x, V y, Function function) {
  const hn::Half<D> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  auto low = function(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)),
                      hn::PromoteTo(dd, hn::LowerHalf(dh, y)));
  auto high = function(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)),
                       hn::PromoteTo(dd, hn::UpperHalf(dh, y)));
  return hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
}

#define GRAVEN_VECTOR_FUNCTION(name)                                                 \
  template <typename T>                                                              \
  void name##_block(void* out, const void* a, const void*, const void*, int64_t n) { \
    vector_loop<T>(out, a, n, [](auto d, auto x) HWY_ATTR { return name(d, x); });   \
  }
GRAVEN_VECTOR_FUNCTION(exp)
GRAVEN_VECTOR_FUNCTION(expm1)
GRAVEN_VECTOR_FUNCTION(log)
GRAVEN_VECTOR_FUNCTION(log1p)
GRAVEN_VECTOR_FUNCTION(sin)
GRAVEN_VECTOR_FUNCTION(cos)
GRAVEN_VECTOR_FUNCTION(tan)
GRAVEN_VECTOR_FUNCTION(asin)
GRAVEN_VECTOR_FUNCTION(acos)
GRAVEN_VECTOR_FUNCTION(atan)
GRAVEN_VECTOR_FUNCTION(sinh)
GRAVEN_VECTOR_FUNCTION(cosh)
GRAVEN_VECTOR_FUNCTION(tanh)
GRAVEN_VECTOR_FUNCTION(asinh)
GRAVEN_VECTOR_FUNCTION(acosh)
GRAVEN_VECTOR_FUNCTION(atanh)
GRAVEN_VECTOR_FUNCTION(sigmoid)
GRAVEN_VECTOR_FUNCTION(softplus)
GRAVEN_VECTOR_FUNCTION(erf)
#undef GRAVEN_VECTOR_FUNCTION

// Functions that are computed in double, for floats too.
#define GRAVEN_DOUBLE_FUNCTION(name)                                                        \
  template <typename T>                                                                     \
  void name##_block(void* out, const void* a, const void*, const void*, int64_t n) {        \
    vector_loop<T>(out, a, n, [](auto d, auto x) HWY_ATTR {                                 \
      if constexpr (sizeof(T) == 8) {                                                       \
        return name(d, x);                                                                  \
      } else {                                                                              \
        return through_doubles(d, x, [](auto dd, auto v) HWY_ATTR { return name(dd, v); }); \
      }                                                                                     \
    });                                                                                     \
  }
GRAVEN_DOUBLE_FUNCTION(erfc)
GRAVEN_DOUBLE_FUNCTION(erfinv)
GRAVEN_DOUBLE_FUNCTION(ndtri)
GRAVEN_DOUBLE_FUNCTION(log_gamma)
#undef GRAVEN_DOUBLE_FUNCTION

template <typename T>
void digamma_block(void* out, const void* a, const void*, const void*, int64_t n) {
  vector_loop<T>(out, a, n, [](auto d, auto x) HWY_ATTR {
    if constexpr (sizeof(T) == 8) {
      return digamma(d, x, 10.0);
    } else {
      return through_doubles(d, x, [](auto dd, auto v) HWY_ATTR { return digamma(dd, v, 6.0); });
    }
  });
}
template <typename T>
void atan2_block(void* out, const void* a, const void* b, const void*, int64_t n) {
  vector_loop<T>(out, a, b, n, [](auto d, auto y, auto x) HWY_ATTR { return atan2(d, y, x); });
}
void pow_float_block(void* out, const void* a, const void* b, const void*, int64_t n) {
  vector_loop<float>(out, a, b, n, [](auto d, auto x, auto y) HWY_ATTR {
    return through_doubles(
        d, x, y, [](auto dd, auto v, auto w) HWY_ATTR { return pow_for_floats(dd, v, w); });
  });
}

void pow_double_block(void* out, const void* a, const void* b, const void*, int64_t n) {
  double* o = static_cast<double*>(out);
  const double* x = static_cast<const double*>(a);
  const double* y = static_cast<const double*>(b);
  for (int64_t i = 0; i < n; ++i) o[i] = std::pow(x[i], y[i]);
}

// What is rarely asked of the C library; see Instruction.
template <double (*kFunction)(double), bool (*kIsAsked)(double)>
void rare_block(void* out, const void* a, const void*, const void*, int64_t n) {
  double* o = static_cast<double*>(out);
  const double* x = static_cast<const double*>(a);
  for (int64_t i = 0; i < n; ++i) o[i] = kIsAsked(x[i]) ? kFunction(x[i]) : 0;
}
bool is_large(double x) { return !(std::fabs(x) < kTrigonometricLimit); }
bool is_not_positive(double x) { return !(x > 0); }
bool is_not_inside(double x) { return !(x > 0 && x < HUGE_VAL); }

BlockFunction of_doubles_alone(Instruction instruction) {
  switch (instruction) {
    case Instruction::kSinOfLarge:
      return rare_block<std::sin, is_large>;
    case Instruction::kCosOfLarge:
      return rare_block<std::cos, is_large>;
    case Instruction::kTanOfLarge:
      return rare_block<std::tan, is_large>;
    case Instruction::kLgammaOfOthers:
      return rare_block<lgamma_of_magnitude, is_not_inside>;
    case Instruction::kDigammaOfOthers:
      return rare_block<engine::digamma, is_not_positive>;
    default:
      return nullptr;
  }
}

template <typename T>
BlockFunction of(Instruction instruction) {
  switch (instruction) {
    case Instruction::kExp:
      return exp_block<T>;
    case Instruction::kExpm1:
      return expm1_block<T>;
    case Instruction::kLog:
      return log_block<T>;
    case Instruction::kLog1p:
      return log1p_block<T>;
    case Instruction::kSin:
      return sin_block<T>;
    case Instruction::kCos:
      return cos_block<T>;
    case Instruction::kTan:
      return tan_block<T>;
    case Instruction::kAsin:
      return asin_block<T>;
    case Instruction::kAcos:
      return acos_block<T>;
    case Instruction::kAtan:
      return atan_block<T>;
    case Instruction::kSinh:
      return sinh_block<T>;
    case Instruction::kCosh:
      return cosh_block<T>;
    case Instruction::kTanh:
      return tanh_block<T>;
    case Instruction::kAsinh:
      return asinh_block<T>;
    case Instruction::kAcosh:
      return acosh_block<T>;
    case Instruction::kAtanh:
      return atanh_block<T>;
    case Instruction::kSigmoid:
      return sigmoid_block<T>;
    case Instruction::kSoftplus:
      return softplus_block<T>;
    case Instruction::kErf:
      return erf_block<T>;
    case Instruction::kErfc:
      return erfc_block<T>;
    case Instruction::kErfinv:
      return erfinv_block<T>;
    case Instruction::kNdtri:
      return ndtri_block<T>;
    case Instruction::kLgamma:
      return log_gamma_block<T>;
    case Instruction::kDigamma:
      return digamma_block<T>;
    case Instruction::kAtan2:
      return atan2_block<T>;
    case Instruction::kPow:
      return sizeof(T) == 4 ? pow_float_block : pow_double_block;
    default:
      return sizeof(T) == 8 ? of_doubles_alone(instruction) : nullptr;
  }
}

BlockFunction find(Instruction instruction, DType type) {
  if (type == DType::kFloat32) return of<float>(instruction);
  if (type == DType::kFloat64) return of<double>(instruction);
  return nullptr;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction math_function(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find)(instruction, type);
}
}  // namespace graven::engine
#endif
