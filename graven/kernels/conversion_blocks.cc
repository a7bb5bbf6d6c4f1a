// Conversions between computing types, and rounding to the precision of half and bfloat16.
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/conversion_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// The conversion of Instruction::kCast: the machine's conversion to 32 or 64 bits, then cut.
template <typename To, typename From>
To convert(From x) {
  if constexpr (!std::is_floating_point_v<From> || std::is_floating_point_v<To>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    constexpr From kHalf = 0x1p63;
    bool high = x >= kHalf;
    uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(high ? x - kHalf : x));
    return high ? bits ^ uint64_t { 1 } << 63 : bits;
  } else if constexpr (std::is_same_v<To, uint32_t>) {
    return static_cast<uint32_t>(static_cast<int64_t>(x));
  } else if constexpr (sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <typename To, typename From>
void cast(void* out, const void* a, const void*, const void*, int64_t n) {
  To* o = static_cast<To*>(out);
  const From* x = static_cast<const From*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = convert<To, From>(x[i]);
}

template <typename From>
void cast_to_bool(void* out, const void* a, const void*, const void*, int64_t n) {
  uint8_t* o = static_cast<uint8_t*>(out);
  const From* x = static_cast<const From*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = x[i] != 0;
}

template <typename From>
BlockFunction cast_from(DType to) {
  switch (to) {
    case DType::kFloat32:
      return cast<float, From>;
    case DType::kFloat64:
      return cast<double, From>;
    case DType::kInt8:
      return cast<int8_t, From>;
    case DType::kInt16:
      return cast<int16_t, From>;
    case DType::kInt32:
      return cast<int32_t, From>;
    case DType::kInt64:
      return cast<int64_t, From>;
    case DType::kUInt8:
      return cast<uint8_t, From>;
    case DType::kUInt16:
      return cast<uint16_t, From>;
    case DType::kUInt32:
      return cast<uint32_t, From>;
    case DType::kUInt64:
      return cast<uint64_t, From>;
    case DType::kBool:
      return cast_to_bool<From>;
    default:
      return nullptr;
  }
}

BlockFunction find(DType from, DType to) {
  switch (from) {
    case DType::kFloat32:
      return cast_from<float>(to);
    case DType::kFloat64:
      return cast_from<double>(to);
    case DType::kInt8:
      return cast_from<int8_t>(to);
    case DType::kInt16:
      return cast_from<int16_t>(to);
    case DType::kInt32:
      return cast_from<int32_t>(to);
    case DType::kInt64:
      return cast_from<int64_t>(to);
    case DType::kBool:
    case DType::kUInt8:
      return cast_from<uint8_t>(to);
    case DType::kUInt16:
      return cast_from<uint16_t>(to);
    case DType::kUInt32:
      return cast_from<uint32_t>(to);
    case DType::kUInt64:
      return cast_from<uint64_t>(to);
    default:
      return nullptr;
  }
}

// Adding and subtracting 1.5 * 2^(13 + exponent of x) keeps the 11 bits of a half, rounded to
// nearest even; below 2^-14 the spacing stays 2^-24. Written with integers, so that denormal
// halves survive flush-to-zero: they are normal floats.
inline float round_to_half(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  uint32_t rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~0x1fffu;
  float size = __builtin_bit_cast(float, magnitude);
  float small = (size + 0.5f) - 0.5f;  // the spacing of floats just above 0.5 is 2^-24
  rounded = magnitude < 0x38800000u ? __builtin_bit_cast(uint32_t, small) : rounded;
  rounded = rounded >= 0x47800000u ? 0x7f800000u : rounded;
  rounded = magnitude > 0x7f800000u ? (magnitude & ~0x1fffu) | 0x400000u : rounded;
  return __builtin_bit_cast(float, sign | rounded);
}

inline float round_to_bfloat16(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  uint32_t nan = (bits & 0xffff0000u) | 0x400000u;
  return __builtin_bit_cast(float, (bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

template <Instruction kInstruction>
void round_loop(void* out, const void* a, const void*, const void*, int64_t n) {
  float* o = static_cast<float*>(out);
  const float* x = static_cast<const float*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    o[i] =
        kInstruction == Instruction::kRoundToHalf ? round_to_half(x[i]) : round_to_bfloat16(x[i]);
  }
}

BlockFunction find_rounding(Instruction instruction) {
  return instruction == Instruction::kRoundToHalf ? round_loop<Instruction::kRoundToHalf>
                                                  : round_loop<Instruction::kRoundToBFloat16>;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction conversion_function(DType from, DType to) {
  return GRAVEN_SIMD_DISPATCH(find)(from, to);
}
BlockFunction rounding_function(Instruction instruction) {
  return GRAVEN_SIMD_DISPATCH(find_rounding)(instruction);
}
}  // namespace graven::engine
#endif
