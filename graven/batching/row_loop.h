#pragma once
#include "graven/base/status.h"
#include "graven/ir/batch_context.h"

namespace graven::engine {

// The outputs of the context's node, computed in a loop over the rows: as a node of the same kind
// that map_fn makes. Lists hold the rows of the inputs and outputs.
Status run_in_loop(BatchContext& c);

}  // namespace graven::engine
