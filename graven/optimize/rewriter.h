#pragma once
#include <span>
#include <vector>

#include "graven/ir/graph.h"

namespace graven::engine {

// The walk that passes share: over a graph in its order, replacing values on the way. A pass calls
// visit for each node. A replacement reaches all later users when they are visited, and outputs and
// control outputs in finish. So a pass is linear in the graph.
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
  // The nodes when the walk began.
  std::span<Node* const> nodes() const { return before_; }
  bool is_input(const Node* node) const {
    return static_cast<size_t>(node->id()) < is_input_.size() && is_input_[node->id()];
  }

  // Gives the node the present values of its inputs and control inputs, and appends it to the new
  // order.
  void visit(Node* node);
  // Appends a node that was added to the graph just now.
  void place(Node* node) { order_.push_back(node); }

  // Appends a new constant, named after a node and with its device and location.
  Node* place_constant(const Node& like, Tensor value);

  // Replaces `old`, an output of a visited node, by `by` from now on. Dimensions that only the type
  // of `old` names become those of `by` in the whole graph.
  void replace(OutputRef old, OutputRef by);
  // Makes all nodes that wait for `old` wait for these nodes instead.
  void replace_control(Node* old, std::vector<Node*> by);
  // Removes a visited node, whose outputs are all replaced or unused, from the graph.
  void remove(Node* node);

  OutputRef now(OutputRef value) const;
  // Makes the dimensions that only `old` names those of `by`.
  void equate(const Shape& old, const Shape& by);
  // The pass changed the graph in another way.
  void set_changed() { changed_ = true; }

  // True if anything was replaced, placed or removed.
  bool finish();

 private:
  void rewrite_controls(std::span<Node* const> before, std::vector<Node*>& after);
  void substitute_dims();

  Graph& graph_;
  std::vector<Node*> before_, order_, removed_;
  std::vector<bool> is_input_;
  // The replacements of a node's outputs, and of the node as a control input.
  struct Replacement {
    std::vector<OutputRef> outputs;
    std::vector<Node*> controls;
    bool has_controls = false;
  };
  std::vector<int> replacement_of_;  // by id; -1: none
  std::vector<Replacement> replacements_;
  Replacement& replacement(Node* node);
  const Replacement* find_replacement(const Node* node) const;
  std::vector<std::pair<int64_t, Dim>> equal_dims_;  // symbol, and its new Dim
  bool changed_ = false;
};

// True if running the node any number of times, at any time, changes nothing but its outputs.
bool is_pure(const Node& node);
// True if the rank is known and each Dim is a number or a term: then equal means equal.
bool is_definite(const Shape& shape);
// True if both shapes are surely the same whatever their symbols are.
bool surely_equal(const Shape& a, const Shape& b);

}  // namespace graven::engine
