#pragma once
#include <cstddef>
#include <cstdint>

#include "graven/kernels/blocked_matmul.h"
#include "graven/tensor/dtype.h"

namespace graven::engine {

// The widest vector of any target.
inline constexpr int64_t kMinNarrowColumns = 16;

// Products of float32 with few rows, which read b where it is: packing it would take as long as
// multiplying.
bool is_narrow_product(DType dtype, bool transpose_b, int64_t rows, int64_t columns, int64_t depth);
// A piece of such a product, of kMinNarrowColumns or more. Each element is the sum over the depth
// in ascending order, as of multiply_block. If b is transposed, it needs this much scratch memory,
// 64-byte aligned.
void multiply_narrow_block(const ProductBlock& block, void* scratch);
size_t narrow_product_scratch(bool transpose_b, int64_t rows, int64_t depth);

}  // namespace graven::engine
