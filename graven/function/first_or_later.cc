#include "graven/function/first_or_later.h"

#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/apply_bodies.h"
#include "graven/base/strings.h"
#include "graven/function/trace_body.h"
#include "graven/ir/frame.h"
#include "graven/ir/initialized_op.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

Result<TracedGraph> trace_call(std::string_view function, std::string_view which,
                               FunctionRef<Status(Tensors& outputs)> call) {
  return trace_graph(
      {.name = str_cat(function, "_", which)},
      [](GraphBuilder&) -> Result<std::vector<Value>> { return std::vector<Value>(); },
      [&](std::span<const Value>) -> Result<Value> {
        Tensors outputs;
        RETURN_IF_ERROR(call(outputs));
        std::vector<Value> items;
        for (Tensor& output : outputs) items.push_back(Value::of_tensor(std::move(output)));
        return Value::of_container(Container::tuple(), std::move(items));
      });
}

std::vector<DType> dtypes_of_outputs(const Graph& graph) {
  std::vector<DType> dtypes;
  for (OutputRef output : graph.outputs()) {
    dtypes.push_back(output.node->output(output.index).dtype);
  }
  return dtypes;
}

Result<Tensor> all_are_initialized(std::span<const Tensor> handles) {
  Tensor all;
  for (const Tensor& handle : handles) {
    ASSIGN_OR_RETURN(Tensors is, apply(*kVarIsInitialized, {&handle, 1}, NoAttrs()));
    if (all) {
      const Tensor both[] = {all, is[0]};
      ASSIGN_OR_RETURN(is, apply(*kLogicalAnd, both, NoAttrs()));
    }
    all = is[0];
  }
  return all;
}

}  // namespace

Result<Tensors> call_first_or_later(std::string_view function, std::span<const Tensor> handles,
                                    FunctionRef<Status(Tensors& outputs)> first,
                                    FunctionRef<Status(Tensors& outputs)> later) {
  ASSIGN_OR_RETURN(Tensor chooser, all_are_initialized(handles));
  ASSIGN_OR_RETURN(TracedGraph on_later, trace_call(function, "later", later));
  ASSIGN_OR_RETURN(TracedGraph on_first, trace_call(function, "first", first));
  IfAttrs attrs;
  attrs.Tout = dtypes_of_outputs(*on_later.graph);
  if (attrs.Tout != dtypes_of_outputs(*on_first.graph)) {
    return value_error("The trace of ", function,
                       " that creates variables, from initial values that depend on its arguments, "
                       "returns other tensors than the trace of later calls");
  }
  OpenGraph* const graphs[] = {&on_later, &on_first};
  std::vector<Tensor> inputs = merge_captures(graphs);
  const auto listeners = Frame::current().listeners;
  for (const Tensor& input : inputs) {
    attrs.Tin.push_back(input.dtype());
    if (input.dtype() != DType::kResource) continue;
    for (Listener* listener : listeners) listener->on_variable(input);
  }
  attrs.then_branch = body_of(on_later.graph);
  attrs.else_branch = body_of(on_first.graph);
  const Ref<Body> bodies[] = {attrs.then_branch, attrs.else_branch};
  inputs.insert(inputs.begin(), chooser);
  return apply_bodies(current_builder(), op_for_bodies(*kIf, bodies), inputs, attrs);
}

}  // namespace graven::engine
