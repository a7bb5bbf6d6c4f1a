#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/function/function.h"

namespace graven::engine {

// Gives variables that a trace created their initial values: the nodes that compute them are
// copied into a graph of their own, which runs at once (S2.18). Variables that have a value
// already are left alone. False, and nothing happens, if an initial value depends on an argument.
GRAVEN_API Result<bool> initialize_lifted(const Graph& graph,
                                          std::span<const GraphBuilder::Capture> captures,
                                          std::span<const CreatedVariable> variables);

}  // namespace graven::engine
