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
  std::vector<OutputRef> inputs;  // past nodes that only hand on
};

// Puts scalar bodies whose results have the same shape together where one feeds the other, so
// that a chain of them is one pass over memory. Gives each candidate in exactly one group, nodes
// in order; groups do not wait for each other in circles. Candidates come in a valid order.
std::vector<std::vector<Node*>> group_elementwise(const std::vector<GroupCandidate>& candidates);

}  // namespace graven::engine
