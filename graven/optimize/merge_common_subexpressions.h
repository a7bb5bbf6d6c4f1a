#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Merges pure nodes that compute the same value: equal op, attributes, device, inputs and control
// inputs. Inputs of commutative ops may stand in any order, unless a NaN could show the difference.
// True if anything changed.
bool merge_common_subexpressions(Graph& graph);

}  // namespace graven::engine
