#pragma once
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Moves out of loops what gives the same value in each iteration: nodes of the condition and the
// body whose inputs are constants, variables that the loop does not change, or such values. The
// loop takes the value as one more variable that it does not change.
//
// The rule. A node is moved only if it is pure and cannot fail: elementwise bodies and reductions
// without traps, ops that only move elements to places that are known, and matrix products and
// convolutions, all of shapes that are numbers, which inference has checked. So a loop that runs no
// iteration fails no more than before. It does no more than a little work either: what costs more
// than kCheap is moved out of the body only if the loop surely runs once, that is, if its condition
// holds on the constants that it enters with. Nor is a node moved whose result is larger than its
// operands: it would be kept in memory instead of being made where it is used.
//
// evaluate runs nodes on constants, as in fold_constants. True if anything changed.
bool hoist_invariants(Graph& graph, Builder& evaluate);

}  // namespace graven::engine
