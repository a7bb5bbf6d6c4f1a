#pragma once
#include <cstdint>
#include <vector>

#include "graven/base/export.h"
#include "graven/ir/op.h"

namespace graven::engine {

// Ops that move whole tensors of rows. They stand apart from the other structural ops, as only
// `batching` names them below `ops`: what an op's record says of one row by `.reads` becomes these,
// beside ExpandDims, Reshape, BroadcastTo, Fill and ConcatV2. The records are in graven/ops.

GRAVEN_API inline OpHandle<NoAttrs> kTranspose;  // x, perm -> y
GRAVEN_API inline OpHandle<NoAttrs> kReverseV2;  // tensor, axis -> output

struct SqueezeAttrs {
  std::vector<int64_t> squeeze_dims;
  static constexpr auto fields() {
    return std::tuple(field("squeeze_dims", &SqueezeAttrs::squeeze_dims));
  }
};
GRAVEN_API inline OpHandle<SqueezeAttrs> kSqueeze;  // input -> output

// The bits of the masks are for the entries of begin, end and strides. See ops/strided_slice.h.
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

struct PackAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple(field("axis", &PackAttrs::axis)); }
};
GRAVEN_API inline OpHandle<PackAttrs> kPack;  // values: N * T -> output

struct GatherV2Attrs {
  int64_t batch_dims = 0;
  static constexpr auto fields() {
    return std::tuple(field("batch_dims", &GatherV2Attrs::batch_dims));
  }
};
GRAVEN_API inline OpHandle<GatherV2Attrs> kGatherV2;  // params, indices, axis -> output

}  // namespace graven::engine
