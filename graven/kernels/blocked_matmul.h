#pragma once
#include <cstddef>
#include <cstdint>

#include "graven/tensor/dtype.h"

namespace graven::engine {

// A block of a product of matrices, c = op(a) op(b), computed by one thread. Strides are in
// elements; of the two strides of an input one is 1.
struct ProductBlock {
  DType dtype;  // of numbers
  int64_t rows = 0, columns = 0, depth = 0;
  const void* a = nullptr;
  int64_t a_row_stride = 1, a_depth_stride = 1;
  const void* b = nullptr;
  int64_t b_depth_stride = 1, b_column_stride = 1;
  bool conjugate_a = false, conjugate_b = false;
  void* c = nullptr;
  int64_t c_stride = 1;
};

// Bytes of scratch memory, 64-byte aligned, that a block of this size (or smaller) needs.
size_t product_block_scratch(DType dtype, int64_t rows, int64_t columns, int64_t depth);

// Each element is the sum over the depth in ascending order, so the cut of a product into blocks
// does not change its bits. half and bfloat16 accumulate in float and are rounded at the end;
// integers wrap around.
void multiply_block(const ProductBlock& block, void* scratch);

// Small products of float32, float64, int32 and int64, for which packing does not pay. They need
// no scratch memory and are called with whole products only.
bool is_small_product(DType dtype, int64_t rows, int64_t columns, int64_t depth);
void multiply_small_block(const ProductBlock& block);

}  // namespace graven::engine
