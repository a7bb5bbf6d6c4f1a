#pragma once
#include <span>
#include <vector>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Nodes of a function that run in one loop over the rows together, because what passes between them
// has no axis for the rows: its size differs from row to row.
//
//   numbers = Where(x)          # [?, 1]: no tensor of all rows
//   y = ReduceSum(numbers)      # a scalar for each row

// True if the rows' own tensors may have different shapes, or are lists: the shape holds a size
// that is neither a number nor made of the sizes of the function's inputs.
bool may_differ_between_rows(const Graph& graph, const OutputType& type);

// The seeds, and all nodes that they must run together with: those that read an output that may
// differ between rows, and what is computed on the way to them. `waiting` holds the seeds and the
// nodes that depend on them, in order; so does the result.
std::vector<const Node*> region_of(std::span<const Node* const> waiting,
                                   std::span<const Node* const> seeds);

// A region as one node that calls it, in a graph of its own whose inputs stand for `inputs`.
struct RowRegion {
  std::vector<OutputRef> inputs, outputs;  // of the region, as outputs of nodes of the function
  Ref<Graph> graph;
  const Node* call = nullptr;
};
// `wanted` are the values of the region that others read.
Result<RowRegion> make_region(std::span<const Node* const> nodes,
                              std::span<const OutputRef> wanted);

}  // namespace graven::engine
