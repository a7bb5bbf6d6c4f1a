// Products of matrices by the usual scheme (Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication", 2008): panels of both inputs are packed in the order in which a small
// kernel reads them, and the kernel keeps a block of sums in registers. The inputs are converted
// to the type of the sums while they are packed, complex numbers to separate real and imaginary
// vectors, so that one kernel serves all dtypes.
#include "graven/kernels/blocked_matmul.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#ifndef GRAVEN_SMALL_PRODUCT
#define GRAVEN_SMALL_PRODUCT
namespace graven::engine {
namespace {
// Limits of a small product: elements of b, its rows padded to whole vectors, and all
// multiplications.
constexpr int64_t kMaxElements = 2 << 10, kMaxMultiplications = 16 << 10;
constexpr DTypeSet kSmallTypes = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64};
}  // namespace
}  // namespace graven::engine
#endif  // GRAVEN_SMALL_PRODUCT

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/blocked_matmul.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graven/kernels/short_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The type that elements are summed in, and how many of it make up one element.
template <typename T>
struct SumOf {
  using Type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;  // wrap around
  static constexpr int kParts = 1;
};
template <>
struct SumOf<float> {
  using Type = float;
  static constexpr int kParts = 1;
};
template <>
struct SumOf<double> {
  using Type = double;
  static constexpr int kParts = 1;
};
template <>
struct SumOf<Half> : SumOf<float> {};
template <>
struct SumOf<BFloat16> : SumOf<float> {};
template <typename R>
struct SumOf<std::complex<R>> {
  using Type = R;
  static constexpr int kParts = 2;
};

// The block of sums in registers: kRows x kColumns, filling 24 of 32 or 12 of 16 registers.
template <typename T>
struct Kernel {
  using Sum = typename SumOf<T>::Type;
  static constexpr int kParts = SumOf<T>::kParts;
  static constexpr int kLanes = HWY_MAX_BYTES / sizeof(Sum);
  static constexpr bool kWide = HWY_MAX_BYTES == 64;
  static constexpr int kVectors = kParts == 2 ? 2 : 3;
  static constexpr int kRows = kParts == 2 ? (kWide ? 6 : 2) : (kWide ? 8 : 4);
  static constexpr int kColumns = kVectors * kLanes;
  // Depth of the packed panels, so that they stay in the second-level cache.
  static constexpr int64_t kDepth = 1024 / static_cast<int64_t>(sizeof(Sum));
};

constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <typename D, typename V>
HWY_INLINE V multiply_add(D, V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::MulAdd(a, b, sum);
  } else {
    return hn::Add(hn::Mul(a, b), sum);
  }
}

// sums[kRows][stride] (+)= panel of a * panel of b.
template <typename T>
HWY_INLINE void run_kernel(int64_t depth, const typename Kernel<T>::Sum* HWY_RESTRICT a,
                           const typename Kernel<T>::Sum* HWY_RESTRICT b,
                           typename Kernel<T>::Sum* HWY_RESTRICT sums, int64_t stride, bool first) {
  using K = Kernel<T>;
  constexpr int kVectors = K::kVectors * K::kParts, kRows = K::kRows, kLanes = K::kLanes;
  const hn::ScalableTag<typename K::Sum> d;
  using V = hn::Vec<decltype(d)>;
  V sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = first ? hn::Zero(d) : hn::Load(d, sums + i * stride + j * kLanes);
    }
  }
  for (int64_t p = 0; p < depth; ++p) {
    V column[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) column[j] = hn::Load(d, b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if constexpr (K::kParts == 1) {
        const V row = hn::Set(d, a[i]);
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[i][j] = multiply_add(d, row, column[j], sum[i][j]);
      } else {
        const V real = hn::Set(d, a[i]), imaginary = hn::Set(d, a[i + kRows]);
#pragma GCC unroll 2
        for (int j = 0; j < K::kVectors; ++j) {
          V& re = sum[i][j];
          V& im = sum[i][j + K::kVectors];
          re = hn::MulAdd(real, column[j], re);
          im = hn::MulAdd(real, column[j + K::kVectors], im);
          re = hn::NegMulAdd(imaginary, column[j + K::kVectors], re);
          im = hn::MulAdd(imaginary, column[j], im);
        }
      }
    }
    a += kRows * K::kParts;
    b += kLanes * kVectors;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) hn::Store(sum[i][j], d, sums + i * stride + j * kLanes);
  }
}

// Converts neighbouring elements to the type of the sums; the imaginary parts to `imaginary`.
template <typename T, typename Sum>
HWY_INLINE void convert_run(const T* from, int64_t count, bool conjugate, Sum* to, Sum* imaginary) {
  (void)conjugate, (void)imaginary;
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    promote_run(from, count, to);
  } else if constexpr (SumOf<T>::kParts == 2) {
    const Sum sign = conjugate ? Sum(-1) : Sum(1);
    const auto* parts = reinterpret_cast<const Sum*>(from);
    for (int64_t i = 0; i < count; ++i) {
      to[i] = parts[2 * i];
      imaginary[i] = sign * parts[2 * i + 1];
    }
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Sum>(from[i]);
  }
}

// Packs `outer` lines of `depth` elements into panels of R lines: element p of all lines of a
// panel stands together, real parts before imaginary ones. Missing lines are zero.
template <int R, typename T>
HWY_NOINLINE void pack(const T* from, int64_t outer_stride, int64_t depth_stride, int64_t outer,
                       int64_t depth, bool conjugate, typename Kernel<T>::Sum* to) {
  using K = Kernel<T>;
  using Sum = typename K::Sum;
  constexpr int kStep = R * K::kParts;
  // Lines are transposed a few at a time.
  constexpr int kLines = R % 8 == 0 ? 8 : R % 4 == 0 ? 4 : 2;
  alignas(64) Sum staged[kLines * K::kParts * K::kDepth];
  for (int64_t first = 0; first < outer; first += R) {
    Sum* panel = to + first * depth * K::kParts;
    const int64_t lines = std::min<int64_t>(R, outer - first);
    const T* source = from + first * outer_stride;
    if (outer_stride == 1) {
      if (lines < R) std::memset(panel, 0, sizeof(Sum) * kStep * depth);
      for (int64_t p = 0; p < depth; ++p) {
        Sum* row = panel + p * kStep;
        if (lines == R) {
          convert_run(source + p * depth_stride, R, conjugate, row, row + R);
        } else {
          convert_run(source + p * depth_stride, lines, conjugate, row, row + R);
        }
      }
      continue;
    }
    for (int64_t group = 0; group < R; group += kLines) {
      const Sum* line[kLines * K::kParts];
      for (int i = 0; i < kLines; ++i) {
        Sum* stage = staged + i * K::kParts * depth;
        const bool missing = group + i >= lines;
        for (int part = 0; part < K::kParts; ++part) {
          line[i + part * kLines] = stage + part * depth;
        }
        if (missing) {
          std::memset(stage, 0, sizeof(Sum) * K::kParts * depth);
        } else if constexpr (std::is_same_v<T, Sum>) {
          line[i] = source + (group + i) * outer_stride;
        } else {
          convert_run(source + (group + i) * outer_stride, depth, conjugate, stage, stage + depth);
        }
      }
      Sum* row = panel + group;
      for (int64_t p = 0; p < depth; ++p, row += kStep) {
#pragma GCC unroll 2
        for (int part = 0; part < K::kParts; ++part) {
#pragma GCC unroll 8
          for (int i = 0; i < kLines; ++i) row[part * R + i] = line[part * kLines + i][p];
        }
      }
    }
  }
}

// Writes a row of finished sums, which stand in panels of kColumns, as elements.
template <typename T>
HWY_INLINE void store_run(const typename Kernel<T>::Sum* sums, int64_t count, T* to) {
  using K = Kernel<T>;
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    demote_run(sums, count, to);
  } else if constexpr (K::kParts == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] = T(sums[i], sums[i + K::kColumns]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(sums[i]);
  }
}

template <typename T>
struct PanelSizes {
  using K = Kernel<T>;
  int64_t rows, columns, depth;  // rounded up
  PanelSizes(int64_t m, int64_t n, int64_t k)
      : rows(round_up(m, K::kRows)),
        columns(round_up(n, K::kColumns)),
        depth(std::min(k, K::kDepth)) {}
  // In elements of the sums: the packed panels of a, those of b, the sums.
  int64_t a_size() const { return round_up(rows * depth * K::kParts, K::kLanes); }
  int64_t b_size() const { return columns * depth * K::kParts; }
  int64_t sums_size() const { return rows * columns * K::kParts; }
};

template <typename T>
void multiply(const ProductBlock& block, void* scratch) {
  using K = Kernel<T>;
  using Sum = typename K::Sum;
  const PanelSizes<T> size(block.rows, block.columns, block.depth);
  Sum* const sums = static_cast<Sum*>(scratch);
  Sum* const b_panels = sums + size.sums_size();
  Sum* const a_panels = b_panels + size.b_size();
  const int64_t stride = size.columns * K::kParts;
  const T* a = static_cast<const T*>(block.a);
  const T* b = static_cast<const T*>(block.b);
  for (int64_t start = 0; start < block.depth; start += K::kDepth) {
    const int64_t depth = std::min(K::kDepth, block.depth - start);
    pack<K::kColumns>(b + start * block.b_depth_stride, block.b_column_stride, block.b_depth_stride,
                      block.columns, depth, block.conjugate_b, b_panels);
    pack<K::kRows>(a + start * block.a_depth_stride, block.a_row_stride, block.a_depth_stride,
                   block.rows, depth, block.conjugate_a, a_panels);
    for (int64_t j = 0; j < size.columns; j += K::kColumns) {
      for (int64_t i = 0; i < size.rows; i += K::kRows) {
        run_kernel<T>(depth, a_panels + i * depth * K::kParts, b_panels + j * depth * K::kParts,
                      sums + i * stride + j * K::kParts, stride, start == 0);
      }
    }
  }
  for (int64_t i = 0; i < block.rows; ++i) {
    T* row = static_cast<T*>(block.c) + i * block.c_stride;
    for (int64_t j = 0; j < block.columns; j += K::kColumns) {
      const int64_t count = std::min<int64_t>(K::kColumns, block.columns - j);
      store_run<T>(sums + i * stride + j * K::kParts, count, row + j);
    }
  }
}

// R rows of a small product: b is packed, `stride` elements a row, of which the last ones are
// padding.
template <int R, typename T>
HWY_INLINE void multiply_small_rows(const ProductBlock& block, const T* a, const T* b,
                                    int64_t stride, T* c) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t j = 0; j < block.columns; j += lanes) {
    V sum[R];
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) sum[i] = hn::Zero(d);
    for (int64_t p = 0; p < block.depth; ++p) {
      const V column = hn::Load(d, b + p * stride + j);
#pragma GCC unroll 8
      for (int i = 0; i < R; ++i) {
        const V row = hn::Set(d, a[i * block.a_row_stride + p * block.a_depth_stride]);
        sum[i] = multiply_add(d, row, column, sum[i]);
      }
    }
    const int64_t count = std::min(lanes, block.columns - j);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      T* to = c + i * block.c_stride + j;
      if (count == lanes) {
        hn::StoreU(sum[i], d, to);
      } else {
        alignas(64) T tail[HWY_MAX_BYTES / sizeof(T)];
        hn::Store(sum[i], d, tail);
        for (int64_t lane = 0; lane < count; ++lane) to[lane] = tail[lane];
      }
    }
  }
}

template <typename T>
HWY_NOINLINE void multiply_small(const ProductBlock& block) {
  constexpr int64_t kLanes = HWY_MAX_BYTES / sizeof(T);
  alignas(64) T b[kMaxElements];
  const int64_t stride = round_up(block.columns, kLanes);
  const T* from = static_cast<const T*>(block.b);
  for (int64_t p = 0; p < block.depth; ++p, from += block.b_depth_stride) {
    T* row = b + p * stride;
    for (int64_t j = 0; j < block.columns; ++j) row[j] = from[j * block.b_column_stride];
    for (int64_t j = block.columns; j < stride; ++j) row[j] = T();
  }
  const T* a = static_cast<const T*>(block.a);
  T* c = static_cast<T*>(block.c);
  int64_t i = 0;
  for (; i + 8 <= block.rows; i += 8) {
    multiply_small_rows<8>(block, a + i * block.a_row_stride, b, stride, c + i * block.c_stride);
  }
  for (; i + 2 <= block.rows; i += 2) {
    multiply_small_rows<2>(block, a + i * block.a_row_stride, b, stride, c + i * block.c_stride);
  }
  if (i < block.rows) {
    multiply_small_rows<1>(block, a + i * block.a_row_stride, b, stride, c + i * block.c_stride);
  }
}

void multiply_small_of_target(const ProductBlock& block) {
  switch (block.dtype) {
    case DType::kFloat32:
      return multiply_small<float>(block);
    case DType::kFloat64:
      return multiply_small<double>(block);
    case DType::kInt32:
      return multiply_small<int32_t>(block);
    default:
      return multiply_small<int64_t>(block);
  }
}

void multiply_block_of_target(const ProductBlock& block, void* scratch) {
  visit_plain(block.dtype, [&](auto zero) {
    if constexpr (!std::is_same_v<decltype(zero), bool>) multiply<decltype(zero)>(block, scratch);
  });
}

size_t scratch_of_target(DType dtype, int64_t rows, int64_t columns, int64_t depth) {
  return visit_plain(dtype, [&](auto zero) -> size_t {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      return 0;
    } else {
      const PanelSizes<T> size(rows, columns, depth);
      return (size.a_size() + size.b_size() + size.sums_size()) * sizeof(typename Kernel<T>::Sum);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
HWY_EXPORT(multiply_block_of_target);
HWY_EXPORT(multiply_small_of_target);
HWY_EXPORT(scratch_of_target);

size_t product_block_scratch(DType dtype, int64_t rows, int64_t columns, int64_t depth) {
  return HWY_DYNAMIC_DISPATCH(scratch_of_target)(dtype, rows, columns, depth);
}

bool is_small_product(DType dtype, int64_t rows, int64_t columns, int64_t depth) {
  if (!kSmallTypes.contains(dtype)) return false;
  // Widths of vectors differ between targets, but the limits of a small product do not.
  const int64_t padded = (columns + 15) / 16 * 16;
  return depth <= kMaxElements && padded <= kMaxElements && padded * depth <= kMaxElements &&
         rows <= kMaxMultiplications / (padded * depth);
}

void multiply_small_block(const ProductBlock& block) {
  HWY_DYNAMIC_DISPATCH(multiply_small_of_target)(block);
}

void multiply_block(const ProductBlock& block, void* scratch) {
  HWY_DYNAMIC_DISPATCH(multiply_block_of_target)(block, scratch);
}

}  // namespace graven::engine
#endif  // HWY_ONCE
