#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Puts the nodes of called bodies in place of the calls, so that the passes behind see through
// them and nothing is spent on calling. A body goes in if it is small, or called once in this
// graph; calls within it are treated alike, up to 256 in each other. A call that has the attribute
// _noinline set stays, and so does what would make the graph larger than max_nodes.
//
// Dimensions of the body become those of the call. What the call waited for, the first nodes of
// the body wait for; who waited for the call waits for the body's control outputs, or if it has
// none for its outputs. True if anything changed.
Result<bool> inline_calls(Graph& graph, int max_nodes = 20000);

}  // namespace graven::engine
