#include "graven/ops/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "graven/ops/elements.h"
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

// A plane whose rows lie together at the one end and whose columns do at the other, in tiles that
// fit a few cache lines both ways.
template <typename T>
void copy_plane(const T* from, T* to, const CopyAxis& rows, const CopyAxis& columns) {
  constexpr int64_t kTile = std::max<int64_t>(8, 64 / static_cast<int64_t>(sizeof(T)));
  for (int64_t row = 0; row < rows.size; row += kTile) {
    int64_t num_rows = std::min(kTile, rows.size - row);
    for (int64_t column = 0; column < columns.size; column += kTile) {
      int64_t num_columns = std::min(kTile, columns.size - column);
      const T* tile_from = from + row * rows.from + column * columns.from;
      T* tile_to = to + row * rows.to + column * columns.to;
      for (int64_t i = 0; i < num_rows; ++i) {
        copy_row(tile_from + i * rows.from, columns.from, num_columns, tile_to + i * rows.to,
                 columns.to);
      }
    }
  }
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
  // A chunk is a range of (outer, rows) pairs.
  int64_t outer = total / (rows.size * columns.size);
  int64_t grain = kBytesPerChunk / static_cast<int64_t>(columns.size * sizeof(T));
  for_ranges(outer * rows.size, grain, [&](int64_t begin, int64_t end) {
    InlineVector<int64_t, 6> index(axes.size(), 0);
    int64_t row = begin % rows.size, rest = begin / rows.size;
    const T* source = from;
    T* target = to;
    for (int64_t i = static_cast<int64_t>(axes.size()) - 1; i >= 0; --i) {
      index[i] = rest % axes[i].size;
      rest /= axes[i].size;
      source += index[i] * axes[i].from;
      target += index[i] * axes[i].to;
    }
    while (begin < end) {
      int64_t count = std::min(rows.size - row, end - begin);
      const T* first = source + row * rows.from;
      T* first_to = target + row * rows.to;
      if (is_plane) {
        copy_plane(first, first_to, {count, rows.from, rows.to}, columns);
      } else {
        copy_rows(first, first_to, {count, rows.from, rows.to}, columns);
      }
      begin += count;
      row = 0;
      for (int64_t i = static_cast<int64_t>(axes.size()) - 1; i >= 0; --i) {
        source += axes[i].from;
        target += axes[i].to;
        if (++index[i] < axes[i].size) break;
        source -= index[i] * axes[i].from;
        target -= index[i] * axes[i].to;
        index[i] = 0;
      }
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
