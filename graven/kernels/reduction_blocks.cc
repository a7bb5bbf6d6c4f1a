// Folding a block of values into one, in the fixed order that block_functions.h states.
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/reduction_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

template <Instruction kInstruction, typename T>
T combine(T a, T b) {
  using U = std::conditional_t<std::is_floating_point_v<T>, T,
                               std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>>;
  switch (kInstruction) {
    case Instruction::kAdd:
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case Instruction::kMul:
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case Instruction::kMin:
      return a < b || a != a ? a : b;
    case Instruction::kMax:
      return a > b || a != a ? a : b;
    default:
      if constexpr (!std::is_floating_point_v<T>) {
        return static_cast<T>(kInstruction == Instruction::kAnd ? a & b : a | b);
      }
      return a;
  }
}

// The last values, of which there are a power of two: by loops of fixed length, which become
// instructions on parts of a vector.
template <Instruction kInstruction, int64_t kHalf, typename T>
void fold_last(T* sums) {
  for (int64_t i = 0; i < kHalf; ++i) sums[i] = combine<kInstruction>(sums[i], sums[i + kHalf]);
  if constexpr (kHalf > 1) fold_last<kInstruction, kHalf / 2>(sums);
}

template <Instruction kInstruction, typename T>
void fold(void* out, const void* values, int64_t n) {
  const T* x = static_cast<const T*>(values);
  alignas(64) T sums[kBlockElements / 2];
  if (n == 1) {
    std::memcpy(out, x, sizeof(T));
    return;
  }
  int64_t half = 1;
  while (half * 2 < n) half *= 2;
#pragma GCC ivdep
  for (int64_t i = 0; i < n - half; ++i) sums[i] = combine<kInstruction>(x[i], x[i + half]);
  if (n - half < half) std::memcpy(sums + (n - half), x + (n - half), (2 * half - n) * sizeof(T));
  while (half >= 32) {
    half /= 2;
#pragma GCC ivdep
    for (int64_t i = 0; i < half; ++i) sums[i] = combine<kInstruction>(sums[i], sums[i + half]);
  }
  switch (half) {
    case 16:
      fold_last<kInstruction, 8>(sums);
      break;
    case 8:
      fold_last<kInstruction, 4>(sums);
      break;
    case 4:
      fold_last<kInstruction, 2>(sums);
      break;
    case 2:
      fold_last<kInstruction, 1>(sums);
      break;
    default:
      break;
  }
  std::memcpy(out, sums, sizeof(T));
}

template <typename T>
FoldFunction of(Instruction instruction) {
  switch (instruction) {
    case Instruction::kAdd:
      return fold<Instruction::kAdd, T>;
    case Instruction::kMul:
      return fold<Instruction::kMul, T>;
    case Instruction::kMin:
      return fold<Instruction::kMin, T>;
    case Instruction::kMax:
      return fold<Instruction::kMax, T>;
    case Instruction::kAnd:
      return std::is_floating_point_v<T> ? nullptr : fold<Instruction::kAnd, T>;
    case Instruction::kOr:
      return std::is_floating_point_v<T> ? nullptr : fold<Instruction::kOr, T>;
    default:
      return nullptr;
  }
}

FoldFunction find(Instruction instruction, DType type) {
  switch (type) {
    case DType::kFloat32:
      return of<float>(instruction);
    case DType::kFloat64:
      return of<double>(instruction);
    case DType::kInt8:
      return of<int8_t>(instruction);
    case DType::kInt16:
      return of<int16_t>(instruction);
    case DType::kInt32:
      return of<int32_t>(instruction);
    case DType::kInt64:
      return of<int64_t>(instruction);
    case DType::kBool:
      if (instruction == Instruction::kAdd || instruction == Instruction::kMul) return nullptr;
      return of<uint8_t>(instruction);
    case DType::kUInt8:
      return of<uint8_t>(instruction);
    case DType::kUInt16:
      return of<uint16_t>(instruction);
    case DType::kUInt32:
      return of<uint32_t>(instruction);
    case DType::kUInt64:
      return of<uint64_t>(instruction);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
FoldFunction fold_function(Instruction instruction, DType type) {
  return GRAVEN_SIMD_DISPATCH(find)(instruction, type);
}
}  // namespace graven::engine
#endif
