// Comparisons, whose results are bools (a byte, 0 or 1), and selection by a bool.
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/comparison_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// kIsOne: n is 1.
template <Instruction kInstruction, typename T, bool kIsOne>
void compare(void* out, const void* a, const void* b, const void*, int64_t n) {
  uint8_t* o = static_cast<uint8_t*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
#pragma GCC ivdep
  for (int64_t i = 0; i < (kIsOne ? 1 : n); ++i) {
    if constexpr (kInstruction == Instruction::kEqual) o[i] = x[i] == y[i];
    if constexpr (kInstruction == Instruction::kNotEqual) o[i] = x[i] != y[i];
    if constexpr (kInstruction == Instruction::kLess) o[i] = x[i] < y[i];
    if constexpr (kInstruction == Instruction::kLessEqual) o[i] = x[i] <= y[i];
  }
}

template <Instruction kInstruction, typename T>
void classify(void* out, const void* a, const void*, const void*, int64_t n) {
  uint8_t* o = static_cast<uint8_t*>(out);
  const T* x = static_cast<const T*>(a);
  constexpr T kHighest = std::numeric_limits<T>::max();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    T magnitude = x[i] < 0 ? -x[i] : x[i];
    if constexpr (kInstruction == Instruction::kIsNan) o[i] = x[i] != x[i];
    if constexpr (kInstruction == Instruction::kIsInf) o[i] = magnitude > kHighest;
    if constexpr (kInstruction == Instruction::kIsFinite) o[i] = magnitude <= kHighest;
  }
}

template <typename T, bool kIsOne>
void select(void* out, const void* a, const void* b, const void* c, int64_t n) {
  T* o = static_cast<T*>(out);
  const uint8_t* condition = static_cast<const uint8_t*>(a);
  const T* x = static_cast<const T*>(b);
  const T* y = static_cast<const T*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < (kIsOne ? 1 : n); ++i) {
    T if_true = x[i], if_false = y[i];
    o[i] = condition[i] ? if_true : if_false;
  }
}

void any(void* out, const void* a, const void*, const void*, int64_t n) {
  const uint8_t* x = static_cast<const uint8_t*>(a);
  uint8_t found = 0;
  for (int64_t i = 0; i < n; ++i) found |= x[i];
  *static_cast<uint8_t*>(out) |= found;
}

template <typename T, bool kIsOne>
BlockFunction of_anything(Instruction instruction) {
  switch (instruction) {
    case Instruction::kEqual:
      return compare<Instruction::kEqual, T, kIsOne>;
    case Instruction::kNotEqual:
      return compare<Instruction::kNotEqual, T, kIsOne>;
    case Instruction::kLess:
      return compare<Instruction::kLess, T, kIsOne>;
    case Instruction::kLessEqual:
      return compare<Instruction::kLessEqual, T, kIsOne>;
    default:
      return nullptr;
  }
}

template <typename T, bool kIsOne>
BlockFunction of_floats(Instruction instruction) {
  switch (instruction) {
    case Instruction::kIsNan:
      return classify<Instruction::kIsNan, T>;
    case Instruction::kIsInf:
      return classify<Instruction::kIsInf, T>;
    case Instruction::kIsFinite:
      return classify<Instruction::kIsFinite, T>;
    default:
      return of_anything<T, kIsOne>(instruction);
  }
}

template <bool kIsOne>
BlockFunction find(Instruction instruction, DType type) {
  switch (type) {
    case DType::kFloat32:
      return of_floats<float, kIsOne>(instruction);
    case DType::kFloat64:
      return of_floats<double, kIsOne>(instruction);
    case DType::kInt8:
      return of_anything<int8_t, kIsOne>(instruction);
    case DType::kInt16:
      return of_anything<int16_t, kIsOne>(instruction);
    case DType::kInt32:
      return of_anything<int32_t, kIsOne>(instruction);
    case DType::kInt64:
      return of_anything<int64_t, kIsOne>(instruction);
    case DType::kBool:
    case DType::kUInt8:
      return of_anything<uint8_t, kIsOne>(instruction);
    case DType::kUInt16:
      return of_anything<uint16_t, kIsOne>(instruction);
    case DType::kUInt32:
      return of_anything<uint32_t, kIsOne>(instruction);
    case DType::kUInt64:
      return of_anything<uint64_t, kIsOne>(instruction);
    default:
      return nullptr;
  }
}

template <bool kIsOne>
BlockFunction select_of(size_t element_size) {
  switch (element_size) {
    case 1:
      return select<uint8_t, kIsOne>;
    case 2:
      return select<uint16_t, kIsOne>;
    case 4:
      return select<uint32_t, kIsOne>;
    default:
      return select<uint64_t, kIsOne>;
  }
}

BlockFunction find_loop(Instruction instruction, DType type) {
  return find<false>(instruction, type);
}
BlockFunction find_one(Instruction instruction, DType type) {
  return find<true>(instruction, type);
}
BlockFunction find_select(size_t element_size) { return select_of<false>(element_size); }
BlockFunction find_select_of_one(size_t element_size) { return select_of<true>(element_size); }
BlockFunction find_any() { return any; }

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction comparison_function(Instruction instruction, DType operand_type) {
  return GRAVEN_SIMD_DISPATCH(find_loop)(instruction, operand_type);
}
BlockFunction comparison_function_of_one(Instruction instruction, DType operand_type) {
  return GRAVEN_SIMD_DISPATCH(find_one)(instruction, operand_type);
}
BlockFunction select_function(size_t element_size) {
  return GRAVEN_SIMD_DISPATCH(find_select)(element_size);
}
BlockFunction select_function_of_one(size_t element_size) {
  return GRAVEN_SIMD_DISPATCH(find_select_of_one)(element_size);
}
BlockFunction any_function() { return GRAVEN_SIMD_DISPATCH(find_any)(); }
}  // namespace graven::engine
#endif
