#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Whether the node, a matrix product or a convolution, may be the library member of a Fusion: the
// op has .panels, the node has no effects, and all sizes of inputs and result are numbers or terms.
bool can_be_library_member(const Node& node);

}  // namespace graven::engine
