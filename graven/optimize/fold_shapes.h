#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces outputs whose elements shape inference knows as numbers by constants: shapes, sizes
// and ranks of tensors of known shape, and what was computed of them. Inference says so in
// OutputType::sizes, so no op is named. Only outputs of pure nodes that wait for nothing, and that
// were computed of known elements alone: an op whose elements are not known may refuse its
// arguments, and must do so even if what is taken of it is known. True if anything changed.
bool fold_shapes(Graph& graph);

}  // namespace graven::engine
