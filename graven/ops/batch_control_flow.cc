#include "graven/ops/batch_control_flow.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/batch_context.h"
#include "graven/ir/bodies.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

Tensor zero_axis(Emitter& emit) { return emit.constant(Tensor::scalar<int32_t>(0)); }

// The number of rows for graphs of bodies, where a number that is known is no capture.
Tensor num_rows_of(const BatchContext& c) {
  const auto known = c.num_rows_if_known();
  return known ? Tensor::scalar(static_cast<int32_t>(*known)) : c.num_rows();
}

// The numbers of the rows for which a vector holds, and how many there are.
struct ChosenRows {
  ChosenRows(Emitter& emit, const Tensor& holds) {
    const int32_t flat[] = {-1};
    const Tensor places = emit(kReshape, {emit(kWhere, {holds}), int32_vector(emit, flat)});
    numbers = cast(emit, places, DType::kInt32);
    count = emit(kSize, {numbers});
  }
  BatchedTensor of(Emitter& emit, const BatchedTensor& x) const {
    if (!x.is_batched) return x;
    return {emit(kGatherV2, {x.tensor, numbers, zero_axis(emit)}), true};
  }
  Tensor numbers, count;  // an int32 vector and scalar
};

// True if it does not matter whether the body also runs for no rows.
bool may_run_for_no_rows(const Body& body) {
  return !body.effects().ordered && body.effects().writes.empty();
}

// True if an output of the body stands for one that only another branch has: nothing reads it.
bool is_fake(OutputRef output) { return &output.node->op() == kFakeParam.op; }

// True if such an output has sizes that are not known: it does not fit beside the rows of the
// others.
bool gives_fake_of_unknown_size(const Body& body) {
  for (OutputRef output : body.graph()->outputs()) {
    if (is_fake(output) && !output.node->output(0).shape.is_fully_known()) return true;
  }
  return false;
}

bool has_objects(const BatchContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.is_batched(i) && c.dtype(i) == DType::kVariant) return true;
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (c.node().output(i).dtype == DType::kVariant) return true;
  }
  return false;
}

// The graph of a body for all rows, while it is being built.
class OpenBody {
 public:
  OpenBody(const BatchContext& c, const std::string& name) : name_(name) {
    open_.graph = make_ref<Graph>(name);
    builder_ = std::make_unique<GraphBuilder>(open_.graph);
    open_.graph->set_outer(const_cast<BatchContext&>(c).builder().graph());
  }
  GraphBuilder& builder() { return *builder_; }
  void set_outputs(std::span<const Tensor> outputs) {
    std::vector<OutputRef> refs;
    for (const Tensor& output : outputs) refs.push_back(symbolic(output).output());
    open_.graph->set_outputs(std::move(refs));
  }
  // Ends the building, up to the captures.
  OpenGraph* close(int num_arguments) {
    order_effects(*open_.graph);
    open_.num_arguments = num_arguments;
    open_.captures.assign(builder_->captures().begin(), builder_->captures().end());
    return &open_;
  }
  Ref<Body> body() const {
    return Body::create(str_cat("__inference_", name_, "_", next_uid()), open_.graph);
  }
  const Ref<Graph>& graph() const { return open_.graph; }

 private:
  std::string name_;
  OpenGraph open_;
  std::unique_ptr<GraphBuilder> builder_;
};

// --- Branches.

// For each branch a vector that says which rows chose it.
std::vector<Tensor> choices(BatchContext& c, const NodeBodies& bodies) {
  const Formula chooser(c, c.x(0));
  if (!bodies.is_list) {
    const Tensor holds = cast(c, chooser, DType::kBool);
    return {c(kLogicalNot, {holds}), holds};
  }
  std::vector<Tensor> all;
  Tensor others;  // of the last branch, which also takes numbers that have none
  for (size_t k = 0; k + 1 < bodies.all.size(); ++k) {
    all.push_back(call(kEqual, chooser, constant_like(chooser, static_cast<double>(k))));
    others = others ? c(kLogicalOr, {others, all.back()}) : all.back();
  }
  all.push_back(others ? c(kLogicalNot, {others}) : call(kEqual, chooser, chooser).tensor());
  return all;
}

// For each output the one body that gives it, if the others only stand in for it.
std::vector<const Body*> only_givers(const NodeBodies& bodies, size_t num_outputs) {
  std::vector<const Body*> only(num_outputs, nullptr);
  for (size_t i = 0; i < num_outputs; ++i) {
    int count = 0;
    for (const NodeBody& one : bodies.all) {
      if (is_fake(one.body->graph()->outputs()[i])) continue;
      only[i] = ++count == 1 ? one.body.get() : nullptr;
    }
  }
  return only;
}

void run_for_chosen_rows(BatchContext& c, const NodeBodies& bodies) {
  if (c.dtype(0) == DType::kString || has_objects(c)) return c.use_loop();
  for (const NodeBody& one : bodies.all) {
    if (!may_run_for_no_rows(*one.body) || gives_fake_of_unknown_size(*one.body)) {
      return c.use_loop();
    }
  }
  const std::vector<Tensor> chosen = choices(c, bodies);
  if (!c.status().ok()) return;
  std::vector<Tensor> numbers;
  std::vector<std::vector<Tensor>> results(static_cast<size_t>(c.num_outputs()));
  const std::vector<const Body*> only = only_givers(bodies, results.size());
  std::vector<bool> is_set(results.size(), false);
  for (size_t k = 0; k < bodies.all.size(); ++k) {
    const ChosenRows rows(c, chosen[k]);
    std::vector<BatchedTensor> inputs;
    for (int i = 0; i < bodies.all[k].inputs.count; ++i) {
      inputs.push_back(rows.of(c, c.input(bodies.all[k].inputs.first + i)));
    }
    if (!c.status().ok()) return;
    auto outputs = c.run_body(c.builder(), *bodies.all[k].body, inputs, rows.count);
    if (!outputs.ok()) return c.fail(outputs.status());
    for (size_t i = 0; i < outputs->size(); ++i) {
      const BatchedTensor& output = (*outputs)[i];
      if (only[i] == bodies.all[k].body.get() && !output.is_batched) {
        c.set_y(static_cast<int>(i), output.tensor, false);
        is_set[i] = true;
      }
      if (!is_set[i]) results[i].push_back(repeat_for_rows(c, output, rows.count));
    }
    numbers.push_back(rows.numbers);
  }
  const auto joined = [&](std::vector<Tensor> parts) {
    parts.push_back(zero_axis(c));
    const Tensors made = c.apply(*kConcatV2.op, parts, NoAttrs());
    return made.empty() ? Tensor() : made[0];
  };
  // Each row chose one branch, which a shape cannot say by itself.
  const Tensor order =
      c(kReshape, {c(kInvertPermutation, {joined(std::move(numbers))}), c.num_rows_as_vector()});
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (is_set[static_cast<size_t>(i)]) continue;
    const Tensor all = joined(std::move(results[static_cast<size_t>(i)]));
    c.set_y(i, c(kGatherV2, {all, order, zero_axis(c)}));
  }
}

Status run_one_branch(BatchContext& c, const NodeBodies& bodies) {
  const Tensor num_rows = num_rows_of(c);
  std::vector<OpenBody> branches;
  std::vector<std::vector<BatchedTensor>> results;
  std::vector<bool> is_batched(static_cast<size_t>(c.num_outputs()), false);
  for (const NodeBody& one : bodies.all) {
    OpenBody& branch = branches.emplace_back(c, one.body->graph()->name());
    Frame frame(&branch.builder());
    std::vector<BatchedTensor> inputs;
    for (int i = one.inputs.first; i < one.inputs.first + one.inputs.count; ++i) {
      inputs.push_back({branch.builder().add_placeholder_like(c.x(i), "input"), c.is_batched(i)});
    }
    ASSIGN_OR_RETURN(results.emplace_back(),
                     c.run_body(branch.builder(), *one.body, inputs, num_rows));
    for (size_t i = 0; i < is_batched.size(); ++i) {
      if (results.back()[i].is_batched) is_batched[i] = true;
    }
  }
  std::vector<OpenGraph*> open;
  for (size_t k = 0; k < branches.size(); ++k) {
    Frame frame(&branches[k].builder());
    Emitter emit(branches[k].builder());
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < is_batched.size(); ++i) {
      const BatchedTensor& result = results[k][i];
      const Tensor own = is_batched[i] ? repeat_for_rows(emit, result, num_rows) : result.tensor;
      RETURN_IF_ERROR(emit.status());
      if (!own) {
        c.use_loop();
        return {};
      }
      ASSIGN_OR_RETURN(Tensor inner, branches[k].builder().capture(own, "output"));
      outputs.push_back(std::move(inner));
    }
    branches[k].set_outputs(outputs);
    open.push_back(branches[k].close(bodies.all[k].inputs.count));
  }
  const std::vector<Tensor> captured = merge_captures(open);
  std::vector<Ref<Body>> made;
  for (const OpenBody& branch : branches) made.push_back(branch.body());
  std::vector<Tensor> inputs;
  std::vector<DType> dtypes, dtypes_of_outputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.x(i));
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  for (size_t i = 1; i < inputs.size(); ++i) dtypes.push_back(inputs[i].dtype());
  for (int i = 0; i < c.num_outputs(); ++i) {
    dtypes_of_outputs.push_back(c.node().output(i).dtype);
  }
  Tensors outputs;
  if (bodies.is_list) {
    CaseAttrs attrs{dtypes, dtypes_of_outputs, made, {}};
    outputs = c.apply_bodies(op_for_bodies(*kCase, made), inputs, attrs);
  } else {
    IfAttrs attrs{dtypes, dtypes_of_outputs, made[1], made[0], {}};
    outputs = c.apply_bodies(op_for_bodies(*kIf, made), inputs, attrs);
  }
  RETURN_IF_ERROR(c.status());
  for (size_t i = 0; i < is_batched.size(); ++i) {
    c.set_y(static_cast<int>(i), outputs[i], is_batched[i]);
  }
  return {};
}

// --- Loops.

class Loop {
 public:
  explicit Loop(BatchContext& c)
      : c_(c),
        bodies_(bodies_of(c.node())),
        cond_(*bodies_.all[0].body),
        body_(*bodies_.all[1].body) {
    for (int i = 0; i < c.num_inputs(); ++i) is_batched_.push_back(c.is_batched(i));
  }

  Status run() {
    RETURN_IF_ERROR(find_batched());
    for (int i = 0; i < c_.num_inputs(); ++i) {
      if (!is_batched(i) || !condition_is_batched_) continue;
      if (c_.dtype(i) == DType::kVariant || !keeps_shape(i)) return give_up();
    }
    std::vector<Tensor> variables;
    for (int i = 0; i < c_.num_inputs(); ++i) {
      variables.push_back(is_batched(i) ? c_.repeated(i) : c_.x(i));
    }
    RETURN_IF_ERROR(c_.status());
    if (c_.uses_loop()) return {};
    if (!condition_is_batched_) return run_for_all_rows(std::move(variables));
    if (!may_run_for_no_rows(cond_) || !may_run_for_no_rows(body_)) return give_up();
    return run_for_rows_that_hold(std::move(variables));
  }

 private:
  bool is_batched(int i) const { return is_batched_[static_cast<size_t>(i)]; }
  Status give_up() {
    c_.use_loop();
    return {};
  }
  bool is_invariant(int i) const {
    const Graph& graph = *body_.graph();
    return graph.outputs()[static_cast<size_t>(i)].node == graph.inputs()[static_cast<size_t>(i)];
  }
  // True if a row's variable has one shape in all iterations.
  bool keeps_shape(int i) const {
    const Graph& graph = *body_.graph();
    const OutputRef after = graph.outputs()[static_cast<size_t>(i)];
    const Shape& before = graph.inputs()[static_cast<size_t>(i)]->output(0).shape;
    return before.has_rank() && before == after.node->output(after.index).shape;
  }

  // Which variables are batched in some iteration.
  Status find_batched() {
    for (bool changed = true; changed;) {
      changed = false;
      OpenBody scratch(c_, "loop");
      Frame frame(&scratch.builder());
      std::vector<BatchedTensor> variables;
      for (int i = 0; i < c_.num_inputs(); ++i) variables.push_back(stand_in(scratch, i));
      ASSIGN_OR_RETURN(auto holds,
                       c_.run_body(scratch.builder(), cond_, variables, num_rows_of(c_)));
      condition_is_batched_ = holds[0].is_batched;
      ASSIGN_OR_RETURN(auto after,
                       c_.run_body(scratch.builder(), body_, variables, num_rows_of(c_)));
      for (int i = 0; i < c_.num_inputs(); ++i) {
        const bool differs = condition_is_batched_ && !is_invariant(i);
        if (is_batched(i) || !(after[static_cast<size_t>(i)].is_batched || differs)) continue;
        is_batched_[static_cast<size_t>(i)] = changed = true;
      }
    }
    return {};
  }

  // A variable where only what is batched counts. A list may become one of all rows: whether the
  // one that is there can is seen later.
  BatchedTensor stand_in(OpenBody& body, int i) const {
    const BatchedTensor one = variable(body, i);
    if (one.is_batched || c_.dtype(i) != DType::kVariant) return one;
    const HeldType held = held_in(one.tensor);
    if (held.dtype == DType::kInvalid) return one;
    Emitter emit(body.builder());
    const Tensor shape = shape_constant(emit, held.shape);
    return {emit(kTensorListReserve, {shape, zero_axis(emit)}, {held.dtype}), false};
  }

  // What is known of the shape of a row in all iterations, or of all rows.
  Shape shape_of(const Shape& row, bool is_batched) const {
    const Shape shape = static_shape(row);
    if (!is_batched || !shape.has_rank()) return shape;
    const auto known = c_.num_rows_if_known();
    Shape all = {known ? Dim(*known) : Dim::unknown()};
    for (int d = 0; d < shape.rank(); ++d) all.push_back(shape[d]);
    return all;
  }

  BatchedTensor variable(OpenBody& body, int i) const {
    if (is_invariant(i) && is_batched(i) == c_.is_batched(i)) {
      return {body.builder().add_placeholder_like(c_.x(i), "variable"), is_batched(i)};
    }
    const OutputType& type = body_.graph()->inputs()[static_cast<size_t>(i)]->output(0);
    std::optional<HandleData> data;
    if (type.handle_data) {
      data = *type.handle_data;
      for (HeldType& held : data->components) held.shape = shape_of(held.shape, is_batched(i));
    }
    const bool is_object = type.dtype == DType::kVariant;
    const Shape shape = shape_of(type.shape, is_batched(i) && !is_object);
    return {body.builder().add_placeholder(type.dtype, shape, "variable", std::move(data)),
            is_batched(i)};
  }

  Status run_for_all_rows(std::vector<Tensor> variables) {
    const Tensor num_rows = num_rows_of(c_);
    OpenBody condition(c_, cond_.graph()->name());
    {
      Frame frame(&condition.builder());
      const std::vector<BatchedTensor> own = variables_in(condition);
      ASSIGN_OR_RETURN(auto holds, c_.run_body(condition.builder(), cond_, own, num_rows));
      RETURN_IF_ERROR(set_outputs(condition, {holds[0].tensor}));
    }
    OpenBody step(c_, body_.graph()->name());
    {
      Frame frame(&step.builder());
      Emitter emit(step.builder());
      const std::vector<BatchedTensor> own = variables_in(step);
      ASSIGN_OR_RETURN(auto after, c_.run_body(step.builder(), body_, own, num_rows));
      std::vector<Tensor> next;
      for (int i = 0; i < c_.num_inputs(); ++i) {
        const BatchedTensor& made = after[static_cast<size_t>(i)];
        next.push_back(is_batched(i) ? repeat_for_rows(emit, made, num_rows) : made.tensor);
        RETURN_IF_ERROR(emit.status());
        if (!next.back()) return give_up();
      }
      RETURN_IF_ERROR(set_outputs(step, next));
    }
    return add_node(condition, step, std::move(variables));
  }

  // The last variable says which rows' conditions hold.
  Status run_for_rows_that_hold(std::vector<Tensor> variables) {
    std::vector<BatchedTensor> first;
    for (int i = 0; i < c_.num_inputs(); ++i) {
      first.push_back({variables[static_cast<size_t>(i)], is_batched(i)});
    }
    ASSIGN_OR_RETURN(auto holds, c_.run_body(c_.builder(), cond_, first, c_.num_rows()));
    if (holds[0].tensor.dtype() == DType::kString) return give_up();
    variables.push_back(cast(c_, repeat_for_rows(c_, holds[0], num_rows_of(c_)), DType::kBool));
    RETURN_IF_ERROR(c_.status());
    OpenBody condition(c_, cond_.graph()->name());
    {
      Frame frame(&condition.builder());
      Emitter emit(condition.builder());
      variables_in(condition);
      const Tensor own = placeholder_of_holds(condition, variables.back());
      const Tensor any = emit(kAny, {own, zero_axis(emit)});
      RETURN_IF_ERROR(emit.status());
      RETURN_IF_ERROR(set_outputs(condition, {any}));
    }
    OpenBody step(c_, body_.graph()->name());
    {
      Frame frame(&step.builder());
      Emitter emit(step.builder());
      const std::vector<BatchedTensor> own = variables_in(step);
      const Tensor own_holds = placeholder_of_holds(step, variables.back());
      const ChosenRows rows(emit, own_holds);
      std::vector<BatchedTensor> chosen;
      for (const BatchedTensor& variable : own) chosen.push_back(rows.of(emit, variable));
      RETURN_IF_ERROR(emit.status());
      ASSIGN_OR_RETURN(auto after, c_.run_body(step.builder(), body_, chosen, rows.count));
      for (size_t i = 0; i < own.size(); ++i) {
        if (!own[i].is_batched) continue;
        after[i] = {repeat_for_rows(emit, after[i], rows.count), true};
      }
      RETURN_IF_ERROR(emit.status());
      ASSIGN_OR_RETURN(auto hold_now, c_.run_body(step.builder(), cond_, after, rows.count));
      const Tensor places =
          emit(kExpandDims, {rows.numbers, emit.constant(Tensor::scalar<int32_t>(1))});
      std::vector<Tensor> next;
      for (int i = 0; i < c_.num_inputs(); ++i) {
        const auto number = static_cast<size_t>(i);
        const bool changes = is_batched(i) && !is_invariant(i);
        next.push_back(
            changes ? emit(kTensorScatterUpdate, {own[number].tensor, places, after[number].tensor})
                    : own[number].tensor);
      }
      const Tensor now = cast(emit, repeat_for_rows(emit, hold_now[0], rows.count), DType::kBool);
      next.push_back(emit(kTensorScatterUpdate, {own_holds, places, now}));
      RETURN_IF_ERROR(emit.status());
      RETURN_IF_ERROR(set_outputs(step, next));
    }
    return add_node(condition, step, std::move(variables));
  }

  std::vector<BatchedTensor> variables_in(OpenBody& body) const {
    std::vector<BatchedTensor> own;
    for (int i = 0; i < c_.num_inputs(); ++i) own.push_back(variable(body, i));
    return own;
  }
  Tensor placeholder_of_holds(OpenBody& body, const Tensor& holds) const {
    return body.builder().add_placeholder(DType::kBool, static_shape(holds.shape()), "holds");
  }
  static Status set_outputs(OpenBody& body, const std::vector<Tensor>& outputs) {
    std::vector<Tensor> own;
    for (const Tensor& output : outputs) {
      ASSIGN_OR_RETURN(Tensor inner, body.builder().capture(output, "output"));
      own.push_back(std::move(inner));
    }
    body.set_outputs(own);
    return {};
  }

  Status add_node(OpenBody& condition, OpenBody& step, std::vector<Tensor> variables) {
    const auto num_variables = static_cast<int>(variables.size());
    OpenGraph* const open[] = {condition.close(num_variables), step.close(num_variables)};
    for (const Tensor& captured : merge_captures(open)) variables.push_back(captured);
    std::vector<OutputRef> outputs(step.graph()->outputs().begin(), step.graph()->outputs().end());
    for (size_t i = outputs.size(); i < variables.size(); ++i) {
      outputs.push_back({step.graph()->inputs()[i], 0});
    }
    step.graph()->set_outputs(std::move(outputs));
    WhileAttrs attrs;
    for (const Tensor& variable : variables) attrs.T.push_back(variable.dtype());
    attrs.cond = condition.body();
    attrs.body = step.body();
    attrs.parallel_iterations = c_.attrs<WhileAttrs>().parallel_iterations;
    const Ref<Body> made[] = {attrs.cond, attrs.body};
    const Tensors after = c_.apply_bodies(op_for_bodies(*kWhile, made), variables, attrs);
    RETURN_IF_ERROR(c_.status());
    for (int i = 0; i < c_.num_outputs(); ++i) {
      c_.set_y(i, after[static_cast<size_t>(i)], is_batched(i));
    }
    return {};
  }

  BatchContext& c_;
  const NodeBodies bodies_;
  const Body &cond_, &body_;
  std::vector<bool> is_batched_;  // of the variables, in some iteration
  bool condition_is_batched_ = false;
};

}  // namespace

void batch_branches(BatchContext& c) {
  const NodeBodies bodies = bodies_of(c.node());
  if (c.is_batched(0)) return run_for_chosen_rows(c, bodies);
  if (Status status = run_one_branch(c, bodies); !status.ok()) c.fail(status);
}

void batch_loop(BatchContext& c) {
  if (Status status = Loop(c).run(); !status.ok()) c.fail(status);
}

}  // namespace graven::engine
