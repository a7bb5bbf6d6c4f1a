#pragma once
#include <cstdint>

#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Replaces each pure node whose inputs are all constants by its value, computed with the op's own
// kernel. Replaces small OnesLike and ZerosLike nodes of a known shape too, whose input need not be
// constant. Results above max_bytes that are larger than the constants they are computed from stay
// nodes, and so does a fill of more than a little, which is as quickly made as read. A node whose
// kernel fails stays, and fails when it is run; a node with control inputs stays too. Inputs of the
// graph are not constants, even where they hold the value of a captured tensor.
//
// evaluate runs a node on constants; it is the runtime's eager Builder, which this folder does not
// know. True if anything changed.
bool fold_constants(Graph& graph, Builder& evaluate, int64_t max_bytes = 10 << 20);

}  // namespace graven::engine
