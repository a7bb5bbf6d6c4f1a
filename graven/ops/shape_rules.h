#pragma once
#include "graven/base/status.h"
#include "graven/ir/infer_context.h"

namespace graven::engine {

// Inference rules of several families, beside those of infer_context.h.

// The shape whose sizes an integer input holds, each as far as it is known. Negative ones are
// refused.
Result<Shape> shape_from_input(InferContext& c, int input);

// The same for ops that draw numbers: in a graph -1 leaves a size open, as in TensorFlow, so that
// such a node is an error of the run, when it is refused as any other.
Result<Shape> shape_to_draw(InferContext& c, int input);

}  // namespace graven::engine
