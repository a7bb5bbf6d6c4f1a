#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// The rule that an op's record gives, or that follows from its body: a scalar body runs for each
// element of all rows, a reduction reduces the axes behind that of the rows. Null if there is none.
BatchFunction batch_rule_of(const Op& op);

}  // namespace graven::engine
