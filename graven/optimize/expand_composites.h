#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces each node of a composite op by its parts, and composite parts by theirs. The parts keep
// device and location of the node, wait for the nodes that it waited for, and are named within it.
// A node whose shapes are not known to fit stays (CompositeContext::stay_whole). True if anything
// changed.
Result<bool> expand_composites(Graph& graph);

}  // namespace graven::engine
