#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Makes an input of branches a constant in their bodies where the node is given a constant, and so
// a variable of a loop that the loop does not change. So bodies fold and fuse with it, and the
// input is dropped. True if anything changed.
bool constants_into_bodies(Graph& graph);

}  // namespace graven::engine
