#include "graven/ops/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "graven/ops/elements.h"
#include "graven/ops/transpose_tile.h"
#include "graven/tensor/resource.h"

namespace graven::engine {
namespace {

constexpr int64_t kBytesPerChunk = 1 << 18;
// Fewer bytes are copied sooner than a view is made of them, and must not keep more memory alive.
constexpr size_t kLeastViewBytes = 4096;
constexpr uintptr_t kViewAlignment = 64;

// Axes of one element gone, and neighbours made one where a step along the outer one leads just
// behind the inner one in both places.
CopyAxes merged(const CopyAxes& axes) {
  CopyAxes out;
  for (const CopyAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (!out.empty()) {
      CopyAxis& outer = out.back();
      if (outer.from == axis.size * axis.from && outer.to == axis.size * axis.to) {
        outer = {outer.size * axis.size, axis.from, axis.to};
        continue;
      }
    }
    out.push_back(axis);
  }
  return out;
}

// In pieces below the size from which the C library leaves it to the processor's string
// instruction, which some are nine times slower at where a copy lies a few bytes further on in its
// page than what is copied.
template <typename T>
void copy_together(const T* from, int64_t count, T* to) {
  constexpr int64_t kPiece = 1024 / static_cast<int64_t>(sizeof(T));
  for (; count > kPiece; count -= kPiece, from += kPiece, to += kPiece) {
    std::copy_n(from, kPiece, to);
  }
  std::copy_n(from, count, to);
}

template <typename T>
void copy_row(const T* __restrict from, int64_t from_step, int64_t count, T* __restrict to,
              int64_t to_step) {
  if (to_step == 1 && from_step == 1) {
    copy_together(from, count, to);
  } else if (to_step == 1 && from_step == -1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[-i];
  } else if (to_step == 1 && from_step == 0) {
    std::fill_n(to, count, *from);
  } else if (to_step == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * from_step];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  }
}

// Rows of so few elements that lie together in both places, such as the colours of a pixel.
template <int kSize, typename T>
void copy_few(const T* from, int64_t from_step, int64_t count, T* to, int64_t to_step) {
  for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
    for (int k = 0; k < kSize; ++k) to[k] = from[k];
  }
}

template <typename T>
void copy_rows(const T* from, T* to, const CopyAxis& rows, const CopyAxis& columns) {
  if (columns.from == 1 && columns.to == 1) {
    switch (columns.size) {
      case 2:
        return copy_few<2>(from, rows.from, rows.size, to, rows.to);
      case 3:
        return copy_few<3>(from, rows.from, rows.size, to, rows.to);
      case 4:
        return copy_few<4>(from, rows.from, rows.size, to, rows.to);
      default:
        break;
    }
  }
  for (int64_t i = 0; i < rows.size; ++i) {
    copy_row(from + i * rows.from, columns.from, columns.size, to + i * rows.to, columns.to);
  }
}

// A place among all of some axes, with the elements that stand there at both ends; it counts on in
// row-major order.
template <typename T>
class Place {
 public:
  Place(const CopyAxes& axes, int64_t number, const T* from, T* to)
      : from(from), to(to), axes_(axes), index_(axes.size(), 0) {
    for (auto i = static_cast<int64_t>(axes.size()) - 1; i >= 0; --i) {
      move(i, number % axes[i].size);
      number /= axes[i].size;
    }
  }
  void advance() {
    for (auto i = static_cast<int64_t>(axes_.size()) - 1; i >= 0; --i) {
      if (index_[i] + 1 < axes_[i].size) return move(i, 1);
      move(i, -index_[i]);
    }
  }
  const T* from;
  T* to;

 private:
  void move(int64_t axis, int64_t steps) {
    index_[axis] += steps;
    from += steps * axes_[axis].from;
    to += steps * axes_[axis].to;
  }
  const CopyAxes& axes_;
  InlineVector<int64_t, 6> index_;
};

// Planes whose rows lie together at the one end and whose columns do at the other, in tiles that
// fit a few cache lines both ways. A chunk is a range of bands of planes: of whole tiles.
template <typename T>
void copy_planes(const CopyAxes& outer, const CopyAxis& rows, const CopyAxis& columns,
                 const T* from, T* to) {
  constexpr int64_t kTile = kTileSize<T>;
  constexpr int64_t kChunk = kBytesPerChunk / static_cast<int64_t>(sizeof(T));
  int64_t planes = 1;
  for (const CopyAxis& axis : outer) planes *= axis.size;
  const int64_t tile_rows = std::min(rows.size, kTile);
  const int64_t band_columns = std::min(columns.size, kChunk / tile_rows / kTile * kTile);
  const int64_t band_rows =
      std::min(rows.size, std::max<int64_t>(1, kChunk / (tile_rows * band_columns)) * tile_rows);
  const int64_t down = (rows.size + band_rows - 1) / band_rows;
  const int64_t across = (columns.size + band_columns - 1) / band_columns;
  const int64_t grain = kChunk / (band_rows * band_columns);
  for_ranges(planes * down * across, grain, [&](int64_t begin, int64_t end) {
    Place<T> plane(outer, begin / (down * across), from, to);
    int64_t band = begin % (down * across);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first_row = band / across * band_rows;
      const int64_t first_column = band % across * band_columns;
      const int64_t last_row = std::min(first_row + band_rows, rows.size);
      const int64_t last_column = std::min(first_column + band_columns, columns.size);
      for (int64_t row = first_row; row < last_row; row += kTile) {
        for (int64_t column = first_column; column < last_column; column += kTile) {
          const Tile<T> tile = {plane.from + row + column * columns.from, columns.from,
                                plane.to + row * rows.to + column, rows.to};
          transpose_tile(tile, std::min(kTile, last_row - row),
                         std::min(kTile, last_column - column));
        }
      }
      if (++band == down * across) {
        band = 0;
        plane.advance();
      }
    }
  });
}

template <typename T>
void copy_box(CopyAxes& axes, const T* from, T* to) {
  if (axes.empty()) {
    *to = *from;
    return;
  }
  int64_t total = 1;
  for (const CopyAxis& axis : axes) total *= axis.size;
  const CopyAxis columns = axes.back();
  axes.pop_back();
  if (axes.empty()) {
    for_ranges(total, kBytesPerChunk / static_cast<int64_t>(sizeof(T)),
               [&](int64_t begin, int64_t end) {
                 copy_row(from + begin * columns.from, columns.from, end - begin,
                          to + begin * columns.to, columns.to);
               });
    return;
  }
  // The axis along which elements lie together where they come from is walked beside the one
  // along which they do where they go, if the two differ.
  bool is_plane = false;
  auto beside = static_cast<int64_t>(axes.size()) - 1;
  if (columns.to == 1 && columns.from != 0 && columns.from != 1) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].from == 1 && axes[i].size >= 4) {
        beside = static_cast<int64_t>(i);
        is_plane = true;
      }
    }
  }
  const CopyAxis rows = axes[beside];
  axes.erase(axes.begin() + beside);
  if (is_plane) return copy_planes(axes, rows, columns, from, to);
  // A chunk is a range of (outer, rows) pairs.
  const int64_t outer = total / (rows.size * columns.size);
  const int64_t grain = kBytesPerChunk / static_cast<int64_t>(columns.size * sizeof(T));
  for_ranges(outer * rows.size, grain, [&](int64_t begin, int64_t end) {
    Place<T> place(axes, begin / rows.size, from, to);
    int64_t row = begin % rows.size;
    while (begin < end) {
      const int64_t count = std::min(rows.size - row, end - begin);
      copy_rows(place.from + row * rows.from, place.to + row * rows.to, {count, rows.from, rows.to},
                columns);
      begin += count;
      row = 0;
      place.advance();
    }
  });
}

}  // namespace

void copy_strided(DType dtype, const CopyAxes& box, const void* from, void* to) {
  for (const CopyAxis& axis : box) {
    if (axis.size <= 0) return;
  }
  CopyAxes axes = merged(box);
  visit_copied(dtype, [&](auto zero) {
    using T = decltype(zero);
    copy_box(axes, static_cast<const T*>(from), static_cast<T*>(to));
  });
}

Tensor view_of_elements(const Tensor& x, int64_t first, const Shape& shape) {
  const Ref<Buffer>& buffer = x.eager()->buffer();
  const size_t size = dtype_size(x.dtype());
  auto* begin = static_cast<const std::byte*>(x.raw_data()) + first * static_cast<int64_t>(size);
  const size_t bytes = static_cast<size_t>(shape.num_elements()) * size;
  if (!buffer || bytes < kLeastViewBytes ||
      reinterpret_cast<uintptr_t>(begin) % kViewAlignment != 0) {
    return {};
  }
  auto offset = static_cast<size_t>(begin - static_cast<const std::byte*>(buffer->data()));
  return Tensor::of_buffer(x.dtype(), shape, buffer, offset);
}

Tensor view_of_box(const Tensor& x, int64_t first, const CopyAxes& box, const Shape& shape) {
  const CopyAxes axes = merged(box);
  const bool lies_together = axes.empty() || (axes.size() == 1 && axes[0].from == 1);
  return lies_together ? view_of_elements(x, first, shape) : Tensor();
}

InlineVector<int64_t, 6> row_major_strides(const Shape& shape) {
  InlineVector<int64_t, 6> strides(static_cast<size_t>(shape.rank()), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape.size(i + 1);
  return strides;
}

const void* element_at(DType dtype, const void* data, int64_t element) {
  return static_cast<const std::byte*>(data) + element * static_cast<int64_t>(dtype_size(dtype));
}
void* element_at(DType dtype, void* data, int64_t element) {
  return static_cast<std::byte*>(data) + element * static_cast<int64_t>(dtype_size(dtype));
}

void fill_elements(DType dtype, const void* value, int64_t count, void* to) {
  visit_copied(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T& element = *static_cast<const T*>(value);
    for_ranges(count, kBytesPerChunk / static_cast<int64_t>(sizeof(T)),
               [&](int64_t begin, int64_t end) {
                 std::fill(static_cast<T*>(to) + begin, static_cast<T*>(to) + end, element);
               });
  });
}

void clear_elements(DType dtype, int64_t count, void* to) {
  visit_copied(dtype, [&](auto zero) { fill_elements(dtype, &zero, count, to); });
}

}  // namespace graven::engine
