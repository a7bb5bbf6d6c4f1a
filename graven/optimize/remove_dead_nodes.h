#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Removes dead nodes, which no output, control output or node that must run needs. A dead node is
// never executed, so its error does not appear either. Inputs of the graph stay: they are its
// signature. True if anything changed.
bool remove_dead_nodes(Graph& graph);

}  // namespace graven::engine
