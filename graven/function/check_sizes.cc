#include "graven/function/check_sizes.h"

#include <utility>
#include <vector>

#include "graven/ir/graph_builder.h"

namespace graven::engine {

Status check_sizes(const Graph& graph, std::span<const Tensor> arguments) {
  const Ref<Graph> exact = graph.clone();
  for (size_t i = 0; i < arguments.size(); ++i) {
    exact->inputs()[i]->output(0).shape = arguments[i].shape();
  }
  GraphBuilder builder(exact);
  for (Node* node : exact->nodes()) {
    if (exact->is_input(node) || node->num_outputs() == 0) continue;
    std::vector<Tensor> inputs;
    for (OutputRef input : node->inputs()) inputs.push_back(symbolic_tensor(exact, input));
    ASSIGN_OR_RETURN(auto types,
                     builder.output_types(node->op(), inputs, node->attrs(), node->name()));
    for (int i = 0; i < node->num_outputs(); ++i) {
      OutputType& type = node->output(i);
      OutputType& inferred = types[static_cast<size_t>(i)];
      if (!type.is_promised) type.shape = std::move(inferred.shape);
      type.sizes = std::move(inferred.sizes);
      type.handle_data = std::move(inferred.handle_data);
    }
  }
  return {};
}

}  // namespace graven::engine
