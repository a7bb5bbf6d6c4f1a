// Elements between memory and blocks: halves and bfloat16 widen to floats and are rounded back,
// complex numbers come apart into two blocks and together again, one element fills a block or a
// row.
#include <cstring>

#include "graven/tensor/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/movement_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/short_floats-inl.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

// Whether the target converts halves in hardware: better ones have smaller numbers.
constexpr bool kHasHalves = HWY_TARGET <= HWY_AVX2;

inline float widen_half(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, magnitude = half & 0x7fff;
  uint32_t normal = (magnitude << 13) + 0x38000000u;
  float small = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
  uint32_t bits = magnitude < 0x400 ? __builtin_bit_cast(uint32_t, small) : normal;
  bits = magnitude >= 0x7c00 ? 0x7f800000u | (magnitude & 0x3ff) << 13 : bits;
  return __builtin_bit_cast(float, sign | bits);
}

// The float need not be rounded yet. Half::from_float without branches.
inline uint16_t narrow_to_half(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
  // 0.5 has spacing 2^-24 above it, so the sum's lowest bits count denormal halves.
  float sum = __builtin_bit_cast(float, magnitude) + 0.5f;
  uint32_t denormal = __builtin_bit_cast(uint32_t, sum) - 0x3f000000u;
  uint32_t half = magnitude < 0x38800000u ? denormal : normal;
  half = magnitude >= 0x477ff000u ? 0x7c00 : half;
  half = magnitude > 0x7f800000u ? 0x7e00 | (magnitude >> 13 & 0x3ff) : half;
  return static_cast<uint16_t>(sign | half);
}

inline uint16_t narrow_to_bfloat16(float x) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  uint32_t nan = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

void load_half(void* out, const void* a, const void*, const void*, int64_t n) {
  float* o = static_cast<float*>(out);
  if constexpr (kHasHalves) {
    promote_run(static_cast<const Half*>(a), n, o);
  } else {
    const uint16_t* x = static_cast<const uint16_t*>(a);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) o[i] = widen_half(x[i]);
  }
}
void load_bfloat16(void* out, const void* a, const void*, const void*, int64_t n) {
  float* o = static_cast<float*>(out);
  const uint16_t* x = static_cast<const uint16_t*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = __builtin_bit_cast(float, uint32_t{x[i]} << 16);
}
void store_half(void* out, const void* a, const void*, const void*, int64_t n) {
  const float* x = static_cast<const float*>(a);
  if constexpr (kHasHalves) {
    demote_run(x, n, static_cast<Half*>(out));
  } else {
    uint16_t* o = static_cast<uint16_t*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) o[i] = narrow_to_half(x[i]);
  }
}
void store_bfloat16(void* out, const void* a, const void*, const void*, int64_t n) {
  uint16_t* o = static_cast<uint16_t*>(out);
  const float* x = static_cast<const float*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = narrow_to_bfloat16(x[i]);
}

template <typename T, int kPart>
void load_complex(void* out, const void* a, const void*, const void*, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = x[2 * i + kPart];
}
template <typename T>
void store_complex(void* out, const void* a, const void* b, const void*, int64_t n) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    T real = x[i], imaginary = y[i];
    o[2 * i] = real;
    o[2 * i + 1] = imaginary;
  }
}

template <typename T>
void splat(void* out, const void* a, const void*, const void*, int64_t n) {
  T* o = static_cast<T*>(out);
  T value;
  std::memcpy(&value, a, sizeof(T));
  for (int64_t i = 0; i < n; ++i) o[i] = value;
}

// By whole vectors, of which the last one of a row may lie over the one before it.
template <typename T>
void spread(void* out, const void* values, int64_t rows, int64_t columns) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(values);
  if (columns < lanes) {
    for (int64_t row = 0; row < rows; ++row, to += columns) {
      for (int64_t i = 0; i < columns; ++i) to[i] = from[row];
    }
    return;
  }
  for (int64_t row = 0; row < rows; ++row, to += columns) {
    const auto repeated = hn::Set(d, from[row]);
    for (int64_t i = 0; i + lanes <= columns; i += lanes) hn::StoreU(repeated, d, to + i);
    hn::StoreU(repeated, d, to + columns - lanes);
  }
}

void spread_pairs(void* out, const void* values, int64_t rows, int64_t columns) {
  uint64_t* to = static_cast<uint64_t*>(out);
  const uint64_t* from = static_cast<const uint64_t*>(values);
  for (int64_t row = 0; row < rows; ++row, from += 2) {
    for (int64_t i = 0; i < columns; ++i, to += 2) {
      to[0] = from[0];
      to[1] = from[1];
    }
  }
}

BlockFunction find_load(DType stored, int part) {
  switch (stored) {
    case DType::kHalf:
      return load_half;
    case DType::kBFloat16:
      return load_bfloat16;
    case DType::kComplex64:
      return part ? load_complex<float, 1> : load_complex<float, 0>;
    case DType::kComplex128:
      return part ? load_complex<double, 1> : load_complex<double, 0>;
    default:
      return nullptr;
  }
}

BlockFunction find_store(DType stored) {
  switch (stored) {
    case DType::kHalf:
      return store_half;
    case DType::kBFloat16:
      return store_bfloat16;
    case DType::kComplex64:
      return store_complex<float>;
    case DType::kComplex128:
      return store_complex<double>;
    default:
      return nullptr;
  }
}

BlockFunction find_splat(size_t element_size) {
  switch (element_size) {
    case 1:
      return splat<uint8_t>;
    case 2:
      return splat<uint16_t>;
    case 4:
      return splat<uint32_t>;
    default:
      return splat<uint64_t>;
  }
}

SpreadFunction find_spread(size_t element_size) {
  switch (element_size) {
    case 1:
      return spread<uint8_t>;
    case 2:
      return spread<uint16_t>;
    case 4:
      return spread<uint32_t>;
    case 8:
      return spread<uint64_t>;
    default:
      return spread_pairs;
  }
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction load_function(DType stored, int part) {
  return GRAVEN_SIMD_DISPATCH(find_load)(stored, part);
}
BlockFunction store_function(DType stored) { return GRAVEN_SIMD_DISPATCH(find_store)(stored); }
BlockFunction splat_function(size_t element_size) {
  return GRAVEN_SIMD_DISPATCH(find_splat)(element_size);
}
SpreadFunction spread_function(size_t element_size) {
  return GRAVEN_SIMD_DISPATCH(find_spread)(element_size);
}
}  // namespace graven::engine
#endif
