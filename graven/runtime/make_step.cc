#include "graven/runtime/make_step.h"

#include <algorithm>

#include "graven/ir/bodies.h"
#include "graven/ir/cost.h"
#include "graven/ir/recorded_body.h"
#include "graven/ir/same_input.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/verify.h"
#include "graven/runtime/body_step.h"
#include "graven/runtime/branch_step.h"
#include "graven/runtime/call_step.h"
#include "graven/runtime/fusion_step.h"
#include "graven/runtime/loop_step.h"
#include "graven/runtime/op_step.h"
#include "graven/runtime/placement.h"
#include "graven/runtime/program.h"
#include "graven/runtime/run_op.h"
#include "graven/runtime/view_step.h"

namespace graven::engine {
namespace {

const OutputType& type_of(OutputRef value) { return value.node->output(value.index); }

// Whether the outputs have the shapes that the graph says whenever the node runs, because they are
// numbers that follow from numbers.
bool has_known_shapes(const Node& node) {
  for (int i = 0; i < node.num_outputs(); ++i) {
    const OutputType& output = node.output(i);
    if (output.is_promised || !output.shape.is_fully_known()) return false;
  }
  return follows_from_numbers(node.op(), node.inputs());
}

Result<std::unique_ptr<Step>> make_body_step(const Node& node, TypeBindings types,
                                             bool shapes_known) {
  InlineVector<DType, 4> dtypes;
  bool are_equal = has_definite_shape(node.output(0));
  for (OutputRef input : node.inputs()) {
    dtypes.push_back(type_of(input).dtype);
    are_equal &= type_of(input).shape == node.output(0).shape;
  }
  ASSIGN_OR_RETURN(auto body,
                   RecordedBody::get(node.op(), node.attrs(), dtypes, node.output(0).dtype));
  ASSIGN_OR_RETURN(const BodyKernel* kernel, body_kernel(*body, device_of(node)));
  using From = BodyStep::ResultShape;
  const bool broadcasts = !node.output(0).is_promised && (body->broadcasts() || are_equal);
  const From from = shapes_known ? From::kInGraph
                    : broadcasts ? From::kByBroadcast
                                 : From::kByInference;
  auto step = std::make_unique<BodyStep>(node, std::move(body), *kernel, std::move(types), from);
  step->cost = nanoseconds_of_blocks(guessed_elements(node.output(0).shape), kernel->cost());
  return std::unique_ptr<Step>(std::move(step));
}

// The step of a node that runs bodies; none if its kernel runs them.
Result<std::unique_ptr<Step>> make_step_of_bodies(const Node& node, const NodeBodies& bodies) {
  if (bodies.run == BodyRun::kAsTheOpLikes) return std::unique_ptr<Step>();
  if (bodies.run == BodyRun::kWhile) {
    ASSIGN_OR_RETURN(auto step, LoopStep::create(node, bodies.all[0].body, bodies.all[1].body));
    return std::unique_ptr<Step>(std::move(step));
  }
  std::vector<PlannedBody> planned;
  double cost = 0;
  for (const NodeBody& one : bodies.all) {
    ASSIGN_OR_RETURN(PlannedBody body, PlannedBody::create(one.body));
    cost = std::max(cost, body.cost());
    planned.push_back(std::move(body));
  }
  std::unique_ptr<Step> step;
  if (bodies.run == BodyRun::kOnce) {
    step = std::make_unique<CallStep>(node, std::move(planned[0]));
  } else {
    step = std::make_unique<BranchStep>(node, bodies.is_list, std::move(planned));
  }
  step->cost = cost;
  return step;
}

Result<std::unique_ptr<Step>> make_op_step(const Node& node, TypeBindings types,
                                           bool shapes_known) {
  const Op& op = node.op();
  const bool may_block = op.is_stateful_ever() && op.record().effects(op, node.attrs()).may_block;
  const bool keeps_state = op.record().keeps_state;
  auto step =
      std::make_unique<OpStep>(node, std::move(types), shapes_known, may_block, keeps_state);
  InlineVector<const Shape*, 4> inputs;
  InlineVector<Shape, 2> outputs;
  for (OutputRef input : node.inputs()) inputs.push_back(&type_of(input).shape);
  for (int i = 0; i < node.num_outputs(); ++i) outputs.push_back(node.output(i).shape);
  step->cost = estimated_cost(op, {node.attrs(), inputs, outputs});
  return std::unique_ptr<Step>(std::move(step));
}

Result<std::unique_ptr<Step>> make(const Node& node) {
  const Op& op = node.op();
  if (&op == kFusion.op) {
    RETURN_IF_ERROR(verify_node(node));
    ASSIGN_OR_RETURN(auto step, FusionStep::create(node, node.attrs().as<FusionAttrs>().fusion));
    return std::unique_ptr<Step>(std::move(step));
  }
  if (const NodeBodies bodies = bodies_of(node); !bodies.empty()) {
    ASSIGN_OR_RETURN(auto step, make_step_of_bodies(node, bodies));
    if (step) return step;
  }
  InlineVector<DType, 4> inputs;
  for (OutputRef input : node.inputs()) inputs.push_back(type_of(input).dtype);
  TypeBindings types;
  RETURN_IF_ERROR(op.bind_types(std::span<const DType>(inputs.data(), inputs.size()), node.attrs(),
                                /*eager=*/false, types));
  const bool shapes_known = has_known_shapes(node);
  if (!inputs.empty() &&
      op.record().body.kind_for(inputs.back(), node.attrs()) == OpBody::Kind::kElementwise) {
    return make_body_step(node, std::move(types), shapes_known);
  }
  if (op.record().view_of >= 0 && shapes_known && !op.is_stateful_ever()) {
    auto step = std::make_unique<ViewStep>(node, op.record().view_of);
    step->cost = 30;
    return std::unique_ptr<Step>(std::move(step));
  }
  return make_op_step(node, std::move(types), shapes_known);
}

}  // namespace

bool follows_from_numbers(const Op& op, std::span<const OutputRef> inputs) {
  auto is_known = [](OutputRef input) { return type_of(input).shape.is_fully_known(); };
  if (!std::ranges::all_of(inputs, is_known)) return false;
  return std::ranges::all_of(op.record().values_for_inference, [&](int i) {
    const size_t input = i < 0 ? inputs.size() - static_cast<size_t>(-i) : static_cast<size_t>(i);
    return &inputs[input].node->op() == kConst.op;
  });
}

NodeKind kind_of_node(const Node& node, bool is_input) {
  if (is_input) return NodeKind::kInput;
  if (&node.op() == kConst.op) return NodeKind::kConstant;
  if (&node.op() == kNoOp.op) return NodeKind::kNothing;
  return same_input(node) >= 0 ? NodeKind::kAlias : NodeKind::kStep;
}

Result<std::unique_ptr<Step>> make_step(const Node& node) {
  ASSIGN_OR_RETURN(auto step, make(node));
  step->queue = &queue_of(device_of(node));
  for (int i = 0; i < node.num_outputs(); ++i) {
    const OutputType& type = node.output(i);
    step->outputs.push_back({-1, type.dtype, type.shape, type.is_promised});
  }
  return step;
}

}  // namespace graven::engine
