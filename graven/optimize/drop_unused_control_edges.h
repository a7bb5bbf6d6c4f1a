#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Drops control inputs that order nothing. Constants and inputs of the graph are there from the
// start. A node waits for its data inputs anyway, and for the nodes that its other control inputs
// wait for. A NoOp or Identity only waits, so nodes that wait for it wait for its inputs instead,
// as long as these are few. Edges from all other nodes stay, because they make a node run whose
// error must appear. True if anything changed.
bool drop_unused_control_edges(Graph& graph);

}  // namespace graven::engine
