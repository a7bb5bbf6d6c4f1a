#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// A sum of many tensors becomes a chain of sums, each of which ends with a matrix product or a
// convolution that nothing else needs: `fuse` lets that product add itself to the sum so far, piece
// by piece. The gradient of a weight that a program uses a hundred times is such a sum; its parts
// would all be stored until the last one is there. Numbers are added in the same order as before,
// so the bits stay. True if anything changed.
Result<bool> accumulate_products(Graph& graph);

}  // namespace graven::engine
