#pragma once
#include <concepts>
#include <cstdint>

#include "graven/tensor/dtype.h"

namespace graven::engine {

// Whether y takes the place of x, which stands before it: NaN counts as more than all numbers, and
// the first of equal elements stays. Without a branch: which element wins cannot be foreseen.
template <bool kLargest, typename T>
inline bool beats(T y, T x) {
  if constexpr (std::floating_point<T>) return (kLargest ? !(y <= x) : !(y >= x)) & (x == x);
  return kLargest ? y > x : y < x;
}

// Where the largest (or smallest) of each row of `columns` contiguous elements stands: the first of
// several, but NaN before all numbers. -0.0 equals 0.0. Of real dtypes and bool; half and bfloat16
// are compared as float32. At least one column. On the calling thread.
void find_extrema_of_rows(DType dtype, bool largest, const void* rows, int64_t num_rows,
                          int64_t columns, int64_t* places);

}  // namespace graven::engine
