#pragma once
#include "graven/base/export.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// The input that is passed on as output 0 (Identity, a Reshape to the same shape), or -1.
GRAVEN_API int same_input(const Node& node);

// True if output i of a graph is its input i, as that of a loop's body is for a value that the loop
// does not change.
GRAVEN_API bool returns_input(const Graph& graph, int i);

// True if the rank is known and each Dim is a number or a term: then equal means equal.
GRAVEN_API bool has_definite_shape(const OutputType& type);

}  // namespace graven::engine
