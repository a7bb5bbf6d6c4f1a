#pragma once
#include "graven/base/export.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Orders the effects of a graph that was just traced, in creation order, from the records of its
// ops: reads and writes of each resource, the chain of ordered ops, nodes that must run. Sets the
// control outputs. A NoOp makes the outputs' nodes, which were made last, wait for all nodes that
// must run.
GRAVEN_API void add_control_dependencies(Graph& graph);

}  // namespace graven::engine
