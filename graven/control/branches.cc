#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/apply_bodies.h"
#include "graven/base/strings.h"
#include "graven/control/define_control_flow.h"
#include "graven/control/loops.h"
#include "graven/control/structures.h"
#include "graven/function/trace_body.h"
#include "graven/ir/frame.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

constexpr std::string_view kMustAgree =
    " must have the same number, type, and overall structure of return values.";

// --- One node of several bodies.

// The function of a branch, and its name in messages and names of graphs.
struct Branch {
  Ref<Callable> function;
  std::string name, graph_name;
};

Result<TracedGraph> trace_branch(const Branch& branch, const Tensor& chooser) {
  return trace_graph(
      {.name = branch.graph_name},
      [](GraphBuilder&) -> Result<std::vector<Value>> { return std::vector<Value>(); },
      [&](std::span<const Value>) -> Result<Value> {
        ASSIGN_OR_RETURN(Value result, branch.function->call({}, Callable::As::kTensors));
        // An operation has no value: it runs, and what chose the branch stands for it.
        if (result.kind == Value::Kind::kObject) return Value::of_tensor(chooser);
        return result;
      });
}

// Traces the branches, each once, in this order.
std::vector<TracedGraph> trace_branches(FunctionContext& c, std::span<const Branch> branches,
                                        const Tensor& chooser, std::string_view function) {
  std::vector<TracedGraph> traced;
  for (const Branch& branch : branches) {
    auto graph = trace_branch(branch, chooser);
    if (!graph.ok()) {
      c.fail(graph.status());
      return {};
    }
    traced.push_back(std::move(*graph));
    const auto differs = structural_difference(traced[0].outputs, traced.back().outputs);
    if (!differs) {
      Value common = with_common_types(traced[0].outputs, traced.back().outputs);
      traced[0].outputs = std::move(common);
      continue;
    }
    c.fail(type_error(branches[0].name, " and ", branch.name, " arguments to tf.", function,
                      kMustAgree, " They differ: ", *differs, "."));
    return {};
  }
  return traced;
}

// The result of the node: an Identity of each of its outputs, in the structure of the branches'.
Outputs results_of_node(FunctionContext& c, const Result<Tensors>& outputs, const Value& like) {
  if (!outputs.ok()) return c.fail(outputs.status());
  std::vector<Tensor> results;
  for (const Tensor& output : *outputs) results.push_back(c(kIdentity, {output}));
  if (!c.status().ok()) return Tensor();
  return with_tensors(like, results);
}

std::vector<DType> dtypes_of_outputs(const Graph& graph) {
  std::vector<DType> dtypes;
  for (OutputRef output : graph.outputs()) {
    dtypes.push_back(output.node->output(output.index).dtype);
  }
  return dtypes;
}

// --- cond.

struct CondParameters {
  Value pred;
  Ref<Callable> true_fn, false_fn;
  static constexpr auto fields() {
    using P = CondParameters;
    return std::tuple(required_field("pred", &P::pred, "A bool scalar; in a graph a tensor."),
                      field("true_fn", &P::true_fn, "Called without arguments if pred holds."),
                      field("false_fn", &P::false_fn, "Called if it does not."));
  }
};

Outputs call_at_once(FunctionContext& c, Callable& function) {
  auto result = function.call({}, Callable::As::kWhole);
  return result.ok() ? Outputs(std::move(*result)) : Outputs(c.fail(result.status()));
}

Outputs cond_of(FunctionContext& c, const Tensor& pred, const Branch& on_true,
                const Branch& on_false) {
  const Tensor chooser = as_chooser(c, pred);
  if (!chooser) return Tensor();
  const Branch branches[] = {on_true, on_false};
  std::vector<TracedGraph> traced = trace_branches(c, branches, chooser, "cond");
  if (!c.status().ok()) return Tensor();
  OpenGraph* const graphs[] = {&traced[0], &traced[1]};
  std::vector<Tensor> inputs = merge_captures(graphs);
  IfAttrs attrs;
  for (const Tensor& input : inputs) attrs.Tin.push_back(input.dtype());
  attrs.then_branch = body_of(traced[0].graph);
  attrs.else_branch = body_of(traced[1].graph);
  attrs.Tout = dtypes_of_outputs(*traced[0].graph);
  const Ref<Body> bodies[] = {attrs.then_branch, attrs.else_branch};
  inputs.insert(inputs.begin(), chooser);
  const Op& op = op_for_bodies(*kIf, bodies);
  return results_of_node(c, apply_bodies(c.builder(), op, inputs, attrs, c.name()),
                         traced[0].outputs);
}

Outputs cond(FunctionContext& c, const CondParameters& p) {
  if (!p.true_fn) return c.fail(type_error("The argument `true_fn` must be callable."));
  if (!p.false_fn) return c.fail(type_error("The argument `false_fn` must be callable."));
  if (!c.is_graph()) {
    auto truth = truth_of(c, p.pred, "pred");
    if (!truth.ok()) return c.fail(truth.status());
    return call_at_once(c, *truth ? *p.true_fn : *p.false_fn);
  }
  if (p.pred.kind == Value::Kind::kLiteral && std::holds_alternative<bool>(p.pred.literal)) {
    return c.fail(type_error("pred must not be a Python bool"));
  }
  const Value pred = with_tensor_leaves(c, p.pred);
  if (!c.status().ok()) return Tensor();
  if (!pred.tensor) return c.fail(type_error("pred must be a tensor"));
  return cond_of(c, pred.tensor, {p.true_fn, "true_fn", name_of_body(c, "true")},
                 {p.false_fn, "false_fn", name_of_body(c, "false")});
}

// --- switch_case.

struct SwitchCaseParameters {
  Value branch_index;
  Choices branch_fns;
  Ref<Callable> default_fn;
  static constexpr auto fields() {
    using P = SwitchCaseParameters;
    return std::tuple(
        required_field("branch_index", &P::branch_index, "An int32 scalar, a tensor."),
        required_field("branch_fns", &P::branch_fns,
                       "Functions without arguments, a list, or a dict or list of pairs that "
                       "numbers them from 0."),
        field("default", &P::default_fn,
              "Called for an index that has no function; None means the last of them."));
  }
};

// The functions in the order of their numbers.
Result<std::vector<Ref<Callable>>> numbered(const Choices& choices) {
  if (choices.all.empty()) return value_error("branch_fns must hold at least one function");
  std::vector<Ref<Callable>> functions(choices.all.size());
  for (size_t i = 0; i < choices.all.size(); ++i) {
    const Value& key = choices.all[i].key;
    const auto* number = std::get_if<int64_t>(&key.literal);
    const bool is_plain = key.kind == Value::Kind::kLiteral;
    if (!is_plain || (!number && !std::holds_alternative<None>(key.literal))) {
      return type_error("The keys of branch_fns must be integers");
    }
    const int64_t place = number ? *number : static_cast<int64_t>(i);
    const bool is_free = place >= 0 && place < static_cast<int64_t>(functions.size()) &&
                         !functions[static_cast<size_t>(place)];
    if (!is_free) {
      return value_error("branch_fns must be numbered from 0 to ", functions.size() - 1,
                         ", each number once, not with ", place);
    }
    functions[static_cast<size_t>(place)] = choices.all[i].function;
  }
  return functions;
}

Outputs switch_case(FunctionContext& c, const SwitchCaseParameters& p) {
  const Tensor& index = p.branch_index.tensor;
  const bool is_array = p.branch_index.object != nullptr;
  if (p.branch_index.kind != Value::Kind::kTensor || is_array) {
    return c.fail(type_error("branch_index must be a Tensor"));
  }
  auto functions = numbered(p.branch_fns);
  if (!functions.ok()) return c.fail(functions.status());
  if (p.default_fn) functions->push_back(p.default_fn);
  if (!index || !(is_integer(index.dtype()) && (!c.is_graph() || index.dtype() == DType::kInt32))) {
    return c.fail(type_error("branch_index must be an int32 scalar, not of dtype ",
                             index ? dtype_name(index.dtype()) : std::string_view("?")));
  }
  const size_t last = functions->size() - 1;
  if (!c.is_graph()) {
    if (index.rank() != 0) {
      return c.fail(invalid_argument("branch_index must be a scalar, not of shape ",
                                     index.shape().to_text()));
    }
    const auto number = c.number_if_known(c.cast(index, DType::kInt64).tensor());
    const bool is_there = number && *number >= 0 && *number <= static_cast<int64_t>(last);
    return call_at_once(c, *(*functions)[is_there ? static_cast<size_t>(*number) : last]);
  }
  std::vector<Branch> branches;
  for (size_t i = 0; i <= last; ++i) {
    branches.push_back(
        {(*functions)[i], str_cat("branches[", i, "]"), name_of_body(c, str_cat("branch", i))});
  }
  std::vector<TracedGraph> traced = trace_branches(c, branches, index, "switch_case");
  if (!c.status().ok()) return Tensor();
  std::vector<OpenGraph*> graphs;
  for (TracedGraph& graph : traced) graphs.push_back(&graph);
  std::vector<Tensor> inputs = merge_captures(graphs);
  CaseAttrs attrs;
  for (const Tensor& input : inputs) attrs.Tin.push_back(input.dtype());
  for (const TracedGraph& graph : traced) attrs.branches.push_back(body_of(graph.graph));
  attrs.Tout = dtypes_of_outputs(*traced[0].graph);
  inputs.insert(inputs.begin(), index);
  const Op& op = op_for_bodies(*kCase, attrs.branches);
  const std::string name = str_cat(c.name(), "indexed_case");
  return results_of_node(c, apply_bodies(c.builder(), op, inputs, attrs, name), traced[0].outputs);
}

// --- case.

struct CaseParameters {
  Choices pred_fn_pairs;
  Ref<Callable> default_fn;
  bool exclusive = false;
  bool strict = false;
  static constexpr auto fields() {
    using P = CaseParameters;
    return std::tuple(
        required_field("pred_fn_pairs", &P::pred_fn_pairs,
                       "Pairs of a bool scalar, a tensor, and a function without arguments."),
        field("default", &P::default_fn, "Called if no predicate holds."),
        field("exclusive", &P::exclusive, "Check that at most one predicate holds."),
        field("strict", &P::strict,
              "At once, keep lists and tuples of one item; false gives the item, as often as the "
              "predicates decide. In a graph results keep their structure in any case."),
        name_field());
  }
};

constexpr std::string_view kNoneHolds = "None of conditions evaluated as True.";
constexpr std::string_view kSeveralHold = "Input error: more than 1 conditions evaluated as True.";

Status assert_holds(FunctionContext& c, const Tensor& holds, std::string_view message) {
  const Tensor texts[] = {text_constant(c, std::string(message))};
  assert_later(c, holds, texts, std::nullopt);
  return c.status();
}

// cond(pred, function, the same of the pairs that follow), within the graph that is built now.
Result<Value> case_from(size_t first, const std::vector<Tensor>& preds, const CaseParameters& p) {
  FunctionContext c(current_builder(), eager_builder(), Frame::current().name_scope);
  if (first == preds.size()) {
    if (p.default_fn) return p.default_fn->call({}, Callable::As::kTensors);
    RETURN_IF_ERROR(assert_holds(c, c.constant(Tensor::scalar(false)), kNoneHolds));
    return p.pred_fn_pairs.all.back().function->call({}, Callable::As::kTensors);
  }
  const auto others = make_ref<OwnCallable>(
      [&](std::span<const Value>, Callable::As) { return case_from(first + 1, preds, p); });
  Outputs made = cond_of(c, preds[first],
                         {p.pred_fn_pairs.all[first].function, "true_fn", name_of_body(c, "true")},
                         {others, "false_fn", name_of_body(c, "false")});
  RETURN_IF_ERROR(c.status());
  return made.structure;
}

bool is_sequence_of_one(const Value& value) {
  if (value.kind != Value::Kind::kContainer || value.items.size() != 1) return false;
  const ContainerKind kind = value.container->kind();
  return kind == ContainerKind::kList || kind == ContainerKind::kTuple ||
         kind == ContainerKind::kNamedTuple;
}

// Each decision is a cond, and each of them takes the item out of a sequence of one, as
// TensorFlow's do.
Outputs case_at_once(FunctionContext& c, const std::vector<Tensor>& preds,
                     const CaseParameters& p) {
  Callable* chosen = nullptr;
  // The last pair needs no decision if there is no default.
  const size_t num_decisions = preds.size() - (p.default_fn ? 0 : 1);
  size_t decisions = num_decisions;
  for (size_t i = 0; i < preds.size(); ++i) {
    auto holds = truth_of(c, Value::of_tensor(preds[i]), "pred");
    if (!holds.ok()) return c.fail(holds.status());
    if (!*holds) continue;
    if (chosen && p.exclusive) return c.fail(invalid_argument(kSeveralHold));
    if (chosen) continue;
    chosen = p.pred_fn_pairs.all[i].function.get();
    decisions = std::min(i + 1, num_decisions);
  }
  if (!chosen) chosen = p.default_fn.get();
  if (!chosen) return c.fail(invalid_argument(kNoneHolds));
  if (p.strict || decisions == 0) return call_at_once(c, *chosen);
  auto result = chosen->call({}, Callable::As::kParts);
  if (!result.ok()) return c.fail(result.status());
  for (; decisions > 0 && is_sequence_of_one(*result); --decisions) {
    *result = Value(std::move(result->items[0]));
  }
  return std::move(*result);
}

Outputs case_of(FunctionContext& c, const CaseParameters& p) {
  if (p.pred_fn_pairs.all.empty()) return c.fail(value_error("pred_fn_pairs must not be empty"));
  std::vector<Tensor> preds;
  for (const Choices::Choice& choice : p.pred_fn_pairs.all) {
    if (choice.key.kind != Value::Kind::kTensor && choice.key.kind != Value::Kind::kVariable) {
      return c.fail(type_error("pred_fn_pairs must hold pairs of a tensor and a function"));
    }
    preds.push_back(with_tensor_leaves(c, choice.key).tensor);
    if (preds.back() && preds.back().dtype() != DType::kBool) {
      return c.fail(
          type_error("pred must be a Tensor of type bool, not ", dtype_name(preds.back().dtype())));
    }
  }
  if (!c.status().ok()) return Tensor();
  if (!c.is_graph()) return case_at_once(c, preds, p);
  if (p.exclusive) {
    Formula count = c.cast(preds[0], DType::kInt32);
    for (size_t i = 1; i < preds.size(); ++i) count = count + c.cast(preds[i], DType::kInt32);
    const Tensor is_at_most_one = c(kLessEqual, {count, c.scalar(1)});
    if (Status status = assert_holds(c, is_at_most_one, kSeveralHold); !status.ok())
      return Tensor();
  }
  auto made = case_from(0, preds, p);
  return made.ok() ? Outputs(std::move(*made)) : Outputs(c.fail(made.status()));
}

}  // namespace

void define_branches(FunctionRegistry& functions) {
  functions.define({
      .names = "cond",
      .scope = "cond",
      .results = structure(),
      .summary = "The result of true_fn if pred holds, else that of false_fn.",
      .details = "Where values are computed at once only the chosen function is called. In a graph "
                 "both are traced, each once, and the chosen one runs; what they read from outside "
                 "is computed whichever runs.",
      .returns = "In a graph tensors in the structure of the functions' results, of the sizes on "
                 "which both agree; else the result as it is.",
      .raises = {{"TypeError",
                  "A function is not callable; in a graph, pred is a Python bool, or the results "
                  "differ in structure or dtype."},
                 {"InvalidArgumentError", "pred is no bool scalar when the graph runs."}},
      .source = "OpDef \"If\"",
      .body = cond,
  });
  functions.define({
      .names = "switch_case",
      .scope = "switch_case",
      .results = structure(),
      .summary = "The result of the function of this number.",
      .returns = "As cond's.",
      .raises = {{"TypeError",
                  "branch_index is no integer tensor, a key is no integer, or, in a graph, the "
                  "results differ in structure or dtype."},
                 {"ValueError", "There is no function, or they are not numbered from 0."}},
      .source = "OpDef \"Case\"",
      .body = switch_case,
  });
  functions.define({
      .names = "case",
      .scope = "case",
      .results = structure(),
      .summary = "The result of the function of the first predicate that holds.",
      .details = "In a graph all predicates are computed, and all functions are traced.",
      .returns = "As cond's.",
      .raises = {{"TypeError", "A predicate is no tensor, or, in a graph, results differ."},
                 {"InvalidArgumentError",
                  "No predicate holds and there is no default, or several hold and exclusive is "
                  "set."}},
      .body = case_of,
  });
}

}  // namespace graven::engine
