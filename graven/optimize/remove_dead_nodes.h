#pragma once
#include <span>
#include <vector>

#include "graven/ir/graph.h"

namespace graven::engine {

// Removes dead nodes, which no output, control output or node that must run needs. A dead node is
// never executed, so its error does not appear either. Inputs of the graph stay: they are its
// signature. True if anything changed.
bool remove_dead_nodes(Graph& graph);

// For each id, whether the node is alive if these are the outputs of the graph.
std::vector<bool> live_nodes(const Graph& graph, std::span<const OutputRef> outputs);

}  // namespace graven::engine
