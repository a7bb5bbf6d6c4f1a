#pragma once
#include <cstdint>

#include "graven/tensor/dtype.h"

namespace graven::engine {

// Where the largest (or smallest) of each row of `columns` contiguous elements stands: the first of
// several, but NaN before all numbers. -0.0 equals 0.0. Of real dtypes and bool; half and bfloat16
// are compared as float32. At least one column. On the calling thread.
void find_extrema_of_rows(DType dtype, bool largest, const void* rows, int64_t num_rows,
                          int64_t columns, int64_t* places);

}  // namespace graven::engine
