#include "graven/autodiff/expand_composites.h"

#include <vector>

#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"

namespace graven::engine {

bool is_differentiated_by_parts(const Node& node) {
  const OpRecord& record = node.op().record();
  return record.body.kind() == OpBody::Kind::kComposite && !record.gradient;
}

Status expand_composites(const Ref<Graph>& graph,
                         FunctionRef<void(OutputRef node, OutputRef part)> replaced) {
  GraphBuilder builder(graph);
  Frame frame(&builder);
  frame.locations = nullptr;
  std::vector<Node*> expanded;
  for (size_t n = 0; n < graph->nodes().size(); ++n) {  // parts may be composites too
    Node* node = graph->nodes()[n];
    if (!is_differentiated_by_parts(*node)) continue;
    builder.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    frame.device = node->device();
    std::vector<Tensor> inputs;
    for (OutputRef input : node->inputs()) inputs.push_back(symbolic_tensor(graph, input));
    ASSIGN_OR_RETURN(Tensors parts, expand_composite(builder, node->op(), inputs, node->attrs()));
    for (int i = 0; i < node->num_outputs(); ++i) {
      ASSIGN_OR_RETURN(Tensor part, builder.capture(parts[i], node->name()));
      graph->replace_uses({node, i}, symbolic(part).output());
      replaced({node, i}, symbolic(part).output());
    }
    graph->replace_control_uses(node, nullptr);
    expanded.push_back(node);
  }
  if (expanded.empty()) return {};
  graph->remove(expanded);
  graph->sort();
  return {};
}

}  // namespace graven::engine
