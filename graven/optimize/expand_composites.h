#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces each node of a composite op by the ops that it is made of, and these again. The parts
// keep device and location of the node, wait for what it waited for, and are named within it. One
// whose shapes are not known to fit stays (CompositeContext::stay_whole).
// True if anything changed.
Result<bool> expand_composites(Graph& graph);

}  // namespace graven::engine
