#include "graven/function/control_dependencies.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// The placeholder or node that a handle comes from, through ops that pass it on unchanged.
OutputRef origin_of(OutputRef handle) {
  while (handle.node->op().record().view_of >= 0) {
    handle = handle.node->inputs()[handle.node->op().record().view_of];
  }
  return handle;
}

struct History {
  Node* last_write = nullptr;
  std::vector<Node*> reads_since;
};

}  // namespace

void add_control_dependencies(Graph& graph) {
  std::unordered_map<const Node*, History> histories;  // by the node that the handle comes from
  std::unordered_set<const Node*> consumed;
  for (const Node* node : graph.nodes()) {
    for (OutputRef input : node->inputs()) consumed.insert(input.node);
  }
  for (OutputRef output : graph.outputs()) consumed.insert(output.node);

  std::vector<Node*> must_run;
  Node* last_ordered = nullptr;
  for (Node* node : graph.nodes()) {
    if (!node->op().is_stateful_ever()) continue;
    Effects effects = node->op().record().effects(node->op(), node->attrs());
    for (int i : effects.reads) {
      History& history = histories[origin_of(node->inputs()[i]).node];
      if (history.last_write) graph.add_control_input(node, history.last_write);
      history.reads_since.push_back(node);
    }
    for (int i : effects.writes) {
      History& history = histories[origin_of(node->inputs()[i]).node];
      if (history.last_write && history.last_write != node) {
        graph.add_control_input(node, history.last_write);
      }
      for (Node* read : history.reads_since) {
        if (read != node) graph.add_control_input(node, read);
      }
      history.reads_since.clear();
      history.last_write = node;
    }
    if (effects.ordered) {
      if (last_ordered) graph.add_control_input(node, last_ordered);
      last_ordered = node;
    }
    // A read whose value is used runs because of that, and must come before it is returned.
    bool used_read = !effects.reads.empty() && consumed.contains(node);
    if (effects.must_run || used_read) must_run.push_back(node);
  }
  if (must_run.empty()) return;
  graph.set_control_outputs(must_run);
  if (graph.outputs().empty()) return;
  // Through one node, as edges from each to each would be many.
  Node* done = graph.add({.op = kNoOp.op,
                          .attrs = NoAttrs(),
                          .name = graph.unique_name("NoOp"),
                          .inputs = {},
                          .outputs = {},
                          .control_inputs = std::move(must_run)});
  for (OutputRef output : graph.outputs()) graph.add_control_input(output.node, done);
  graph.sort();
}

}  // namespace graven::engine
