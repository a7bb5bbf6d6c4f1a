#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Boxes of elements cut out of tensors.

GRAVEN_API inline OpHandle<NoAttrs> kSlice;  // input, begin, size -> output

// The bits of the masks are for the entries of begin, end and strides. See strided_slice.h.
struct StridedSliceAttrs {
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  static constexpr auto fields() {
    using A = StridedSliceAttrs;
    return std::tuple(field("begin_mask", &A::begin_mask), field("end_mask", &A::end_mask),
                      field("ellipsis_mask", &A::ellipsis_mask),
                      field("new_axis_mask", &A::new_axis_mask),
                      field("shrink_axis_mask", &A::shrink_axis_mask));
  }
};
GRAVEN_API inline OpHandle<StridedSliceAttrs>
    kStridedSlice;  // input, begin, end, strides -> output
GRAVEN_API inline OpHandle<StridedSliceAttrs>
    kStridedSliceGrad;  // shape, begin, end, strides, dy -> output
GRAVEN_API inline OpHandle<StridedSliceAttrs>
    kTensorStridedSliceUpdate;  // input, begin, end, strides, value -> output

}  // namespace graven::engine
