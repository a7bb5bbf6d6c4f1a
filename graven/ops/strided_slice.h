#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "graven/base/status.h"
#include "graven/ir/infer_context.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// The meaning of x[i:j:k, ..., newaxis, 5] for a tensor of a given shape.
//
// Entry e of begin, end and strides stands for the next axis of the input, unless a bit says
// otherwise: ellipsis_mask, as many axes as the other entries leave, whole; new_axis_mask, a new
// axis of size 1. begin_mask and end_mask say that the slice starts and ends where the axis does;
// shrink_axis_mask that begin is the index of one element, whose axis goes away. Axes that no
// entry reaches are whole. Source: tf.strided_slice, OpDef "StridedSlice".
struct StridedSlice {
  struct Axis {  // of the input
    Dim size;    // of the slice along it
    int64_t begin = 0, stride = 1;
    bool is_known = true;  // begin and stride are
    int result = -1;       // the axis of the result; -1: none
    int entry = -1;        // of begin, end and strides; -1: none, the axis is whole
  };
  InlineVector<Axis, 6> axes;
  Shape shape;  // of the result

  // For slices of known shapes: the box of elements, as the `from` places of the input and the `to`
  // places of a result in row-major order, and the element of the input where it begins.
  CopyAxes box(const Shape& input) const;
  int64_t first_element(const Shape& input) const;
};

// One entry of begin, end or strides: a number, or as a size, or neither if it is not known.
struct SliceBound {
  std::optional<int64_t> number = {};
  Dim size = Dim::unknown();
};
using SliceBounds = InlineVector<SliceBound, 6>;

// The slice of a tensor of shape `input` (which has a rank), or an error for a bad entry.
Result<StridedSlice> resolve_slice(const InferContext& dims, const StridedSliceAttrs& attrs,
                                   const Shape& input, std::span<const SliceBound> begin,
                                   std::span<const SliceBound> end,
                                   std::span<const SliceBound> strides);
// The same without the arithmetic of a graph: sizes of symbolic axes are not found.
Result<StridedSlice> resolve_slice(const StridedSliceAttrs& attrs, const Shape& input,
                                   std::span<const SliceBound> begin,
                                   std::span<const SliceBound> end,
                                   std::span<const SliceBound> strides);
// The same for values, at run time.
Result<StridedSlice> resolve_slice(const StridedSliceAttrs& attrs, const Shape& input,
                                   const Tensor& begin, const Tensor& end, const Tensor& strides);

}  // namespace graven::engine
