#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// The text form of a graph, for tests and dumps: the inputs, then one node a line.
//
//   graph f(x: float32[n,3], w: resource[]<float32[3,4]>, add/y: float32[] = 1) {
//     %axes: int32[1] = [0]
//     %shape: int32[2](n,3) = Shape(x)
//     %add: float32[n,3] = AddV2(x, add/y)
//     %sum: float32[1,3] = Sum(%add, %axes) {keep_dims=true} ^%print
//     %split: float32[1,1], float32[1,2] = SplitV(%sum, ...) on "/device:CPU:0"
//     %call: float32[n] = PartitionedCall(%split:1) {Tin=[float32], Tout=[float32], f=@g}
//     return %add, %split:1 ^%print
//   }
//
//   body @g = graph g(...) {...}
//
//   fusion @fused0 = over [d0,3] {...}
//
// - Inputs of the graph are bare names, nodes begin with %; ":1" is the second output. Names of
//   other characters than [A-Za-z0-9_./\>-] stand in quotes.
// - A type is a dtype and a shape. [...] is of unknown rank, ? an unknown dimension; a term is
//   n, 2*n + 1, floordiv(n, 2). A ! says that the shape is only promised. Known sizes that an
//   integer tensor holds follow in (), the type of the value behind a resource in <>.
// - A constant is its elements, or hex "..." of the bytes if it is large or holds unusual NaNs.
//   A constant among the inputs stands for a captured tensor.
// - {} holds the attributes that are not at their default, then those set on this node only. Kinds
//   that the text of a value does not show stand before it there: "shape [2,?]", "ints [1, 2]".
// - The syntax of a fusion: see ir/fusion.h.
// - ^ is a control input, behind return a control output. # begins a comment.
//
// parse_graph reads the output of print_graph, and printing that again gives the same text.
// Locations, ids, the outer graph, and the order of inputs among the nodes are lost: inputs come
// first. An error of parse_graph (kInvalidArgument) says the line.
GRAVEN_API std::string print_graph(const Graph& graph);
GRAVEN_API Result<Ref<Graph>> parse_graph(std::string_view text);

// The lines of print_graph, each with the node that it prints; null for other lines.
struct PrintedLine {
  std::string text;
  const Node* node = nullptr;
};
GRAVEN_API std::vector<PrintedLine> print_lines(const Graph& graph);

}  // namespace graven::engine
