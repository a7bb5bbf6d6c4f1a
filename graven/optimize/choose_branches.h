#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Makes a call of each node that chooses among bodies and is given a constant choice: a call of the
// body that is chosen. Then inlines such calls. True if anything changed.
Result<bool> choose_branches(Graph& graph);

}  // namespace graven::engine
