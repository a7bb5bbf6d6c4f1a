#include "graven/runtime/run_body.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

// The nodes on which an output or a control output depends.
std::unordered_set<const Node*> needed_nodes(const Graph& graph) {
  std::unordered_set<const Node*> needed;
  std::vector<const Node*> todo(graph.control_outputs().begin(), graph.control_outputs().end());
  for (OutputRef output : graph.outputs()) todo.push_back(output.node);
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (!needed.insert(node).second) continue;
    for (OutputRef input : node->inputs()) todo.push_back(input.node);
    for (const Node* before : node->control_inputs()) todo.push_back(before);
  }
  return needed;
}

// The nodes of a graph lie in an order in which they can run.
Status run_by_node(const Graph& graph, std::span<const Tensor> inputs, Tensors& outputs) {
  std::unordered_map<const Node*, Tensors> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = {inputs[i]};
  auto needed = needed_nodes(graph);
  for (const Node* node : graph.nodes()) {
    if (!needed.contains(node) || values.contains(node)) continue;
    std::vector<Tensor> operands;
    for (OutputRef input : node->inputs()) operands.push_back(values[input.node][input.index]);
    Tensors made;
    Status status = run_op(node->op(), node->attrs(), operands, /*reusable=*/0,
                           /*state=*/nullptr, made);
    if (!status.ok()) return failed_at(*node, status);
    values[node] = std::move(made);
  }
  for (OutputRef output : graph.outputs()) outputs.push_back(values[output.node][output.index]);
  return {};
}

}  // namespace

bool accepts_shapes(const Body& body, std::span<const Tensor> inputs) {
  const Graph& graph = *body.graph();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = *graph.inputs()[i];
    const Shape& declared = &node.op() == kPlaceholder.op
                                ? node.attrs().as<PlaceholderAttrs>().shape
                                : node.output(0).shape;
    if (!is_subshape(inputs[i].shape(), declared)) return false;
  }
  return true;
}

Status run_body(const Ref<Body>& body, std::span<const Tensor> inputs, Tensors& outputs) {
  if (inputs.size() != body->graph()->inputs().size()) {
    return internal_error("The function ", body->name(), " has ", body->graph()->inputs().size(),
                          " inputs, got ", inputs.size());
  }
  if (!accepts_shapes(*body, inputs)) return run_by_node(*body->graph(), inputs, outputs);
  ASSIGN_OR_RETURN(Ref<Program> program, program_of(body));
  if (!program->accepts(inputs)) return run_by_node(*body->graph(), inputs, outputs);
  return program->run(inputs, outputs);
}

}  // namespace graven::engine
