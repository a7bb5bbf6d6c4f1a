#pragma once
#include <functional>
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/batch_context.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

struct BatchSettings {
  Tensor num_rows;  // an int32 scalar
  // Called before an op runs in a loop over the rows, each time. An error ends the batching.
  std::function<Status(const Op& op)> on_loop;
  // Applies ops that run bodies, so that tapes get their gradients. Null: like any other op.
  std::function<Result<Tensors>(Builder& builder, const Op& op, std::span<const Tensor> inputs,
                                AttrsRef attrs)>
      apply_bodies;
};

// Runs a function, traced for one row, for all rows at once: applies ops to the builder, which
// computes them or adds them to a graph. The inputs are those of the graph. An output that does not
// depend on the row is not batched.
//
// Nodes whose inputs are not batched run once. Only nodes that outputs need run, and those with
// effects that must run.
GRAVEN_API Result<std::vector<BatchedTensor>> batch_graph(Builder& builder, const Ref<Graph>& graph,
                                                          std::span<const BatchedTensor> inputs,
                                                          const BatchSettings& settings);

}  // namespace graven::engine
