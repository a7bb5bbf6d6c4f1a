#pragma once
#include <span>
#include <string>
#include <vector>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/function/trace_type.h"
#include "graven/ir/body.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/value.h"

namespace graven::engine {

struct TraceBodyOptions {
  std::string name = "function";  // of the graph; the body is called "__inference_<name>_<number>"
  bool automatic_control_dependencies = true;
};

// A callable of a front end as a graph in a graph.
struct TracedBody {
  Ref<Body> body;
  // The first inputs of the body are the arguments; the others stand for the captures, in order.
  int num_arguments = 0;
  // Outer tensors that the callable used, each with its placeholder. A node that holds the body is
  // given the outer ones, perhaps captured once more by the graph that the node is in.
  std::vector<GraphBuilder::Capture> captures;
  // What the callable returned, with the outputs of the body as leaves.
  Value outputs;
};

// Runs `f` once on placeholders, in a frame of its own on top of the current one, and makes a body
// of what it did. Functions, cond, while_loop, map_fn and datasets all trace by it.
//
// make_arguments adds the placeholders: by TraceType::placeholder for arguments of any kind, by
// GraphBuilder::add_placeholder_like for what is given the tensors of outside, such as the
// variables of a loop. A tensor from outside that f uses becomes a capture, which keeps the Dims
// and sizes that are known of it: what was equal outside is equal inside, also to placeholders like
// it.
//
// The result's tensors each become an output, in the order of collect_tensors; other leaves than
// tensors and None are a TypeError. Effects are ordered, unless the options say otherwise. Nothing
// is kept of a trace that fails. Where too little of the stack is left, it is a RecursionError.
GRAVEN_API Result<TracedBody> trace_body(
    const TraceBodyOptions& options,
    FunctionRef<Result<std::vector<Value>>(GraphBuilder& builder)> make_arguments,
    FunctionRef<Result<Value>(std::span<const Value> arguments)> f);

}  // namespace graven::engine
