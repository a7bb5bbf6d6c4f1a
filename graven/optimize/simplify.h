#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces nodes that return one of their inputs, by properties of their records only:
//
// - x op e where e is the op's identity_on_right (or on the left, if it commutes): x * 1, x - 0,
//   and for integers x + 0;
// - nodes whose op says so by passes_on (Identity, StopGradient, AddN of one tensor, Cast to the
//   input's dtype), and any view_of whose output has the input's shape;
// - a view in any shape (Reshape) of such a view: it becomes a view of the first view's input.
//
// No bit changes, -0.0 and NaN included, with one exception that arithmetic makes: a denormal
// number passes, where an executed x * 1 would flush it to zero as all arithmetic does. Nodes with
// control inputs stay, because their users wait for those too. True if anything changed.
bool simplify(Graph& graph);

}  // namespace graven::engine
