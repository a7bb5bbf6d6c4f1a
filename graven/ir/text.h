#pragma once
#include <string>
#include <string_view>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// The text form of a graph, for tests and dumps. One node a line:
//
//   graph f(x: float32[n,3]) {
//     %add: float32[n,3] = AddV2(x, x)
//     %sum: float32[] = Sum(%add, %axes) {keep_dims=true} ^%print
//     return %sum:0
//   }
//
// parse_graph reads what print_graph writes (bodies of calls follow the graph that names them),
// and printing that again gives the same text.
GRAVEN_API std::string print_graph(const Graph& graph);
GRAVEN_API Result<Ref<Graph>> parse_graph(std::string_view text);

}  // namespace graven::engine
