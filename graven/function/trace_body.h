#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/ir/body.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/value.h"

namespace graven::engine {

struct TraceBodyOptions {
  std::string name = "function";  // of the graph; the body is called "__inference_<name>_<number>"
  bool automatic_control_dependencies = true;
};

// A callable of a front end, traced to a graph. Nodes of several bodies (cond) give all of them the
// same inputs before they become Bodies.
struct TracedGraph : OpenGraph {
  // The result of the callable, with the outputs of the graph as leaves.
  Value outputs;
};
// Runs `f` once on placeholders, in a frame of its own on top of the current one. Functions, cond,
// while_loop, map_fn and datasets all trace with it.
//
// make_arguments adds the placeholders: by TraceType::placeholder for arguments of any kind, by
// GraphBuilder::add_placeholder_like for arguments that outer tensors are fed to, such as the
// variables of a loop. An outer tensor that f uses becomes a capture, which keeps its known Dims
// and sizes: Dims that are equal outside are equal inside, also those of placeholders made like it.
//
// Each tensor of the result becomes an output, in the order of collect_tensors; leaves other than
// tensors and None are a TypeError. Effects are ordered, unless the options say otherwise. A trace
// that fails leaves nothing behind. A RecursionError if too little of the stack is left.
GRAVEN_API Result<TracedGraph> trace_graph(
    const TraceBodyOptions& options,
    FunctionRef<Result<std::vector<Value>>(GraphBuilder& builder)> make_arguments,
    FunctionRef<Result<Value>(std::span<const Value> arguments)> f);
// The body of a traced graph, which does not change any more. Its name is the graph's and a number,
// behind a prefix if it is that of a Function.
GRAVEN_API Ref<Body> body_of(Ref<Graph> graph, std::string_view prefix = {});

// The same, with the graph as a body already.
struct TracedBody {
  Ref<Body> body;
  int num_arguments = 0;
  std::vector<GraphBuilder::Capture> captures;
  Value outputs;
};
GRAVEN_API Result<TracedBody> trace_body(
    const TraceBodyOptions& options,
    FunctionRef<Result<std::vector<Value>>(GraphBuilder& builder)> make_arguments,
    FunctionRef<Result<Value>(std::span<const Value> arguments)> f);

}  // namespace graven::engine
