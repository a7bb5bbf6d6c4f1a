#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace graven::engine {

// Values per row or per column, repeated to a matrix of short rows, so that one call of a block
// program computes several rows.

template <typename Element>
void repeat_each(void* out, const void* values, int64_t rows, int64_t columns) {
  auto* to = static_cast<Element*>(out);
  const auto* from = static_cast<const Element*>(values);
  for (int64_t row = 0; row < rows; ++row, to += columns) std::fill_n(to, columns, from[row]);
}

// Each of `rows` values, of 1, 2, 4, 8 or 16 bytes, `columns` times.
inline void spread_rows(size_t size, void* out, const void* values, int64_t rows, int64_t columns) {
  struct Pair {
    uint64_t parts[2];
  };
  switch (size) {
    case 1:
      return repeat_each<uint8_t>(out, values, rows, columns);
    case 2:
      return repeat_each<uint16_t>(out, values, rows, columns);
    case 4:
      return repeat_each<uint32_t>(out, values, rows, columns);
    case 8:
      return repeat_each<uint64_t>(out, values, rows, columns);
    default:
      return repeat_each<Pair>(out, values, rows, columns);
  }
}

// The row of `columns` values `rows` times.
inline void spread_columns(size_t size, void* out, const void* values, int64_t rows,
                           int64_t columns) {
  auto* to = static_cast<std::byte*>(out);
  const size_t bytes = static_cast<size_t>(columns) * size;
  for (int64_t row = 0; row < rows; ++row) std::memcpy(to + row * bytes, values, bytes);
}

}  // namespace graven::engine
