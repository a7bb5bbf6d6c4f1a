#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Fusion: puts elementwise ops, and reductions among them, that can be computed in one pass over
// memory into nodes of the op Fusion (ir/fusion.h), within FusionLimits. These are chains of one
// shape, chains that a reduction consumes, row-by-row computations with reductions over the last
// axes, and elementwise ops behind a matrix product or a convolution. A node that shares with no
// other stays as it is. No bit of a result changes.
//
// Last of the passes, because no other knows Fusions; after find_promises, because a promised
// shape is checked by a step of its own. True if anything changed.
Result<bool> fuse(Graph& graph);

}  // namespace graven::engine
