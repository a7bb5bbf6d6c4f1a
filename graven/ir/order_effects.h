#pragma once

namespace graven::engine {

class Graph;

// Orders nodes with effects by creation, in a graph of a backward half: a gradient of the user's
// may print or assign.
void order_effects(Graph& graph);

}  // namespace graven::engine
