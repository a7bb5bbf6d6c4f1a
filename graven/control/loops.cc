#include "graven/control/loops.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/apply_bodies.h"
#include "graven/base/interrupt.h"
#include "graven/base/strings.h"
#include "graven/control/define_control_flow.h"
#include "graven/control/row_types.h"
#include "graven/control/structures.h"
#include "graven/function/trace_body.h"
#include "graven/function/trace_type.h"
#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/function.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

// --- Computed at once.

bool is_list(const Value& value) {
  if (value.kind != Value::Kind::kContainer) return false;
  const ContainerKind kind = value.container->kind();
  return kind != ContainerKind::kDict && kind != ContainerKind::kAttrs;
}

Status check_result(const Value& variables, const Value& result, bool types_count) {
  if (!is_list(result) || result.items.size() != variables.items.size()) {
    return value_error("body must return a list or tuple of ", variables.items.size(),
                       " values, one for each loop variable");
  }
  for (size_t i = 0; i < result.items.size(); ++i) {
    RETURN_IF_ERROR(
        check_nested_like(variables.items[i], result.items[i],
                          str_cat("body must return the structure of the loop variables: number ",
                                  i, " has another one"),
                          types_count));
  }
  return {};
}

Value with_variables_read(FunctionContext& c, Value value) {
  if (value.kind == Value::Kind::kVariable) return with_tensor_leaves(c, std::move(value));
  if (value.kind == Value::Kind::kContainer) {
    for (Value& item : value.items) item = with_variables_read(c, std::move(item));
  }
  return value;
}

Outputs loop_at_once(FunctionContext& c, const WhileLoopParameters& p) {
  if (p.loop_vars.items.empty()) return c.fail(value_error("No loop variables provided"));
  Value variables = with_variables_read(c, p.loop_vars);
  std::optional<int64_t> left;
  if (p.maximum_iterations) {
    if (p.maximum_iterations.rank() != 0) {
      return c.fail(value_error("maximum_iterations must be a scalar, not of shape ",
                                p.maximum_iterations.shape().to_text()));
    }
    left = c.number_if_known(c.cast(p.maximum_iterations, DType::kInt64).tensor());
    if (!c.status().ok()) return Tensor();
  }
  while (c.status().ok() && (!left || (*left)-- > 0)) {
    auto holds = p.cond->call(variables.items, Callable::As::kParts);
    if (!holds.ok()) return c.fail(holds.status());
    auto truth = truth_of(c, *holds, "what cond gives");
    if (!truth.ok()) return c.fail(truth.status());
    if (!*truth) break;
    auto result = p.body->call(variables.items, Callable::As::kParts);
    if (!result.ok()) return c.fail(result.status());
    const Status fits = check_result(variables, *result, /*types_count=*/true);
    if (!fits.ok()) return c.fail(fits);
    variables = std::move(*result);
  }
  return with_tensor_leaves(c, std::move(variables));
}

// --- In a graph.

// True if a tensor of shape `after` always has the shape `invariant`.
bool conforms(const Shape& after, const Shape& invariant) {
  if (!invariant.has_rank()) return true;
  if (!after.has_rank() || after.rank() != invariant.rank()) return false;
  for (int d = 0; d < after.rank(); ++d) {
    if (invariant[d].is_number() && !(after[d] == invariant[d])) return false;
  }
  return true;
}

// What a loop variable is in all iterations: a shape, whose sizes the program has given, or which
// the type of a composite tensor leaves open; else sizes that the trace leaves open are kept, too.
struct Invariant {
  Shape shape;
  bool is_given = false;
};

// Adds those of the tensors of a composite value, by its type.
Status add_composite(const Value& value, bool is_given, std::vector<Invariant>& all) {
  const std::vector<Tensor> tensors = tensors_of(value);
  const CompositeType* type = composite_type_of(value);
  const bool is_composite = type && !tensors.empty();
  std::vector<Ref<const TensorType>> types;
  if (is_composite) {
    ASSIGN_OR_RETURN(types, type->tensor_types());
    if (types.size() != tensors.size()) {
      return value_error("A value of ", type->repr(), " is made of ", types.size(),
                         " tensors, not of ", tensors.size());
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    Invariant& made = all.emplace_back();
    made.shape = static_shape(tensors[i].shape());
    if (!is_composite) continue;
    // A ragged tensor, or an optional, may have other sizes than those that it has now.
    const Shape shape = static_shape(types[i]->shape());
    made.is_given = is_given || (conforms(made.shape, shape) && !(shape == made.shape));
    if (made.is_given) made.shape = shape;
  }
  return {};
}

// A composite value with the type that its invariant, a shape or a spec, gives it.
Result<Value> with_invariant(Value value, const Value& invariant) {
  const CompositeType& own = *composite_type_of(value);
  const auto* type = dynamic_cast<const TraceType*>(invariant.type.get());
  TraceTypeRef made(type);
  if (const auto* tensor = dynamic_cast<const TensorType*>(type)) {
    const bool is_spec = tensor->dtype() != DType::kInvalid;
    if (is_spec) made = nullptr;
    if (!is_spec) {
      ASSIGN_OR_RETURN(made, own.with_shape(tensor->shape()));
      if (!made) {
        return type_error("shape_invariants holds a TensorShape for a value of ", own.repr(),
                          ": use its spec instead of a TensorShape");
      }
    }
  }
  const auto* composite = dynamic_cast<const CompositeType*>(made.get());
  if (!composite || !composite->is_compatible_with(own)) {
    return type_error("shape_invariants holds ", type ? type->repr() : std::string("no type"),
                      " for a value of ", own.repr(), ", which is no value of it");
  }
  value.type = std::move(made);
  return value;
}

// Adds the shapes that a structure of invariants, nested like `value`, gives to its tensors, and
// gives composite tensors in it the types of theirs.
Status add_invariants(Value& value, const Value& invariants, std::vector<Invariant>& all) {
  if (value.kind == Value::Kind::kContainer) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      const size_t position = value.container->position(i);
      const int at = invariants.container->matching_position(*value.container, position);
      if (at < 0) return value_error("shape_invariants must have the keys of loop_vars");
      RETURN_IF_ERROR(
          add_invariants(value.items[position], invariants.items[static_cast<size_t>(at)], all));
    }
    return {};
  }
  const bool is_none = invariants.kind == Value::Kind::kLiteral;
  if (value.kind == Value::Kind::kTyped) {
    const bool is_given = !is_none && composite_type_of(value) && !value.items.empty();
    if (is_given) {
      ASSIGN_OR_RETURN(value, with_invariant(std::move(value), invariants));
    }
    return add_composite(value, is_given, all);
  }
  if (value.kind != Value::Kind::kTensor) return {};
  if (is_none) {  // the shape that it has
    all.push_back({static_shape(value.tensor.shape()), /*is_given=*/true});
    return {};
  }
  const auto* type = dynamic_cast<const TensorType*>(invariants.type.get());
  if (!type) return value_error("shape_invariants must hold a shape for each tensor of loop_vars");
  const bool is_spec = type->dtype() != DType::kInvalid;
  if (is_spec && (type->dtype() != value.tensor.dtype() ||
                  !are_compatible(type->shape(), static_shape(value.tensor.shape())))) {
    return type_error("shape_invariants holds ", type->repr(), " for a tensor of dtype ",
                      dtype_name(value.tensor.dtype()), " and shape ",
                      value.tensor.shape().to_text(), ", which is no value of it");
  }
  all.push_back({static_shape(type->shape()), /*is_given=*/true});
  return {};
}

// Adds those that hold where the program gives none.
Status add_own_shapes(const Value& value, std::vector<Invariant>& all) {
  if (value.kind == Value::Kind::kTyped) return add_composite(value, /*is_given=*/false, all);
  if (value.kind == Value::Kind::kTensor) all.push_back({static_shape(value.tensor.shape())});
  for (size_t i = 0; i < value.items.size(); ++i) {
    RETURN_IF_ERROR(add_own_shapes(value.item_in_order(i), all));
  }
  return {};
}

std::string dtype_text(const Tensor& tensor) {
  return str_cat("<dtype: '", dtype_name(tensor.dtype()), "'>");
}

// The first node, in a graph or in the bodies that its nodes run, that gives something else or does
// something more when it runs again; null if there is none. Reads of variables are no such nodes.
const Node* find_unrepeatable(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const NodeBodies bodies = bodies_of(*node);
    for (const NodeBody& one : bodies.all) {
      const Node* found = one.body ? find_unrepeatable(*one.body->graph()) : nullptr;
      if (found) return found;
    }
    if (!bodies.empty() || !node->op().is_stateful_ever()) continue;
    const Effects effects = node->op().record().effects(node->op(), node->attrs());
    const bool only_reads = !effects.ordered && !effects.must_run && effects.writes.empty() &&
                            (!effects.stateful || !effects.reads.empty());
    if (!only_reads) return node;
  }
  return nullptr;
}

class LoopTracer {
 public:
  LoopTracer(FunctionContext& c, const WhileLoopParameters& p) : c_(c), p_(p) {}

  Outputs trace() {
    variables_ = with_tensor_leaves(c_, p_.loop_vars);
    before_ = tensors_of(variables_);
    if (!c_.status().ok()) return Tensor();
    if (Status status = find_shapes(); !status.ok()) return c_.fail(status);
    if (p_.maximum_iterations) {
      if (p_.maximum_iterations.dtype() != DType::kInt32) {
        return c_.fail(
            value_error("Tensor conversion requested dtype int32 for maximum_iterations, "
                        "a tensor with dtype ",
                        dtype_name(p_.maximum_iterations.dtype())));
      }
      hidden_ = {c_.scalar(0, DType::kInt32, "loop_counter"),
                 c_(kIdentity, {p_.maximum_iterations}, {}, "maximum_iterations")};
    }
    auto condition = trace_graph(
        {.name = name_of_body(c_, "cond")},
        [&](GraphBuilder& builder) { return make_arguments(builder); },
        [&](std::span<const Value> arguments) { return call_condition(arguments); });
    if (!condition.ok()) return c_.fail(condition.status());
    auto body = trace_graph(
        {.name = name_of_body(c_, "body")},
        [&](GraphBuilder& builder) { return make_arguments(builder); },
        [&](std::span<const Value> arguments) { return call_body(arguments); });
    if (!body.ok()) return c_.fail(body.status());
    return add_node(*condition, *body);
  }

 private:
  Status find_shapes() {
    if (p_.shape_invariants.value.kind == Value::Kind::kLiteral) {
      return add_own_shapes(variables_, invariants_);
    }
    RETURN_IF_ERROR(check_nested_like(variables_, p_.shape_invariants.value,
                                      "shape_invariants must have the structure of loop_vars"));
    RETURN_IF_ERROR(add_invariants(variables_, p_.shape_invariants.value, invariants_));
    if (invariants_.size() == before_.size()) return {};
    return value_error("shape_invariants must hold a shape for each tensor of loop_vars");
  }

  const Shape& shape(size_t i) const { return invariants_[i].shape; }
  // Sizes that the trace leaves open stay as they are, unless invariants say otherwise.
  bool keeps_size(size_t i, int d) const {
    const Tensor& outer = before_[i];
    return !invariants_[i].is_given && CallSizes::any() && outer.is_symbolic() &&
           !shape(i)[d].is_number() && CallSizes::number(outer, d);
  }
  Tensor make_variable(GraphBuilder& builder, size_t i) const {
    const Tensor& outer = before_[i];
    Tensor made = builder.add_placeholder(outer.dtype(), shape(i), "loop_var");
    for (int d = 0; d < shape(i).rank(); ++d) {
      if (!keeps_size(i, d)) continue;
      const Dim size = builder.inner_dim(*symbolic(outer).graph(), outer.shape()[d]);
      symbolic(made).node().output(0).shape.set(d, size);
    }
    return symbolic_tensor(builder.graph_ref(), symbolic(made).output());
  }

  Result<std::vector<Value>> make_arguments(GraphBuilder& builder) {
    std::vector<Value> arguments;
    for (const Tensor& hidden : hidden_) {
      arguments.push_back(
          Value::of_tensor(builder.add_placeholder(hidden.dtype(), Shape(), "loop_counter")));
    }
    for (size_t i = 0; i < before_.size(); ++i) {
      const Tensor& outer = before_[i];
      const bool is_plain_value = is_plain(outer.dtype()) || outer.dtype() == DType::kString;
      arguments.push_back(Value::of_tensor(is_plain_value
                                               ? make_variable(builder, i)
                                               : builder.add_placeholder_like(outer, "loop_var")));
    }
    return arguments;
  }
  // The variables as the functions of the program see them.
  Value variables_of(std::span<const Value> arguments) const {
    std::vector<Tensor> tensors;
    for (const Value& argument : arguments.subspan(hidden_.size())) {
      tensors.push_back(argument.tensor);
    }
    return with_tensors(variables_, tensors);
  }

  Result<Value> call_condition(std::span<const Value> arguments) {
    ASSIGN_OR_RETURN(Value holds,
                     p_.cond->call(variables_of(arguments).items, Callable::As::kTensors));
    if (!holds.tensor) return type_error("cond must give a bool scalar");
    Emitter emit(current_builder());
    Tensor truth = as_chooser(emit, holds.tensor);
    if (!hidden_.empty()) {
      const Tensor is_within = emit(kLess, {arguments[0].tensor, arguments[1].tensor});
      truth = emit(kLogicalAnd, {is_within, truth});
    }
    RETURN_IF_ERROR(emit.status());
    return Value::of_tensor(std::move(truth));
  }

  Result<Value> call_body(std::span<const Value> arguments) {
    ASSIGN_OR_RETURN(Value result,
                     p_.body->call(variables_of(arguments).items, Callable::As::kTensors));
    if (!is_list(result) && variables_.items.size() == 1) {
      result = Value::of_container(Container::list(), {std::move(result)});
    }
    // The results are put in the containers of the variables, whatever these are.
    RETURN_IF_ERROR(check_result(variables_, result, /*types_count=*/false));
    result_ = in_structure_of_variables(result);
    RETURN_IF_ERROR(check_composites_like(variables_, result_));
    const std::vector<Tensor> after = tensors_of(result_);
    if (after.size() != before_.size()) {
      return value_error("body must return a tensor for each loop variable, and None for None");
    }
    for (size_t i = 0; i < after.size(); ++i) RETURN_IF_ERROR(check_variable(i, after[i]));
    std::vector<Value> items;
    if (!hidden_.empty()) {
      Emitter emit(current_builder());
      items.push_back(Value::of_tensor(
          emit(kAddV2, {arguments[0].tensor, emit.constant(Tensor::scalar<int32_t>(1))})));
      items.push_back(arguments[1]);
      RETURN_IF_ERROR(emit.status());
    }
    for (const Tensor& tensor : after) items.push_back(Value::of_tensor(tensor));
    return Value::of_container(Container::list(), std::move(items));
  }
  // A result whose top is the container of the variables: a list may stand for a tuple.
  Value in_structure_of_variables(const Value& result) const {
    return Value::of_container(variables_.container, result.items);
  }

  Status check_variable(size_t i, const Tensor& after) const {
    const Tensor& before = before_[i];
    const std::string name =
        before.is_symbolic() ? symbolic(before).node().name() + ":0" : str_cat("loop_var_", i);
    if (after.dtype() != before.dtype()) {
      return type_error("Loop var ", name, " enters the loop with type ", dtype_text(before),
                        " but has type ", dtype_text(after), " after 1 iteration.");
    }
    bool keeps_sizes = true;
    for (int d = 0; d < shape(i).rank(); ++d) {
      const bool has_axis = after.shape().has_rank() && d < after.rank();
      if (!has_axis || !keeps_size(i, d)) continue;
      keeps_sizes &= CallSizes::is_same_size(after, d, before, d);
    }
    if (keeps_sizes && conforms(after.shape(), shape(i))) return {};
    return value_error("Input tensor `", name, "` enters the loop with shape ", shape(i).to_text(),
                       ", but has shape ", after.shape().to_text(),
                       " after one iteration. To allow the shape to vary across iterations, use "
                       "the `shape_invariants` argument of tf.while_loop to specify a "
                       "less-specific shape.");
  }

  Outputs add_node(TracedGraph& condition, TracedGraph& body) {
    OpenGraph* const graphs[] = {&condition, &body};
    const std::vector<Tensor> captured = merge_captures(graphs);
    std::vector<OutputRef> outputs(body.graph->outputs().begin(), body.graph->outputs().end());
    for (Node* input : body.graph->inputs().subspan(outputs.size())) outputs.push_back({input, 0});
    body.graph->set_outputs(std::move(outputs));
    WhileAttrs attrs;
    attrs.cond = body_of(condition.graph);
    attrs.body = body_of(body.graph);
    attrs.parallel_iterations = p_.parallel_iterations;
    std::vector<Tensor> inputs = hidden_;
    inputs.insert(inputs.end(), before_.begin(), before_.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    for (const Tensor& input : inputs) attrs.T.push_back(input.dtype());
    const Ref<Body> bodies[] = {attrs.cond, attrs.body};
    if (const Node* node = p_.recompute > 0 ? find_unrepeatable(*body.graph) : nullptr) {
      return c_.fail(value_error(
          "recompute=", p_.recompute, " runs the body of the loop again for its gradient, so the ",
          "body must have no effects and draw no random numbers from a state (tf.random.stateless_",
          "functions are fine); it has '", node->name(), "' (", node->op().name(), ")"));
    }
    auto made = apply_bodies(c_.builder(), op_for_bodies(*kWhile, bodies), inputs, attrs, c_.name(),
                             p_.recompute);
    if (!made.ok()) return c_.fail(made.status());
    std::vector<Tensor> results;
    for (size_t i = 0; i < before_.size(); ++i) {
      const Tensor& result = (*made)[hidden_.size() + i];
      results.push_back(p_.back_prop ? result : c_(kStopGradient, {result}));
    }
    if (!c_.status().ok()) return Tensor();
    return with_tensors(with_types_learnt(variables_, result_), results);
  }

  FunctionContext& c_;
  const WhileLoopParameters& p_;
  Value variables_;             // of tensors, as they enter the loop
  Value result_;                // as an iteration leaves them
  std::vector<Tensor> before_;  // the same, flat
  std::vector<Invariant> invariants_;
  std::vector<Tensor> hidden_;  // the counter and its limit, if there is one
};

}  // namespace

Ref<Callable> counts_up_to(Tensor limit) {
  return make_ref<OwnCallable>(
      [limit = std::move(limit)](std::span<const Value> variables, Callable::As) -> Result<Value> {
        Emitter emit(current_builder());
        const Tensor is_left = emit(kLess, {variables[0].tensor, limit});
        RETURN_IF_ERROR(emit.status());
        return Value::of_tensor(is_left);
      });
}

Outputs while_loop(FunctionContext& c, const WhileLoopParameters& p) {
  if (!p.cond) return c.fail(type_error("The argument `cond` must be callable."));
  if (!p.body) return c.fail(type_error("The argument `body` must be callable."));
  if (p.parallel_iterations < 1) {
    return c.fail(type_error("The argument `parallel_iterations` must be a positive integer."));
  }
  if (p.recompute < 0) {
    return c.fail(value_error("recompute must be a number of iterations, or 0, got ", p.recompute));
  }
  if (!is_list(p.loop_vars)) return c.fail(type_error("loop_vars must be a list or tuple"));
  if (!c.is_graph()) return loop_at_once(c, p);
  return LoopTracer(c, p).trace();
}

void define_loops(FunctionRegistry& functions) {
  functions.define({
      .names = "while_loop",
      .scope = "while",
      .results = structure(),
      .summary = "Repeats body as long as cond holds.",
      .details = "Where values are computed at once this is a loop of the program's own language: "
                 "shapes and dtypes may change. In a graph cond and body are traced, each once; "
                 "tensors that they read from outside do not change from one iteration to the "
                 "next.",
      .returns = "The loop variables after the last iteration, in the structure of loop_vars.",
      .raises =
          {{"TypeError",
            "cond or body is not callable, parallel_iterations is below 1, or a loop "
            "variable changes its dtype in a graph."},
           {"ValueError",
            "There are no loop variables, body returns another structure, or a loop variable "
            "changes a size that shape_invariants do not leave open; recompute is negative, or "
            "the body has effects or draws random numbers from a state."},
           {"InvalidArgumentError", "cond gives no bool scalar when the graph runs."}},
      .source = "OpDef \"While\"",
      .body = while_loop,
  });
}

}  // namespace graven::engine
