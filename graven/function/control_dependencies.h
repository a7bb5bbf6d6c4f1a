#pragma once
#include "graven/base/export.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Orders the effects of a graph that was just traced, in creation order, from the records
// of its ops: reads and writes of each resource, the chain of ordered ops, what must run. Sets the
// control outputs, and makes the outputs' nodes, which were made last, wait for all that must run
// by way of a NoOp.
GRAVEN_API void add_control_dependencies(Graph& graph);

}  // namespace graven::engine
