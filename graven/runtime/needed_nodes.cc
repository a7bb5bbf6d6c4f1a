#include "graven/runtime/needed_nodes.h"

namespace graven::engine {
namespace {

// By id of the node. Inputs of the graph need no node before them.
std::vector<bool> find_needed(const Graph& graph) {
  std::vector<bool> is_needed(graph.id_bound()), is_input(graph.id_bound());
  std::vector<const Node*> todo;
  auto need = [&](const Node* node) {
    if (is_needed[node->id()]) return;
    is_needed[node->id()] = true;
    todo.push_back(node);
  };
  for (const Node* node : graph.inputs()) is_input[node->id()] = true;
  for (OutputRef output : graph.outputs()) need(output.node);
  for (const Node* node : graph.control_outputs()) need(node);
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (is_input[node->id()]) continue;
    for (OutputRef input : node->inputs()) need(input.node);
    for (const Node* before : node->control_inputs()) need(before);
  }
  for (const Node* node : graph.inputs()) is_needed[node->id()] = true;
  return is_needed;
}

bool is_ordered(const std::vector<Node*>& nodes, size_t id_bound) {
  std::vector<bool> is_seen(id_bound);
  for (const Node* node : nodes) {
    for (OutputRef input : node->inputs()) {
      if (!is_seen[input.node->id()]) return false;
    }
    for (const Node* before : node->control_inputs()) {
      if (!is_seen[before->id()]) return false;
    }
    is_seen[node->id()] = true;
  }
  return true;
}

}  // namespace

std::vector<Node*> needed_nodes(const Graph& graph) {
  const std::vector<bool> is_needed = find_needed(graph);
  std::vector<Node*> nodes;
  for (Node* node : graph.nodes()) {
    if (is_needed[node->id()]) nodes.push_back(node);
  }
  return nodes;
}

Result<std::vector<Node*>> needed_nodes_in_order(Graph& graph) {
  const auto bound = static_cast<size_t>(graph.id_bound());
  std::vector<Node*> nodes = needed_nodes(graph);
  if (is_ordered(nodes, bound)) return nodes;
  graph.sort();
  nodes = needed_nodes(graph);
  if (is_ordered(nodes, bound)) return nodes;
  return internal_error("The graph '", graph.name(), "' has a cycle");
}

}  // namespace graven::engine
