#include "graven/optimize/choose_branches.h"

#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/chosen_body.h"
#include "graven/ir/structural_ops.h"
#include "graven/optimize/expand_composites.h"
#include "graven/optimize/inline_calls.h"

namespace graven::engine {

Result<bool> choose_branches(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.nodes()) {
    const NodeBodies bodies = bodies_of(*node);
    if (bodies.empty() || bodies.run != BodyRun::kOneOf) continue;
    const Node& choice = *node->inputs()[0].node;
    if (&choice.op() != kConst.op || graph.is_input(&choice)) continue;
    const auto chosen =
        chosen_body(choice.attrs().as<ConstAttrs>().value, bodies.is_list, bodies.all.size());
    if (!chosen.ok()) continue;  // The node fails, if it runs.
    const NodeBody& one = bodies.all[*chosen];
    const Ref<Body> body = one.body;
    const auto inputs = node->inputs().subspan(static_cast<size_t>(one.inputs.first),
                                               static_cast<size_t>(one.inputs.count));
    graph.replace_op(node, *call_op(*body), call_attrs(body), {inputs.begin(), inputs.end()}, {});
    changed = true;
  }
  if (!changed) return false;
  RETURN_IF_ERROR(inline_calls(graph).status());
  RETURN_IF_ERROR(expand_composites(graph).status());
  return true;
}

}  // namespace graven::engine
