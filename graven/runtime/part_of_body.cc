#include "graven/runtime/part_of_body.h"

#include <algorithm>
#include <utility>

#include "graven/runtime/needed_nodes.h"

namespace graven::engine {

Ref<Body> part_of_body(const Body& body, std::span<const OutputRef> outputs,
                       const std::vector<bool>& is_input, bool with_effects) {
  std::vector<Node*> copies;
  Ref<Graph> graph = body.graph()->clone(&copies);
  auto copy_of = [&](OutputRef value) {
    return OutputRef{copies[static_cast<size_t>(value.node->id())], value.index};
  };
  std::vector<OutputRef> made;
  for (OutputRef output : outputs) made.push_back(copy_of(output));
  std::vector<Node*> inputs;
  for (size_t i = 0; i < is_input.size(); ++i) {
    if (is_input[i]) inputs.push_back(graph->inputs()[i]);
  }
  graph->set_outputs(std::move(made));
  graph->set_inputs(std::move(inputs));
  if (!with_effects) graph->set_control_outputs({});
  const std::vector<Node*> needed = needed_nodes(*graph);
  std::vector<Node*> dead;
  for (Node* node : graph->nodes()) {
    if (std::ranges::find(needed, node) == needed.end()) dead.push_back(node);
  }
  graph->remove(dead);
  return Body::create(body.name(), std::move(graph));
}

std::vector<bool> inputs_needed(const Graph& graph, std::span<const OutputRef> values) {
  std::vector<bool> is_live(static_cast<size_t>(graph.id_bound()), false);
  for (OutputRef value : values) is_live[static_cast<size_t>(value.node->id())] = true;
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node* node = graph.nodes()[n];
    if (!is_live[static_cast<size_t>(node->id())]) continue;
    for (OutputRef input : node->inputs()) is_live[static_cast<size_t>(input.node->id())] = true;
    for (const Node* before : node->control_inputs()) {
      is_live[static_cast<size_t>(before->id())] = true;
    }
  }
  std::vector<bool> needed;
  for (const Node* input : graph.inputs()) {
    needed.push_back(is_live[static_cast<size_t>(input->id())]);
  }
  return needed;
}

}  // namespace graven::engine
