#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Removes the nodes that neither an output, nor a control output, nor a node that must run needs:
// such a node is never executed, so its error does not appear either. Inputs of the
// graph stay: they are its signature. True if anything changed.
bool remove_dead_nodes(Graph& graph);

}  // namespace graven::engine
