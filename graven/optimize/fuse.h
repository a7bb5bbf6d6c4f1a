#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Puts elementwise ops, and reductions among them, that can be computed in one pass over memory
// into nodes of the op Fusion (ir/fusion.h), within FusionLimits: chains of one shape, chains that
// a reduction consumes, what goes row by row with reductions over the last axes, and what follows a
// matrix product or a convolution. A node that shares with no other stays as it is. Bits stay what
// they are.
//
// Last of the passes, because no other knows Fusions; after find_promises, because a promised
// shape is checked by a step of its own. True if anything changed.
Result<bool> fuse(Graph& graph);

}  // namespace graven::engine
