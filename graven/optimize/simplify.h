#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces nodes that give back one of their inputs, by properties of their records only:
//
// - x op e where e is the op's identity_on_right (or on the left, if it commutes): x * 1, x - 0,
//   and for integers x + 0;
// - what passes_on says (Identity, StopGradient, AddN of one tensor, Cast to the dtype that the
//   input has), and any view_of whose output has the input's shape;
// - a view in any shape (Reshape) of such a view: of what that is a view of.
//
// Bits stay, -0.0 and NaN included, with one exception that arithmetic makes: a denormal number
// passes, where an executed x * 1 would flush it to zero as all arithmetic does. Nodes that wait
// for others stay, as whoever uses them waits too. True if anything changed.
bool simplify(Graph& graph);

}  // namespace graven::engine
