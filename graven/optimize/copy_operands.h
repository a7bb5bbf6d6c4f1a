#pragma once
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Gives a reduction that cannot share a kernel with what else reads its operand a copy of that
// operand's cheap elementwise part: x - mean(x, 0), say, of which the variance is taken before it
// is scaled by that. Else the operand would be stored between the two, only to be read twice. True
// if anything changed. No pass after it may merge what is equal.
Result<bool> copy_operands(Graph& graph);

}  // namespace graven::engine
