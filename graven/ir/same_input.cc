#include "graven/ir/same_input.h"

#include <algorithm>

#include "graven/base/inline_vector.h"

namespace graven::engine {
namespace {

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

// The input that output 0 equals, shape and all, by the op's record; -1 if none.
int passed_input(const Node& node) {
  const OpRecord& record = node.op().record();
  if (!record.passes_on || node.op().is_stateful_ever()) return -1;
  InlineVector<DType, 4> dtypes;
  for (OutputRef input : node.inputs()) dtypes.push_back(type_of(input).dtype);
  return record.passes_on(dtypes, node.attrs());
}

}  // namespace

bool has_definite_shape(const OutputType& type) {
  return type.shape.has_rank() &&
         std::ranges::none_of(type.shape.dims(), [](Dim dim) { return dim.is_unknown(); });
}

int same_input(const Node& node) {
  if (node.num_outputs() == 0 || node.op().is_stateful_ever()) return -1;
  const int same = std::max(node.op().record().view_of, passed_input(node));
  if (same < 0) return -1;
  const OutputType& output = node.output(0);
  const OutputType& source = type_of(node.inputs()[static_cast<size_t>(same)]);
  const bool is_same = !output.is_promised && source.dtype == output.dtype &&
                       has_definite_shape(output) && output.shape == source.shape;
  return is_same ? same : -1;
}

bool returns_input(const Graph& graph, int i) {
  const Node* input = graph.inputs()[static_cast<size_t>(i)];
  OutputRef output = graph.outputs()[static_cast<size_t>(i)];
  while (output.node != input) {
    const int same = graph.is_input(output.node) ? -1 : passed_input(*output.node);
    if (same < 0 || output.node->output(0).is_promised) return false;
    output = output.node->inputs()[static_cast<size_t>(same)];
  }
  return true;
}

}  // namespace graven::engine
