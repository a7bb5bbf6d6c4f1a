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
// tape (tf.gradients): one each, none where there is no path. Targets and sources are
// tensors of the graph, or outer ones that it captured. seeds: one for each target, or nothing at
// all; an empty tensor stands for ones. Nothing flows back through the tensors of `stop`.
//
// The nodes go through `builder`, whose graph it is. Calls on the way are turned into calls of
// forward halves, in place.
GRAVEN_API Result<std::vector<Gradient>> graph_gradients(
    const Ref<Graph>& graph, std::span<const Tensor> targets, std::span<const Tensor> sources,
    std::span<const Tensor> seeds, std::span<const Tensor> stop, Builder& builder);

}  // namespace graven::engine
