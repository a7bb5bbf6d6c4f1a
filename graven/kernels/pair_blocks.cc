// Two instructions in one loop: a sum, difference or product with another as one operand, so that
// the result of the first stays in the processor. The bits are those of two loops.
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/pair_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// Integers wrap around.
template <typename T>
using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

template <Instruction kInstruction, typename T>
T combine(T a, T b) {
  using U = Unsigned<T>;
  const U x = static_cast<U>(a), y = static_cast<U>(b);
  if constexpr (kInstruction == Instruction::kAdd) return static_cast<T>(x + y);
  if constexpr (kInstruction == Instruction::kSub) return static_cast<T>(x - y);
  if constexpr (kInstruction == Instruction::kMul) return static_cast<T>(x * y);
}

template <Instruction kFirst, Instruction kSecond, PairForm kForm, typename T>
void pair_loop(void* out, const void* a, const void* b, const void* c, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T first = combine<kFirst>(x[i], y[i]);
    if constexpr (kForm == PairForm::kLeft) o[i] = combine<kSecond>(first, z[i]);
    if constexpr (kForm == PairForm::kRight) o[i] = combine<kSecond>(z[i], first);
    if constexpr (kForm == PairForm::kBoth) o[i] = combine<kSecond>(first, first);
  }
}

template <Instruction kFirst, Instruction kSecond, typename T>
BlockFunction of_form(PairForm form) {
  switch (form) {
    case PairForm::kLeft:
      return pair_loop<kFirst, kSecond, PairForm::kLeft, T>;
    case PairForm::kRight:
      return pair_loop<kFirst, kSecond, PairForm::kRight, T>;
    case PairForm::kBoth:
      return pair_loop<kFirst, kSecond, PairForm::kBoth, T>;
  }
  return nullptr;
}

template <Instruction kFirst, typename T>
BlockFunction of_second(Instruction second, PairForm form) {
  switch (second) {
    case Instruction::kAdd:
      return of_form<kFirst, Instruction::kAdd, T>(form);
    case Instruction::kSub:
      return of_form<kFirst, Instruction::kSub, T>(form);
    case Instruction::kMul:
      return of_form<kFirst, Instruction::kMul, T>(form);
    default:
      return nullptr;
  }
}

template <typename T>
BlockFunction of_type(Instruction first, Instruction second, PairForm form) {
  switch (first) {
    case Instruction::kAdd:
      return of_second<Instruction::kAdd, T>(second, form);
    case Instruction::kSub:
      return of_second<Instruction::kSub, T>(second, form);
    case Instruction::kMul:
      return of_second<Instruction::kMul, T>(second, form);
    default:
      return nullptr;
  }
}

BlockFunction find(Instruction first, Instruction second, PairForm form, DType type) {
  switch (type) {
    case DType::kFloat32:
      return of_type<float>(first, second, form);
    case DType::kFloat64:
      return of_type<double>(first, second, form);
    case DType::kInt32:
      return of_type<int32_t>(first, second, form);
    case DType::kInt64:
      return of_type<int64_t>(first, second, form);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction pair_function(Instruction first, Instruction second, PairForm form, DType type) {
  return GRAVEN_SIMD_DISPATCH(find)(first, second, form, type);
}
}  // namespace graven::engine
#endif
