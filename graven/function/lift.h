#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graven/base/status.h"
#include "graven/function/function.h"

// Initial values of variables that a trace created: the nodes that compute them are copied out of
// the trace's graph. Variables made under init_scope have their value already, and
// are left alone.
namespace graven::engine {

// An error "Unable to lift tensor ..." if an initial value depends on an argument of the trace.
Status check_liftable(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                      std::span<const CreatedVariable> variables);

// Computes the initial values, which must be liftable, at once, and assigns them to the variables
// that have no value yet.
Status initialize_lifted(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                         std::span<const CreatedVariable> variables);

// For a trace that failed: the program may have kept the variables that it made, so each gets its
// value, if that can be computed. The others have none, as reading them says.
void initialize_left_behind(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                            std::span<const CreatedVariable> variables);

// Traces a function without arguments that assigns all the initial values.
std::unique_ptr<Tracer> initializing_tracer(Ref<Graph> graph,
                                            std::span<const GraphBuilder::Capture> captures,
                                            std::span<const CreatedVariable> variables);

}  // namespace graven::engine
