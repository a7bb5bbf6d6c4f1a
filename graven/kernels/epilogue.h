#pragma once
#include <cstdint>

#include "graven/tensor/dtype.h"

namespace graven::engine {

// Adds the bias (of `columns` elements, or null) to each row, then takes max(x, 0) if relu. NaN
// stays NaN; complex numbers, which have no order, stay as they are. half and bfloat16 are rounded
// after the sum. By the calling thread; a dtype of numbers.
void apply_epilogue(DType dtype, void* rows, int64_t stride, int64_t num_rows, int64_t columns,
                    const void* bias, bool relu);

}  // namespace graven::engine
