#pragma once
#include "graven/ir/moving_ops.h"
#include "graven/ir/op.h"

namespace graven::engine {

// Boxes of elements cut out of tensors.

GRAVEN_API inline OpHandle<NoAttrs> kSlice;  // input, begin, size -> output

GRAVEN_API inline OpHandle<StridedSliceAttrs>
    kStridedSliceGrad;  // shape, begin, end, strides, dy -> output
GRAVEN_API inline OpHandle<StridedSliceAttrs>
    kTensorStridedSliceUpdate;  // input, begin, end, strides, value -> output

}  // namespace graven::engine
