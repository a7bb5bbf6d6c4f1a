#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Infers each node's shapes once more, after the other passes. A shape in the graph that says more
// was promised (by set_shape, or by a call of a Function that was traced for narrower shapes) and
// becomes a promise of that output; a shape that follows from the inputs after all is a promise no
// longer. So later passes need not infer: a shape that is not a promise is a fact.
//
// Here and not where promises are made, because passes move them: a value that replaces a promised
// one may have a less special shape. True if anything changed.
Result<bool> find_promises(Graph& graph);

}  // namespace graven::engine
