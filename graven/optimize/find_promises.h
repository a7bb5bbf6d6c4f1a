#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Infers each node's shapes once more, from what the passes left. What the graph says beyond that
// was promised (by set_shape, or by a call of a Function that was traced for narrower shapes) and
// becomes a promise of that output; what follows from the inputs after all is a promise no longer.
// So later readers need not infer: a shape that is no promise is a fact.
//
// Here and not where promises are made, because passes move them: a value that stands for a
// promised one may say less. True if anything changed.
Result<bool> find_promises(Graph& graph);

}  // namespace graven::engine
