#include "graven/optimize/remove_dead_nodes.h"

#include <vector>

namespace graven::engine {
namespace {

bool must_run(const Node& node) {
  return node.op().is_stateful_ever() &&
         node.op().record().effects(node.op(), node.attrs()).must_run;
}

}  // namespace

std::vector<bool> live_nodes(const Graph& graph, std::span<const OutputRef> outputs) {
  std::vector<bool> is_live(static_cast<size_t>(graph.id_bound()), false);
  for (OutputRef output : outputs) is_live[output.node->id()] = true;
  for (const Node* node : graph.control_outputs()) is_live[node->id()] = true;
  // Users come after their inputs, so one walk from the end finds all.
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node* node = graph.nodes()[i];
    if (!is_live[node->id()] && !must_run(*node)) continue;
    is_live[node->id()] = true;
    for (OutputRef input : node->inputs()) is_live[input.node->id()] = true;
    for (const Node* before : node->control_inputs()) is_live[before->id()] = true;
  }
  return is_live;
}

bool remove_dead_nodes(Graph& graph) {
  std::vector<OutputRef> needed(graph.outputs().begin(), graph.outputs().end());
  for (Node* node : graph.inputs()) needed.push_back({node, 0});
  const std::vector<bool> is_needed = live_nodes(graph, needed);
  std::vector<Node*> dead;
  for (Node* node : graph.nodes()) {
    if (!is_needed[node->id()]) dead.push_back(node);
  }
  if (dead.empty()) return false;
  graph.remove(dead);
  return true;
}

}  // namespace graven::engine
