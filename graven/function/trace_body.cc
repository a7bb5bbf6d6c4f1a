#include "graven/function/trace_body.h"

#include <memory>
#include <utility>
#include <variant>

#include "graven/base/stack.h"
#include "graven/base/strings.h"
#include "graven/function/control_dependencies.h"
#include "graven/function/trace_chain.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/ir/numerics_checks.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// Gives each tensor of a result an Identity of its own, which becomes an output.
Status add_outputs(GraphBuilder& builder, Value& value, std::vector<OutputRef>& outputs) {
  switch (value.kind) {
    case Value::Kind::kTensor: {
      ASSIGN_OR_RETURN(Tensors identity,
                       builder.apply(*kIdentity, std::span(&value.tensor, 1), NoAttrs()));
      value.tensor = identity[0];
      outputs.push_back(symbolic(value.tensor).output());
      return {};
    }
    case Value::Kind::kLiteral:
      if (std::holds_alternative<None>(value.literal)) return {};
      break;
    case Value::Kind::kContainer:
    case Value::Kind::kTyped:
      for (size_t i = 0; i < value.items.size(); ++i) {
        RETURN_IF_ERROR(add_outputs(builder, value.item_in_order(i), outputs));
      }
      return {};
    default:
      break;
  }
  return type_error("A function must return zero or more Tensors or ExtensionTypes or None values");
}

}  // namespace

Result<TracedGraph> trace_graph(
    const TraceBodyOptions& options,
    FunctionRef<Result<std::vector<Value>>(GraphBuilder& builder)> make_arguments,
    FunctionRef<Result<Value>(std::span<const Value> arguments)> f) {
  if (Stack::is_short()) return trace_too_deep();
  TracedGraph traced;
  traced.graph = make_ref<Graph>(options.name);
  const Ref<Graph>& graph = traced.graph;
  graph->set_outer(Frame::current().graph());
  GraphBuilder builder(graph);
  std::vector<OutputRef> outputs;
  size_t num_bound = 0;  // variables among the arguments
  size_t num_given = 0;  // inputs that are the caller's, these too
  const std::shared_ptr<const NumericsChecks> checks = numerics_checks();
  {
    Frame frame(&builder);
    const auto sizes = std::make_unique<CallSizes>(graph);  // not on the stack, which nests deep
    ASSIGN_OR_RETURN(std::vector<Value> arguments, make_arguments(builder));
    num_bound = builder.captures().size();
    num_given = graph->inputs().size();
    traced.num_arguments = static_cast<int>(num_given);
    ASSIGN_OR_RETURN(traced.outputs, f(arguments));
    RETURN_IF_ERROR(add_outputs(builder, traced.outputs, outputs));
  }
  graph->set_outputs(std::move(outputs));
  add_numerics_checks(*graph, checks, num_given);
  if (options.automatic_control_dependencies) add_control_dependencies(*graph);
  auto captures = builder.captures().subspan(num_bound);
  traced.captures.assign(captures.begin(), captures.end());
  return traced;
}

Ref<Body> body_of(Ref<Graph> graph, std::string_view prefix) {
  std::string name = str_cat(prefix, graph->name(), "_", next_uid());
  return Body::create(std::move(name), std::move(graph));
}

Result<TracedBody> trace_body(
    const TraceBodyOptions& options,
    FunctionRef<Result<std::vector<Value>>(GraphBuilder& builder)> make_arguments,
    FunctionRef<Result<Value>(std::span<const Value> arguments)> f) {
  ASSIGN_OR_RETURN(TracedGraph traced, trace_graph(options, make_arguments, f));
  return TracedBody{body_of(std::move(traced.graph), "__inference_"), traced.num_arguments,
                    std::move(traced.captures), std::move(traced.outputs)};
}

}  // namespace graven::engine
