#include "graven/function/lift.h"

#include <unordered_map>
#include <unordered_set>

#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

// The nodes that a value depends on, in the graph's order; false if an argument is among them.
bool nodes_below(const Graph& graph, std::span<const OutputRef> roots,
                 const std::unordered_set<const Node*>& arguments, std::vector<Node*>& needed) {
  std::unordered_set<const Node*> wanted;
  std::vector<const Node*> todo;
  for (OutputRef root : roots) todo.push_back(root.node);
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (!wanted.insert(node).second) continue;
    if (arguments.contains(node)) return false;
    for (OutputRef input : node->inputs()) todo.push_back(input.node);
  }
  for (Node* node : graph.nodes()) {
    if (wanted.contains(node)) needed.push_back(node);
  }
  return true;
}

}  // namespace

Result<bool> initialize_lifted(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                               std::span<const CreatedVariable> variables) {
  std::vector<OutputRef> roots;
  for (const CreatedVariable& variable : variables) {
    // One made under init_scope has its value already (S5.40).
    if (variable.initial_value) roots.push_back(symbolic(variable.initial_value).output());
  }
  std::unordered_map<const Node*, Tensor> captured;
  for (const auto& capture : captures) {
    captured.emplace(&symbolic(capture.internal).node(), capture.external);
  }
  std::unordered_set<const Node*> arguments;
  for (const Node* input : graph.inputs()) {
    if (!captured.contains(input)) arguments.insert(input);
  }
  std::vector<Node*> needed;
  if (!nodes_below(graph, roots, arguments, needed)) return false;

  // Run where the outermost eager code is, without tapes.
  Frame eager(nullptr);
  std::unordered_map<const Node*, Tensors> values;
  for (Node* node : needed) {
    if (auto at = captured.find(node); at != captured.end()) {
      values[node] = {at->second};
      continue;
    }
    if (&node->op() == kConst.op) {
      values[node] = {node->attrs().as<ConstAttrs>().value};
      continue;
    }
    std::vector<Tensor> inputs;
    for (OutputRef input : node->inputs()) inputs.push_back(values[input.node][input.index]);
    ASSIGN_OR_RETURN(values[node], eager_builder().apply(node->op(), inputs, node->attrs()));
  }
  for (const CreatedVariable& variable : variables) {
    auto* resource = static_cast<Variable*>(variable.handle.resource().get());
    if (!variable.initial_value || resource->is_initialized()) continue;
    OutputRef initial = symbolic(variable.initial_value).output();
    RETURN_IF_ERROR(resource->assign(values[initial.node][initial.index]));
  }
  return true;
}

}  // namespace graven::engine
