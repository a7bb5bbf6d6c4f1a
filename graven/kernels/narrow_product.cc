#include "graven/kernels/narrow_product.h"

#include <algorithm>

#ifndef GRAVEN_NARROW_PRODUCT
#define GRAVEN_NARROW_PRODUCT
namespace graven::engine {
namespace {
// Measured on one core of an EPYC with AVX-512 beside oneDNN 2.6.3: elements of b, for which fewer
// rows do not pay. A product has the same limits on all targets.
constexpr int64_t kMaxRows = 64;
constexpr int64_t max_elements(int64_t rows) {
  return rows < 8 ? 64 << 10 : rows < 16 ? 256 << 10 : 512 << 10;
}
// If b is transposed, columns of the result are computed as rows: a is packed, transposed, its rows
// padded to whole vectors. A few of these rows at a time become columns.
constexpr int64_t kMaxPacked = 64 << 10, kRowsAtOnce = 64;
constexpr int64_t padded(int64_t rows) {
  return (rows + kMinNarrowColumns - 1) / kMinNarrowColumns * kMinNarrowColumns;
}
}  // namespace
}  // namespace graven::engine
#endif  // GRAVEN_NARROW_PRODUCT

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/narrow_product.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The sums fill 24 of 32 registers, or 12 of 16.
constexpr int kVectors = 3, kRows = HWY_MAX_BYTES == 64 ? 8 : 4;

// R rows of V vectors of columns, from (row, column) on.
template <int R, int V>
HWY_INLINE void multiply_tile(const ProductBlock& block, int64_t row, int64_t column) {
  const hn::ScalableTag<float> d;
  using Vector = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* a = static_cast<const float*>(block.a) + row * block.a_row_stride;
  const float* b = static_cast<const float*>(block.b) + column;
  Vector sum[R][V];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) sum[i][j] = hn::Zero(d);
  }
  for (int64_t p = 0; p < block.depth; ++p) {
    Vector of_b[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) of_b[j] = hn::LoadU(d, b + j * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const Vector of_a = hn::Set(d, a[i * block.a_row_stride]);
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) sum[i][j] = hn::MulAdd(of_a, of_b[j], sum[i][j]);
    }
    a += block.a_depth_stride;
    b += block.b_depth_stride;
  }
  float* c = static_cast<float*>(block.c) + row * block.c_stride + column;
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) hn::StoreU(sum[i][j], d, c + i * block.c_stride + j * lanes);
  }
}

// All rows of V vectors of columns.
template <int V>
HWY_NOINLINE void multiply_columns(const ProductBlock& block, int64_t column) {
  int64_t row = 0;
  for (; row + kRows <= block.rows; row += kRows) multiply_tile<kRows, V>(block, row, column);
  if (kRows > 4 && row + 4 <= block.rows) {
    multiply_tile<4, V>(block, row, column);
    row += 4;
  }
  for (; row + 2 <= block.rows; row += 2) multiply_tile<2, V>(block, row, column);
  if (row < block.rows) multiply_tile<1, V>(block, row, column);
}

void multiply_rows(const ProductBlock& block) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  int64_t column = 0;
  for (; column + kVectors * lanes <= block.columns; column += kVectors * lanes) {
    multiply_columns<kVectors>(block, column);
  }
  for (; column + lanes <= block.columns; column += lanes) multiply_columns<1>(block, column);
  // Some columns a second time, which gives them the same sums.
  if (column < block.columns) multiply_columns<1>(block, block.columns - lanes);
}

// a, transposed: a row of `stride` elements for each of the depth.
void pack_transposed(const ProductBlock& block, float* to, int64_t stride) {
  constexpr int kLines = 8;
  const float* a = static_cast<const float*>(block.a);
  for (int64_t row = 0; row < stride; row += kLines) {
    const int64_t lines = std::clamp<int64_t>(block.rows - row, 0, kLines);
    const float* from = a + row * block.a_row_stride;
    float* column = to + row;
    for (int64_t p = 0; p < block.depth; ++p, from += block.a_depth_stride, column += stride) {
      if (lines == kLines) {
#pragma GCC unroll 8
        for (int i = 0; i < kLines; ++i) column[i] = from[i * block.a_row_stride];
      } else {
        for (int i = 0; i < lines; ++i) column[i] = from[i * block.a_row_stride];
        for (int64_t i = lines; i < kLines; ++i) column[i] = 0;
      }
    }
  }
}

void multiply_transposed(const ProductBlock& block, float* scratch) {
  const int64_t stride = padded(block.rows);
  float* const columns = scratch + stride * block.depth;
  pack_transposed(block, scratch, stride);
  ProductBlock turned{.dtype = block.dtype,
                      .columns = stride,
                      .depth = block.depth,
                      .a_row_stride = block.b_column_stride,
                      .a_depth_stride = 1,
                      .b = scratch,
                      .b_depth_stride = stride,
                      .c = columns,
                      .c_stride = stride};
  for (int64_t first = 0; first < block.columns; first += kRowsAtOnce) {
    turned.a = static_cast<const float*>(block.b) + first * block.b_column_stride;
    turned.rows = std::min(kRowsAtOnce, block.columns - first);
    multiply_rows(turned);
    for (int64_t row = 0; row < block.rows; ++row) {
      float* c = static_cast<float*>(block.c) + row * block.c_stride + first;
      for (int64_t i = 0; i < turned.rows; ++i) c[i] = columns[i * stride + row];
    }
  }
}

void multiply_of_target(const ProductBlock& block, void* scratch) {
  if (block.b_column_stride == 1) {
    multiply_rows(block);
  } else {
    multiply_transposed(block, static_cast<float*>(scratch));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
HWY_EXPORT(multiply_of_target);

bool is_narrow_product(DType dtype, bool transpose_b, int64_t rows, int64_t columns,
                       int64_t depth) {
  if (dtype != DType::kFloat32) return false;
  // oneDNN is quick where fewer are transposed.
  if (transpose_b && (rows <= 8 || depth > kMaxPacked / padded(rows))) return false;
  const int64_t most = max_elements(rows);
  return rows <= kMaxRows && columns >= kMinNarrowColumns && columns < most &&
         depth < most / columns;
}

size_t narrow_product_scratch(bool transpose_b, int64_t rows, int64_t depth) {
  if (!transpose_b) return 0;
  return static_cast<size_t>(padded(rows) * (depth + kRowsAtOnce)) * sizeof(float);
}

void multiply_narrow_block(const ProductBlock& block, void* scratch) {
  HWY_DYNAMIC_DISPATCH(multiply_of_target)(block, scratch);
}

}  // namespace graven::engine
#endif  // HWY_ONCE
