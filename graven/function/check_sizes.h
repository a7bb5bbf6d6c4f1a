#pragma once
#include <span>

#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Graph;

// The error that tracing for arguments of these shapes would have raised, if the graph was traced
// with sizes left open: shapes that do not fit each other. Infers the types of all nodes again.
Status check_sizes(const Graph& graph, std::span<const Tensor> arguments);

}  // namespace graven::engine
