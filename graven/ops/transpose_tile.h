#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <utility>

namespace graven::engine {

// A few elements each way, of a matrix whose rows lie together where it is read and whose columns
// do where it is written.
template <typename T>
struct Tile {
  const T* from;
  int64_t from_stride;  // elements from one column to the next
  T* to;
  int64_t to_stride;  // elements from one row to the next
};

template <typename T>
void transpose_elements(const Tile<T>& tile, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      tile.to[i * tile.to_stride + j] = tile.from[j * tile.from_stride + i];
    }
  }
}

template <typename T>
inline constexpr int kTransposedLanes = static_cast<int>(16 / sizeof(T));

// As many rows and columns as 16 bytes have elements.
template <std::integral T>
void transpose_vectors(const Tile<T>& tile) {
  constexpr int kLanes = kTransposedLanes<T>, kHalf = kLanes / 2;
  using Vector [[gnu::vector_size(16)]] = T;
  Vector lines[kLanes];
  for (int j = 0; j < kLanes; ++j) {
    std::memcpy(&lines[j], tile.from + j * tile.from_stride, sizeof(Vector));
  }
  // Each round interleaves lines of the first half with those of the second. Element (j, i) stands
  // at j * kLanes + i; a round moves the top bit of that number to its end.
  [&]<int... kLane>(std::integer_sequence<int, kLane...>) {
    for (int round = 1; round < kLanes; round *= 2) {
      Vector next[kLanes];
      for (int j = 0; j < kHalf; ++j) {
        const Vector a = lines[j], b = lines[j + kHalf];
        next[2 * j] = __builtin_shufflevector(a, b, (kLane / 2 + kLane % 2 * kLanes)...);
        next[2 * j + 1] =
            __builtin_shufflevector(a, b, (kHalf + kLane / 2 + kLane % 2 * kLanes)...);
      }
      std::copy_n(next, kLanes, lines);
    }
  }
  (std::make_integer_sequence<int, kLanes>());
  for (int i = 0; i < kLanes; ++i) {
    std::memcpy(tile.to + i * tile.to_stride, &lines[i], sizeof(Vector));
  }
}

// Rows and columns of a tile: 64 bytes, or eight of larger elements.
template <typename T>
inline constexpr int64_t kTileSize = std::max<int64_t>(8, 64 / static_cast<int64_t>(sizeof(T)));

// At most kTileSize rows and columns.
template <typename T>
void transpose_tile(const Tile<T>& tile, int64_t rows, int64_t columns) {
  if constexpr (std::integral<T>) {
    constexpr int64_t kLanes = kTransposedLanes<T>, kSize = kTileSize<T>;
    const int64_t whole_rows = rows / kLanes * kLanes, whole_columns = columns / kLanes * kLanes;
    auto at = [&](int64_t row, int64_t column) {
      return Tile<T>{tile.from + column * tile.from_stride + row, tile.from_stride,
                     tile.to + row * tile.to_stride + column, tile.to_stride};
    };
    // A tile of whole cache lines goes through a buffer: lines that the processor keeps at the same
    // place of its cache, as those of a stride of 4096 bytes, are read once and written once.
    T buffer[kSize * kSize];
    const bool is_whole = rows == kSize && columns == kSize;
    for (int64_t column = 0; column < whole_columns; column += kLanes) {
      for (int64_t row = 0; row < whole_rows; row += kLanes) {
        Tile<T> part = at(row, column);
        if (is_whole) {
          part.to = buffer + row * kSize + column;
          part.to_stride = kSize;
        }
        transpose_vectors(part);
      }
    }
    for (int64_t row = 0; is_whole && row < kSize; ++row) {
      std::memcpy(tile.to + row * tile.to_stride, buffer + row * kSize, sizeof(T) * kSize);
    }
    transpose_elements(at(whole_rows, 0), rows - whole_rows, columns);
    transpose_elements(at(0, whole_columns), whole_rows, columns - whole_columns);
  } else {
    transpose_elements(tile, rows, columns);
  }
}

}  // namespace graven::engine
