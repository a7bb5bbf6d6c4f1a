#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/inline_vector.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/shape.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The one loop behind ops that move elements: transpose, slice, split, stack, pad, tile, reverse.

// An axis of a box of elements: its size, and the distance in elements of two neighbours in the
// source (0: one element is repeated; negative: backwards) and in the destination (no two elements
// go to one place).
struct CopyAxis {
  int64_t size;
  int64_t from;
  int64_t to;
};
using CopyAxes = InlineVector<CopyAxis, 6>;

// Copies a box of elements, axes outermost first. `from` and `to` point to its first element. Rows
// that lie together in both places are copied as memory, axes that change places in square tiles;
// large boxes by several threads.
GRAVEN_API void copy_strided(DType dtype, const CopyAxes& box, const void* from, void* to);

// The elements of x from `first` on under another shape, as a view that keeps the memory of x;
// empty if a copy is better: of few elements, or where a view would not begin at a cache line.
Tensor view_of_elements(const Tensor& x, int64_t first, const Shape& shape);
// The same for the elements of a box that begins there; empty also if these do not lie together.
Tensor view_of_box(const Tensor& x, int64_t first, const CopyAxes& box, const Shape& shape);

// Elements between two neighbours along each axis of a row-major tensor.
GRAVEN_API InlineVector<int64_t, 6> row_major_strides(const Shape& shape);

// The pointer moved on by some elements of the dtype.
const void* element_at(DType dtype, const void* data, int64_t element);
void* element_at(DType dtype, void* data, int64_t element);

// Sets `count` elements to the first element of `value`, by several threads if they are many.
void fill_elements(DType dtype, const void* value, int64_t count, void* to);
// Sets them to zero, false, or an empty string.
void clear_elements(DType dtype, int64_t count, void* to);

}  // namespace graven::engine
