#pragma once
#include <span>
#include <vector>

#include "graven/base/ref.h"
#include "graven/ir/body.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// A copy of a body that gives these outputs, values of the body's graph. Inputs stay where is_input
// says so; the outputs depend on no others. with_effects: what the body does, the copy does too.
Ref<Body> part_of_body(const Body& body, std::span<const OutputRef> outputs,
                       const std::vector<bool>& is_input, bool with_effects);

// For each input of a graph, whether these of its values depend on it.
std::vector<bool> inputs_needed(const Graph& graph, std::span<const OutputRef> values);

}  // namespace graven::engine
