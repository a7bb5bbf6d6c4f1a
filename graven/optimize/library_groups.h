#pragma once
#include "graven/ir/graph.h"

namespace graven::engine {

// Whether a Fusion may have the node, a matrix product or a convolution, as its library member: the
// op tells of panels, the node has no effects, and all sizes of inputs and result are numbers or
// terms.
bool can_be_library_member(const Node& node);

}  // namespace graven::engine
