#pragma once
#include <vector>

#include "graven/ir/graph.h"

namespace graven::engine {

class CompiledBody;

// A node that becomes part of a step.
struct GroupCandidate {
  Node* node = nullptr;
  std::vector<const Node*> waits_for;  // other candidates: data and control
  // Of nodes that may share a step: their scalar body, and the shape of the result, all of whose
  // Dims are numbers or terms.
  const CompiledBody* body = nullptr;
  const Shape* shape = nullptr;
  // Of a reduction over the last axes: how many, and the shape of what it reduces, input 0.
  int reduced_axes = 0;
  const Shape* reduced = nullptr;
  std::vector<OutputRef> inputs;  // past nodes that only hand on
  std::vector<const Shape*> input_shapes;
};

// Puts scalar bodies whose results have the same shape together where one feeds the other, so
// that a chain of them is one pass over memory. A reduction over the last axes joins what it
// reduces, and what is made of its result joins it, as long as all of it can go row by row
// (plan_rows.h): softmax or layer normalisation written from ops. Gives each candidate in exactly
// one group, nodes in order; groups do not wait for each other in circles. Candidates come in a
// valid order.
std::vector<std::vector<Node*>> group_elementwise(const std::vector<GroupCandidate>& candidates);

}  // namespace graven::engine
