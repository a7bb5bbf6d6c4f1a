#pragma once
#include "graven/optimize/fusion_groups.h"

namespace graven::engine {

// Reductions over the same axes that read one matrix share a pass over it, with what each of them
// alone needs, if none waits for another.
void join_reductions(FusionGroups& all);

}  // namespace graven::engine
