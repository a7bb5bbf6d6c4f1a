#pragma once
#include "graven/optimize/fusion_groups.h"

namespace graven::engine {

// Joins reductions over the same axes of one matrix, so that they share a pass over it, each with
// the nodes that only it needs. None of them may wait for another.
void join_reductions(FusionGroups& all);

}  // namespace graven::engine
