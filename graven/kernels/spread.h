#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace graven::engine {

// Values per row or per column, repeated to a matrix of short rows, so that one call of a block
// program computes several rows.

// By vectors of 16 bytes, of which the last one of a row may lie over the one before it.
template <typename Element>
void repeat_each(void* out, const void* values, int64_t rows, int64_t columns) {
  using Vector [[gnu::vector_size(16)]] = Element;
  constexpr auto kLanes = static_cast<int64_t>(sizeof(Vector) / sizeof(Element));
  auto* to = static_cast<Element*>(out);
  const auto* from = static_cast<const Element*>(values);
  for (int64_t row = 0; row < rows; ++row, to += columns) {
    if (columns < kLanes) {
      std::fill_n(to, columns, from[row]);
      continue;
    }
    const Vector repeated = Vector{} + from[row];
    for (int64_t i = 0; i + kLanes <= columns; i += kLanes) {
      std::memcpy(to + i, &repeated, sizeof(Vector));
    }
    std::memcpy(to + columns - kLanes, &repeated, sizeof(Vector));
  }
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
      for (int64_t row = 0; row < rows; ++row) {
        std::fill_n(static_cast<Pair*>(out) + row * columns, columns,
                    static_cast<const Pair*>(values)[row]);
      }
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
