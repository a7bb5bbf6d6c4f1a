#pragma once
#include "graven/base/status.h"
#include "graven/ir/infer_context.h"

namespace graven::engine {

// Inference rules that several families share, beside those of infer_context.h.

// All inputs have one shape, and output 0 too.
Status same_shapes(InferContext& c);

// Two inputs that broadcast. If they are integers of rank 0 or 1, the sizes that they hold are
// combined as the elements are, so that shape arithmetic stays symbolic.
using DimFunction = Dim (InferContext::*)(Dim a, Dim b) const;
Status broadcast_and_combine_sizes(InferContext& c, DimFunction combine);
template <DimFunction combine>
Status broadcast_sizes(InferContext& c) {
  return broadcast_and_combine_sizes(c, combine);
}

// The shape that the integers of an input say, each as far as it is known. Negative ones are
// refused.
Result<Shape> shape_from_input(InferContext& c, int input);

}  // namespace graven::engine
