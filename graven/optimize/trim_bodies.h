#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Drops what nobody needs of the branches and loops of a graph:
//
//   - outputs of branches that nothing reads, and what computes them;
//   - variables of loops whose value is needed only for the same variable's next value;
//   - inputs that no body reads.
//
// A variable that a loop does not change is read before the loop instead of behind it. All bodies
// of a node still take the same inputs. This works on the copy that is run: the graph as traced
// keeps its outputs. A computation that is dropped does not fail any more, as with dead nodes. True
// if anything changed.
bool trim_bodies(Graph& graph);

}  // namespace graven::engine
