// Elementary and special functions of floats.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/math_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/highway_model-inl.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// Whole vectors, then the rest in a vector that is filled up with zeros: so the result of an
// element does not depend on where it stands.
template <typename T, typename Function>
HWY_INLINE void vector_loop(void* out, const void* a, int64_t n, Function function) {
  using D = hn::ScalableTag<T>;
  using V = Vector<D>;
  const D d;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(function(V(hn::LoadU(d, x + i))).v, d, o + i);
  if (i < n) store_some(function(load_some(d, x + i, n - i)), d, o + i, n - i);
}
template <typename T, typename Function>
HWY_INLINE void vector_loop(void* out, const void* a, const void* b, int64_t n, Function function) {
  using D = hn::ScalableTag<T>;
  using V = Vector<D>;
  const D d;
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(function(V(hn::LoadU(d, x + i)), V(hn::LoadU(d, y + i))).v, d, o + i);
  }
  if (i == n) return;
  store_some(function(load_some(d, x + i, n - i), load_some(d, y + i, n - i)), d, o + i, n - i);
}

#define GRAVEN_VECTOR_FUNCTION(Name, name)                                           \
  template <typename T>                                                              \
  void name##_block(void* out, const void* a, const void*, const void*, int64_t n) { \
    vector_loop<T>(out, a, n, [](auto x) HWY_ATTR { return name(x); });              \
  }
GRAVEN_FUNCTIONS_OF_ONE(GRAVEN_VECTOR_FUNCTION)
#undef GRAVEN_VECTOR_FUNCTION

template <typename T>
void atan2_block(void* out, const void* a, const void* b, const void*, int64_t n) {
  vector_loop<T>(out, a, b, n, [](auto y, auto x) HWY_ATTR { return atan2(y, x); });
}
// The first and the second power, which programs and their gradients ask for most, are the element
// and one product, wherever they stand.
template <typename V>
HWY_INLINE V float_pow(V x, V y) {
  const hn::DFromV<decltype(x.v)> d;
  const auto is_first = hn::Eq(y.v, hn::Set(d, 1.0f));
  const auto is_easy = hn::Or(is_first, hn::Eq(y.v, hn::Set(d, 2.0f)));
  const V easy(hn::IfThenElse(is_first, x.v, hn::Mul(x.v, x.v)));
  if (hn::AllTrue(d, is_easy)) return easy;
  return V(hn::IfThenElse(is_easy, easy.v, pow(x, y).v));
}
void pow_float_block(void* out, const void* a, const void* b, const void*, int64_t n) {
  vector_loop<float>(out, a, b, n, [](auto x, auto y) HWY_ATTR { return float_pow(x, y); });
}
void pow_double_block(void* out, const void* a, const void* b, const void*, int64_t n) {
  double* o = static_cast<double*>(out);
  const double* x = static_cast<const double*>(a);
  const double* y = static_cast<const double*>(b);
  for (int64_t i = 0; i < n; ++i) {
    o[i] = y[i] == 2 ? x[i] * x[i] : y[i] == 1 ? x[i] : std::pow(x[i], y[i]);
  }
}

// The C library's result for rare arguments; see Instruction.
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
#define GRAVEN_CASE(Name, name) \
  case Instruction::Name:       \
    return name##_block<T>;
    GRAVEN_FUNCTIONS_OF_ONE(GRAVEN_CASE)
#undef GRAVEN_CASE
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
