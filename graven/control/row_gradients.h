#pragma once
#include <optional>
#include <span>
#include <vector>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/batching/batch_graph.h"
#include "graven/ir/body.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// True if a node of the graph, or of a body of one, has a gradient that a function of the user's
// computes.
bool has_custom_gradient(const Graph& graph);

// Runs a function for all rows at once that has such nodes, as batch_graph does.
//
// The user's gradient is a function of one row: it reads tensors of the trace of that row. So the
// function is differentiated for one row, and both halves are batched: the outputs of all rows have
// one gradient, that of all rows. Nothing if the function cannot be differentiated.
Result<std::optional<std::vector<BatchedTensor>>> batch_with_row_gradient(
    Builder& builder, const Ref<Body>& body, std::span<const BatchedTensor> inputs,
    const BatchSettings& settings);

}  // namespace graven::engine
