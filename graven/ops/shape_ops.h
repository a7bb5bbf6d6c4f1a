#pragma once
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Ops of shapes that `ir` need not know by name.

GRAVEN_API inline OpHandle<ShapeAttrs> kShapeN;  // input: N * T -> output: N * out_type
GRAVEN_API inline OpHandle<ShapeAttrs> kSize;    // input -> output
GRAVEN_API inline OpHandle<NoAttrs> kRank;       // input -> output

GRAVEN_API inline OpHandle<NoAttrs> kBroadcastGradientArgs;  // s0, s1 -> r0, r1
GRAVEN_API inline OpHandle<NoAttrs> kBroadcastArgs;          // s0, s1 -> r0

}  // namespace graven::engine
