#pragma once
#include <optional>
#include <span>
#include <vector>

#include "graven/base/ref.h"
#include "graven/expr/expression.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// A graph as one expression over its inputs, scalars all of them; other inputs are not read.
struct ScalarBody {
  Expression expression;
  std::vector<const Node*> members;  // by Trap::member: the nodes whose traps they are
};

// The outputs of these numbers of a graph that is made of elementwise ops on scalars, of calls of
// such graphs, and of branches of them that trap nothing: then both are computed, and one is
// selected. None for other graphs, and for long ones.
std::optional<ScalarBody> scalar_body(const Graph& graph, std::span<const int> outputs);

}  // namespace graven::engine
