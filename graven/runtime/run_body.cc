#include "graven/runtime/run_body.h"

#include <unordered_map>
#include <vector>

#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/needed_nodes.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

Status run_by_node(const Graph& graph, std::span<const Tensor> inputs, Tensors& outputs) {
  std::unordered_map<const Node*, Tensors> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = {inputs[i]};
  for (const Node* node : needed_nodes(graph)) {
    if (values.contains(node)) continue;
    std::vector<Tensor> operands;
    for (OutputRef input : node->inputs()) operands.push_back(values[input.node][input.index]);
    Tensors made;
    Status status = run_op(node->op(), node->attrs(), operands, /*reusable=*/0,
                           /*state=*/nullptr, made, node->device());
    if (!status.ok()) return failed_at(*node, status);
    values[node] = std::move(made);
  }
  outputs.clear();  // a loop gives those of its last iteration
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

Status run_body(const Ref<Body>& body, std::span<const Tensor> inputs, Tensors& outputs,
                bool may_hand_out_inputs) {
  RETURN_IF_ERROR(Stack::check("a call", body->name()));
  if (inputs.size() != body->graph()->inputs().size()) {
    return internal_error("The function ", body->name(), " has ", body->graph()->inputs().size(),
                          " inputs, got ", inputs.size());
  }
  if (!accepts_shapes(*body, inputs)) return run_by_node(*body->graph(), inputs, outputs);
  ASSIGN_OR_RETURN(Ref<Program> program, program_of(body));
  if (!program->accepts(inputs)) return run_by_node(*body->graph(), inputs, outputs);
  return program->run(inputs, outputs, may_hand_out_inputs);
}

}  // namespace graven::engine
