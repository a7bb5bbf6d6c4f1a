#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "graven/kernels/block_functions.h"

namespace graven::engine {

// Values per row or per column, repeated to a matrix of short rows, so that one call of a block
// program computes several rows.

// Each of `rows` values, of 1, 2, 4, 8 or 16 bytes, `columns` times.
inline void spread_rows(size_t size, void* out, const void* values, int64_t rows, int64_t columns) {
  spread_function(size)(out, values, rows, columns);
}

// The row of `columns` values `rows` times.
inline void spread_columns(size_t size, void* out, const void* values, int64_t rows,
                           int64_t columns) {
  auto* to = static_cast<std::byte*>(out);
  const size_t bytes = static_cast<size_t>(columns) * size;
  for (int64_t row = 0; row < rows; ++row) std::memcpy(to + row * bytes, values, bytes);
}

}  // namespace graven::engine
