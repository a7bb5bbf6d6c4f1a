#include "graven/ir/order_effects.h"

#include <utility>
#include <vector>

#include "graven/ir/graph.h"

namespace graven::engine {

void order_effects(Graph& graph) {
  std::vector<Node*> must_run;
  Node* before = nullptr;
  for (Node* node : graph.nodes()) {
    if (!node->op().is_stateful_ever()) continue;
    Effects effects = node->op().record().effects(node->op(), node->attrs());
    if (!effects.ordered && effects.reads.empty() && effects.writes.empty()) continue;
    if (before) graph.add_control_input(node, before);
    before = node;
    if (effects.must_run) must_run.push_back(node);
  }
  graph.set_control_outputs(std::move(must_run));
}

}  // namespace graven::engine
