#include "graven/function/lift.h"

#include <unordered_map>
#include <unordered_set>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

using Captured = std::unordered_map<const Node*, Tensor>;

Captured captured_by_node(std::span<const GraphBuilder::Capture> captures) {
  Captured captured;
  for (const auto& capture : captures) {
    captured.emplace(&symbolic(capture.internal).node(), capture.external);
  }
  return captured;
}

// The nodes that a node depends on, and it.
std::unordered_set<const Node*> nodes_below(const Node* root) {
  std::unordered_set<const Node*> found;
  std::vector<const Node*> todo{root};
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (!found.insert(node).second) continue;
    for (OutputRef input : node->inputs()) todo.push_back(input.node);
  }
  return found;
}

const Node* initial_node(const CreatedVariable& variable) {
  return &symbolic(variable.initial_value).node();
}

// The initial values, one for each variable, empty where there is none to give.
Result<std::vector<Tensor>> initial_values(Builder& builder, const Graph& graph,
                                           std::span<const GraphBuilder::Capture> captures,
                                           std::span<const CreatedVariable> variables) {
  std::unordered_set<const Node*> needed;
  for (const CreatedVariable& variable : variables) {
    if (variable.initial_value) needed.merge(nodes_below(initial_node(variable)));
  }
  Captured captured = captured_by_node(captures);
  std::unordered_map<const Node*, Tensors> values;
  for (const Node* node : graph.nodes()) {
    if (!needed.contains(node)) continue;
    if (auto at = captured.find(node); at != captured.end()) {
      values[node] = {at->second};
    } else if (&node->op() == kConst.op && !builder.graph()) {
      values[node] = {node->attrs().as<ConstAttrs>().value};
    } else {
      std::vector<Tensor> inputs;
      for (OutputRef input : node->inputs()) inputs.push_back(values[input.node][input.index]);
      ASSIGN_OR_RETURN(values[node], builder.apply(node->op(), inputs, node->attrs()));
    }
  }
  std::vector<Tensor> initial;
  for (const CreatedVariable& variable : variables) {
    if (!variable.initial_value) {
      initial.emplace_back();
      continue;
    }
    OutputRef output = symbolic(variable.initial_value).output();
    initial.push_back(values[output.node][output.index]);
  }
  return initial;
}

class InitializingTracer final : public Tracer {
 public:
  InitializingTracer(Ref<Graph> graph, std::span<const GraphBuilder::Capture> captures,
                     std::span<const CreatedVariable> variables)
      : graph_(std::move(graph)),
        captures_(captures.begin(), captures.end()),
        variables_(variables.begin(), variables.end()) {}

  Result<Value> trace(const FunctionType&, std::span<const Value>) override {
    GraphBuilder& builder = *Frame::current().graph_builder();
    ASSIGN_OR_RETURN(auto values, initial_values(builder, *graph_, captures_, variables_));
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (!values[i]) continue;
      Tensor inputs[] = {variables_[i].handle, values[i]};
      RETURN_IF_ERROR(
          builder.apply(*kAssignVariable, inputs, AssignVariableAttrs{values[i].dtype()}).status());
    }
    return Value::of_literal(None());
  }

 private:
  Ref<Graph> graph_;
  std::vector<GraphBuilder::Capture> captures_;
  std::vector<CreatedVariable> variables_;
};

}  // namespace

Status check_liftable(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                      std::span<const CreatedVariable> variables) {
  Captured captured = captured_by_node(captures);
  for (const CreatedVariable& variable : variables) {
    if (!variable.initial_value) continue;
    auto below = nodes_below(initial_node(variable));
    for (const Node* input : graph.inputs()) {
      if (captured.contains(input) || !below.contains(input)) continue;
      return internal_error("Unable to lift tensor ", initial_node(variable)->name(),
                            " out of the function, because it depends on the argument ",
                            input->name(),
                            ": the initial value of a variable must not depend on an argument");
    }
  }
  return {};
}

Status initialize_lifted(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                         std::span<const CreatedVariable> variables) {
  // Run where the outermost eager code is, without tapes.
  Frame eager(nullptr);
  ASSIGN_OR_RETURN(auto values, initial_values(eager_builder(), graph, captures, variables));
  for (size_t i = 0; i < variables.size(); ++i) {
    auto* resource = static_cast<Variable*>(variables[i].handle.resource().get());
    if (!values[i] || resource->is_initialized()) continue;
    RETURN_IF_ERROR(resource->assign(values[i]));
  }
  return {};
}

void initialize_left_behind(const Graph& graph, std::span<const GraphBuilder::Capture> captures,
                            std::span<const CreatedVariable> variables) {
  for (const CreatedVariable& variable : variables) {
    const std::span only(&variable, 1);
    if (!check_liftable(graph, captures, only).ok()) continue;
    static_cast<void>(initialize_lifted(graph, captures, only));
  }
}

std::unique_ptr<Tracer> initializing_tracer(Ref<Graph> graph,
                                            std::span<const GraphBuilder::Capture> captures,
                                            std::span<const CreatedVariable> variables) {
  return std::make_unique<InitializingTracer>(std::move(graph), captures, variables);
}

}  // namespace graven::engine
