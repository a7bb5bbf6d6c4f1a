#pragma once
#include <vector>

#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// The nodes on which an output or a control output depends, and the inputs, in the order
// of the graph, in which they can run.
std::vector<Node*> needed_nodes(const Graph& graph);
// The same for any graph, which is sorted first if nodes cannot run in its order. An error names a
// circle.
Result<std::vector<Node*>> needed_nodes_in_order(Graph& graph);

}  // namespace graven::engine
