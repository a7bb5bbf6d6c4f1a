#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// If a reduction cannot share a kernel with the other readers of its operand, gives it a copy of
// the operand's cheap elementwise part: x - mean(x, 0), say, whose variance is computed before it
// is scaled by that. Otherwise the operand would be stored between the two kernels, only to be read
// twice. Passes after it must not merge equal nodes. True if anything changed.
Result<bool> copy_operands(Graph& graph);

}  // namespace graven::engine
