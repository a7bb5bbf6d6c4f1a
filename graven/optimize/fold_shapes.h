#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces outputs whose elements shape inference knows as numbers by constants: shapes, sizes and
// ranks of tensors of known shape, and values computed from them. Inference records the elements in
// OutputType::sizes, so no op is named. Only for pure nodes without control inputs, and for values
// computed from known elements alone: an op may refuse an unknown element, and must get the chance
// even if the elements taken from its output are known. True if anything changed.
bool fold_shapes(Graph& graph);

}  // namespace graven::engine
