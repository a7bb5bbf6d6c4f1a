#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Drops control inputs that say nothing: constants and inputs of the graph are there from the
// start, what is an input is waited for anyway, and so is what another control input waits for
// itself. A NoOp or Identity does nothing but wait, so whoever waits for it waits for its own
// inputs instead, as long as these are few. Edges from all other nodes stay, because they make a
// node run whose error must appear. True if anything changed.
bool drop_unused_control_edges(Graph& graph);

}  // namespace graven::engine
