#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Inlines calls: replaces each by the nodes of the called body, so that later passes see them and
// no time is spent on calling. A body is inlined if it is small, or called once in this graph;
// calls within it are treated alike, up to 256 deep. A call with the attribute _noinline stays, and
// so does a call that would make the graph larger than max_nodes.
//
// Dimensions of the body become those of the call. The first nodes of the body wait for the control
// inputs of the call. Nodes that waited for the call wait for the body's control outputs, or if it
// has none for its outputs. True if anything changed.
Result<bool> inline_calls(Graph& graph, int max_nodes = 20000);

}  // namespace graven::engine
