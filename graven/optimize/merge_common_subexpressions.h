#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Merges pure nodes that compute the same: equal op, attributes, device, inputs and control
// inputs. Inputs of ops that commute may stand in any order, where no NaN can tell it. True if
// anything changed.
bool merge_common_subexpressions(Graph& graph);

}  // namespace graven::engine
