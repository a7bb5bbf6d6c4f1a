#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Checks the invariants of every graph: inputs and control inputs come before their users and
// belong to the graph, numbers and dtypes of inputs fit the op's record, names are unique, Dims
// belong to the graph's table, the outputs exist. An error here is a mistake of ours: kInternal.
GRAVEN_API Status verify_graph(const Graph& graph);

// The checks of one node alone: its inputs and outputs against the record.
GRAVEN_API Status verify_node(const Node& node);

}  // namespace graven::engine
