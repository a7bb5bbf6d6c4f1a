#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Tells the bodies of loops which sizes are equal. Each variable of a loop comes with unknown sizes
// of its own; where the sizes that two variables enter with are equal, or are numbers, and each
// iteration keeps them, the body and the condition say so in their types, and fuse better. True if
// anything changed.
bool unify_sizes(Graph& graph);

}  // namespace graven::engine
