#pragma once
#include "graven/base/export.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// The same op with the same attributes, device, control inputs in number and output dtypes: the
// same node but for what its inputs are.
GRAVEN_API bool same_kind(const Node& a, const Node& b);
GRAVEN_API bool same_attributes(AttrsRef a, AttrsRef b);
// The same nodes in the same order, with the same inputs and outputs. Bodies of nodes are compared
// by their graphs. That two nodes have custom gradients counts as the same.
GRAVEN_API bool same_graph(const Graph& a, const Graph& b);

}  // namespace graven::engine
