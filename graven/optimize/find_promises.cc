#include "graven/optimize/find_promises.h"

#include "graven/ir/infer_context.h"

namespace graven::engine {

Result<bool> find_promises(Graph& graph) {
  bool changed = false;
  Ref<Graph> owner(&graph);
  for (Node* node : graph.nodes()) {
    const Op& op = node->op();
    // Inputs are checked when the run begins. Without inference there is nothing to find.
    if (graph.is_input(node) || node->num_outputs() == 0 || !op.record().infer) continue;
    InlineVector<Tensor, 4> inputs;
    for (OutputRef input : node->inputs()) inputs.push_back(symbolic_tensor(owner, input));
    TypeBindings types;
    RETURN_IF_ERROR(op.bind_types(inputs, node->attrs(), /*eager=*/false, types));
    InferContext context(op, node->attrs(), inputs, types, node->num_outputs(), &graph.symbols());
    const bool is_good = op.record().infer(context).ok();
    for (int i = 0; i < node->num_outputs(); ++i) {
      OutputType& declared = node->output(i);
      const Shape found = is_good ? context.shapes()[i] : Shape::unknown_rank();
      const bool is_promised = !is_subshape(found, declared.shape);
      changed |= is_promised != declared.is_promised;
      declared.is_promised = is_promised;
      if (found.is_fully_known() && !is_promised && !(declared.shape == found)) {
        declared.shape = found;
        changed = true;
      }
    }
  }
  return changed;
}

}  // namespace graven::engine
