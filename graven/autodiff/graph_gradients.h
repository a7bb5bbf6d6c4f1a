#pragma once
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/ir/builder.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The gradients of targets with respect to sources in the graph that is being built, without any
// tape (tf.gradients): one each, none where there is no path. Targets and sources are tensors of
// the graph, or outer ones that it captured. seeds: empty, or one for each target; an empty tensor
// stands for ones. No gradient flows back through the tensors of `stop`.
//
// The new nodes go through `builder`, which builds this graph. Calls on the way become calls of
// forward halves, in place.
GRAVEN_API Result<std::vector<Gradient>> graph_gradients(
    const Ref<Graph>& graph, std::span<const Tensor> targets, std::span<const Tensor> sources,
    std::span<const Tensor> seeds, std::span<const Tensor> stop, Builder& builder);

}  // namespace graven::engine
