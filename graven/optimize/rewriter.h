#pragma once
#include <span>
#include <vector>

#include "graven/ir/graph.h"

namespace graven::engine {

// What passes share: one walk over a graph in its order, in which values are replaced on the way.
// A pass calls visit for each node; what it replaces reaches all later users when they are
// visited, and outputs and control outputs in finish. So a pass is linear in the graph.
//
//   Rewriter rewriter(graph);
//   for (Node* node : rewriter.nodes()) {
//     rewriter.visit(node);
//     if (...) rewriter.replace({node, 0}, by);
//   }
//   return rewriter.finish();
class Rewriter {
 public:
  explicit Rewriter(Graph& graph);

  Graph& graph() { return graph_; }
  // The nodes as they were when the walk began.
  std::span<Node* const> nodes() const { return before_; }
  bool is_input(const Node* node) const {
    return static_cast<size_t>(node->id()) < is_input_.size() && is_input_[node->id()];
  }

  // Gives the node the present values of its inputs and control inputs, and keeps it in the
  // order, behind what was visited or placed before.
  void visit(Node* node);
  // The same for a node that was added to the graph just now.
  void place(Node* node) { order_.push_back(node); }

  // A new constant behind what was visited or placed before, named after a node and with its
  // device and location.
  Node* place_constant(const Node& like, Tensor value);

  // From now on `by` stands for `old`, which is an output of a visited node. Dimensions that only
  // the type of `old` names become those of `by` in the whole graph.
  void replace(OutputRef old, OutputRef by);
  // Who waited for `old` waits for all of these.
  void replace_control(Node* old, std::vector<Node*> by);
  // Takes a visited node, whose outputs are all replaced or unused, out of the graph.
  void remove(Node* node);

  OutputRef now(OutputRef value) const;
  // The dimensions that only `old` names are those of `by`.
  void equate(const Shape& old, const Shape& by);
  // The walk changed something otherwise.
  void set_changed() { changed_ = true; }

  // True if anything was replaced, placed or removed.
  bool finish();

 private:
  void rewrite_controls(std::span<Node* const> before, std::vector<Node*>& after);
  void substitute_dims();

  Graph& graph_;
  std::vector<Node*> before_, order_, removed_;
  std::vector<bool> is_input_;
  // By id of the node: what stands for its outputs, and for it as a control input.
  struct Replacement {
    std::vector<OutputRef> outputs;
    std::vector<Node*> controls;
    bool has_controls = false;
  };
  std::vector<int> replacement_of_;  // by id; -1: none
  std::vector<Replacement> replacements_;
  Replacement& replacement(Node* node);
  const Replacement* find_replacement(const Node* node) const;
  std::vector<std::pair<int64_t, Dim>> equal_dims_;  // symbol, and what it is
  bool changed_ = false;
};

// True if running the node any number of times, at any time, changes nothing but its outputs.
bool is_pure(const Node& node);
// True if the rank is known and each Dim is a number or a term: then equal means equal.
bool is_definite(const Shape& shape);
// True if both shapes are surely the same whatever their symbols are.
bool surely_equal(const Shape& a, const Shape& b);

}  // namespace graven::engine
