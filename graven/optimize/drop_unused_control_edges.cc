#include "graven/optimize/drop_unused_control_edges.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Going through a NoOp of many inputs would make many edges of one.
constexpr size_t kMaxInputsOfWaitingNode = 4;

bool only_waits(const Node& node) {
  return (&node.op() == kNoOp.op || &node.op() == kIdentity.op) &&
         node.inputs().size() + node.control_inputs().size() <= kMaxInputsOfWaitingNode;
}

bool has_input(const Node& node, const Node* before) {
  return std::any_of(node.inputs().begin(), node.inputs().end(),
                     [&](OutputRef input) { return input.node == before; });
}

class ControlEdges {
 public:
  explicit ControlEdges(Graph& graph)
      : is_there_(graph.id_bound(), false), marks_(graph.id_bound(), 0) {
    for (const Node* node : graph.inputs()) is_there_[node->id()] = true;
  }

  // The control inputs that are worth having; `node` has them, or is null for the graph itself.
  std::vector<Node*> needed(std::span<Node* const> controls, const Node* node) {
    std::vector<Node*> kept;
    ++mark_;
    for (Node* before : controls) keep(before, node, kept);
    if (kept.size() < 2) return kept;
    ++mark_;
    for (const Node* other : kept) {
      for (OutputRef input : other->inputs()) is_new(input.node);
      for (const Node* before : other->control_inputs()) is_new(before);
    }
    std::erase_if(kept, [&](const Node* before) { return marks_[before->id()] == mark_; });
    return kept;
  }

 private:
  // True once for each node since mark_ was raised.
  bool is_new(const Node* node) { return std::exchange(marks_[node->id()], mark_) != mark_; }

  void keep(Node* before, const Node* node, std::vector<Node*>& kept) {
    bool is_constant = &before->op() == kConst.op && before->control_inputs().empty();
    if (is_there_[before->id()] || is_constant || !is_new(before)) return;
    if (node && has_input(*node, before)) return;
    if (only_waits(*before)) {
      for (OutputRef input : before->inputs()) keep(input.node, node, kept);
      for (Node* earlier : before->control_inputs()) keep(earlier, node, kept);
    } else {
      kept.push_back(before);
    }
  }
  std::vector<bool> is_there_;
  std::vector<int> marks_;  // by id
  int mark_ = 0;
};

}  // namespace

bool drop_unused_control_edges(Graph& graph) {
  ControlEdges edges(graph);
  bool changed = false;
  auto differs = [](const std::vector<Node*>& kept, std::span<Node* const> before) {
    return !std::equal(kept.begin(), kept.end(), before.begin(), before.end());
  };
  for (Node* node : graph.nodes()) {
    if (node->control_inputs().empty()) continue;
    std::vector<Node*> kept = edges.needed(node->control_inputs(), node);
    if (!differs(kept, node->control_inputs())) continue;
    graph.set_control_inputs(node, std::move(kept));
    changed = true;
  }
  std::vector<Node*> kept = edges.needed(graph.control_outputs(), nullptr);
  if (differs(kept, graph.control_outputs())) {
    graph.set_control_outputs(std::move(kept));
    changed = true;
  }
  return changed;
}

}  // namespace graven::engine
