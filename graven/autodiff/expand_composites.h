#pragma once
#include "graven/base/function_ref.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// An op that has no gradient because its parts have one.
bool is_differentiated_by_parts(const Node& node);

// Puts the parts of such nodes in their place, in a copy of a graph. The caller is told which
// output of a part has become that of a node.
Status expand_composites(const Ref<Graph>& graph,
                         FunctionRef<void(OutputRef node, OutputRef part)> replaced);

}  // namespace graven::engine
