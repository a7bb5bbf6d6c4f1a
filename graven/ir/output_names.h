#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "graven/ir/graph.h"

namespace graven::engine {

// The names that functions as data (graph_def.h) have for outputs: "z:1" is tensor 1 of the output
// z of the op.
std::string output_name(OutputRef output);
// The flat index of "z" and 1; none if the node has no such output.
std::optional<int> output_index(const Node& node, std::string_view output, int index);

}  // namespace graven::engine
