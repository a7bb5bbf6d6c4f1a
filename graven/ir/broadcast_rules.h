#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/op.h"

namespace graven::engine {

// The rule of ops with two inputs that broadcast. If both are integers of rank 0 or 1, the sizes
// that they hold are combined as the elements are, so that shape arithmetic stays symbolic.
using DimFunction = Dim (InferContext::*)(Dim a, Dim b) const;
GRAVEN_API Status broadcast_and_combine_sizes(InferContext& c, DimFunction combine);
template <DimFunction combine>
Status broadcast_sizes(InferContext& c) {
  return broadcast_and_combine_sizes(c, combine);
}

// True if the rule finds the broadcast of all inputs and refuses nothing else. A caller that knows
// the shapes need not run it.
GRAVEN_API bool is_broadcast_rule(InferFunction rule);

}  // namespace graven::engine
