#include "graven/optimize/remove_dead_nodes.h"

#include <vector>

namespace graven::engine {
namespace {

bool must_run(const Node& node) {
  return node.op().is_stateful_ever() &&
         node.op().record().effects(node.op(), node.attrs()).must_run;
}

}  // namespace

bool remove_dead_nodes(Graph& graph) {
  std::vector<char> is_needed(graph.id_bound(), 0);
  for (const Node* node : graph.inputs()) is_needed[node->id()] = 1;
  for (OutputRef output : graph.outputs()) is_needed[output.node->id()] = 1;
  for (const Node* node : graph.control_outputs()) is_needed[node->id()] = 1;
  std::vector<Node*> dead;
  // Users come after their inputs, so one walk from the end finds all.
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    Node* node = graph.nodes()[i];
    if (!is_needed[node->id()] && !must_run(*node)) {
      dead.push_back(node);
      continue;
    }
    for (OutputRef input : node->inputs()) is_needed[input.node->id()] = 1;
    for (const Node* before : node->control_inputs()) is_needed[before->id()] = 1;
  }
  if (dead.empty()) return false;
  graph.remove(dead);
  return true;
}

}  // namespace graven::engine
