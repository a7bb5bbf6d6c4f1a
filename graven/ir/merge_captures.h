#pragma once
#include <span>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/ir/graph_builder.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// A graph that is finished but for its place in a Body.
struct OpenGraph {
  Ref<Graph> graph;
  // The first inputs of the graph are the arguments; the others stand for the captures, in order.
  int num_arguments = 0;
  // Outer tensors that the graph uses, each with its placeholder. A node that holds the body takes
  // the outer tensors as inputs; the graph of that node may have to capture them once more.
  std::vector<GraphBuilder::Capture> captures = {};
};

// Gives all graphs of one node the same inputs behind their arguments: the outer tensors that any
// of them captured, in the order of first capture. A graph that does not use one gets a placeholder
// for it, as TensorFlow's OpDefs ask for. Returns the outer tensors, which the node takes.
GRAVEN_API std::vector<Tensor> merge_captures(std::span<OpenGraph* const> graphs);

}  // namespace graven::engine
