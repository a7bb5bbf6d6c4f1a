// The gradient of a node that runs one of several bodies. Its forward half runs one of the bodies'
// forward halves; all of them give the side outputs of all, fakes in place of those that another
// branch makes. Its backward half runs the backward half of the branch that was chosen.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graven/autodiff/add_gradients.h"
#include "graven/autodiff/apply_bodies.h"
#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/extended_node.h"
#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/inner_builder.h"
#include "graven/base/strings.h"
#include "graven/ir/bodies.h"
#include "graven/ir/merge_captures.h"
#include "graven/ir/numerics_checks.h"
#include "graven/ir/order_effects.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// The tensors of the extended node that are the outputs of one branch's forward half: outputs of
// the node, or its inputs, where the half gives back what it took.
struct Branch {
  Ref<GradientPair> pair;
  // For each output of the forward half the output of the node, or the input if is_input.
  struct Place {
    bool is_input = false;
    int number = 0;
  };
  std::vector<Place> outputs;
};

OutputType copy_of(const OutputType& type) {
  OutputType copy;
  copy.dtype = type.dtype;
  copy.shape = type.shape;
  return copy;
}

// The side outputs of all branches, behind `num_own` outputs of the node.
std::vector<OutputType> place_side_outputs(std::vector<Branch>& branches, const NodeBodies& bodies,
                                           int num_own) {
  std::vector<OutputType> types;
  for (size_t k = 0; k < branches.size(); ++k) {
    Branch& branch = branches[k];
    const Graph& forward = *branch.pair->forward()->graph();
    for (int i = 0; i < num_own; ++i) branch.outputs.push_back({false, i});
    for (size_t i = static_cast<size_t>(num_own); i < forward.outputs().size(); ++i) {
      const OutputRef output = forward.outputs()[i];
      const auto at = std::ranges::find(forward.inputs(), output.node);
      if (at != forward.inputs().end()) {
        const auto input = static_cast<int>(at - forward.inputs().begin());
        branch.outputs.push_back({true, bodies.all[k].inputs.first + input});
        continue;
      }
      branch.outputs.push_back({false, num_own + static_cast<int>(types.size())});
      types.push_back(copy_of(output.node->output(output.index)));
    }
  }
  return types;
}

// The forward half of a branch with the outputs of all.
Ref<Body> with_all_outputs(const Branch& branch, std::span<const OutputType> side_types,
                           int num_own) {
  const Body& forward = *branch.pair->forward();
  Ref<Graph> graph = forward.graph()->clone();
  graph->set_name(str_cat(forward.graph()->name(), "_branch"));
  std::vector<OutputRef> outputs(graph->outputs().begin(), graph->outputs().begin() + num_own);
  outputs.resize(static_cast<size_t>(num_own) + side_types.size());
  for (size_t i = static_cast<size_t>(num_own); i < branch.outputs.size(); ++i) {
    const Branch::Place& place = branch.outputs[i];
    if (!place.is_input) outputs[static_cast<size_t>(place.number)] = graph->outputs()[i];
  }
  for (size_t s = 0; s < side_types.size(); ++s) {
    OutputRef& output = outputs[static_cast<size_t>(num_own) + s];
    if (output) continue;
    std::vector<OutputType> types;
    types.push_back(copy_of(side_types[s]));
    types[0].shape = static_shape(types[0].shape);
    const FakeParamAttrs attrs{types[0].dtype, types[0].shape};
    output = {graph->add({.op = kFakeParam.op,
                          .attrs = attrs,
                          .name = graph->unique_name("fake"),
                          .inputs = {},
                          .outputs = std::move(types)}),
              0};
  }
  graph->set_outputs(std::move(outputs));
  std::string name = str_cat(graph->name(), "_", next_uid());
  return Body::create(std::move(name), std::move(graph));
}

class BranchBackward final : public Backward {
 public:
  BranchBackward(const Op& op, Attrs attrs, std::shared_ptr<const std::vector<Branch>> branches,
                 std::span<const Tensor> inputs, std::span<const Tensor> outputs)
      : op_(op),
        attrs_(std::move(attrs)),
        branches_(std::move(branches)),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()) {}

  std::string_view name() const override { return op_.name(); }

  Result<std::vector<Gradient>> operator()(Builder& builder,
                                           std::span<const Gradient> dy) const override {
    std::vector<OpenGraph> graphs;
    std::vector<std::vector<Gradient>> found;  // by branch and input, tensors of its graph
    for (size_t k = 0; k < branches_->size(); ++k) {
      OpenGraph& open = graphs.emplace_back();
      ASSIGN_OR_RETURN(found.emplace_back(), run_branch(builder, k, dy, open));
    }
    // An input that no branch has a gradient for has none.
    std::vector<Gradient> dx(inputs_.size());
    std::vector<size_t> connected;
    for (size_t i = 1; i < inputs_.size(); ++i) {
      const auto has_gradient = [i](const auto& of) { return !of[i].is_none(); };
      if (std::ranges::any_of(found, has_gradient)) connected.push_back(i);
    }
    if (connected.empty()) return dx;
    for (size_t k = 0; k < graphs.size(); ++k) {
      const Body& forward = (*branches_)[k].pair->forward_body();
      RETURN_IF_ERROR(add_outputs(builder, forward, found[k], connected, graphs[k]));
    }
    ASSIGN_OR_RETURN(Tensors made, apply_backward(builder, graphs));
    for (size_t i = 0; i < connected.size(); ++i) dx[connected[i]].dense = made[i];
    return dx;
  }

 private:
  // The gradients of the node's inputs if branch k was chosen, in a new graph.
  Result<std::vector<Gradient>> run_branch(Builder& builder, size_t k, std::span<const Gradient> dy,
                                           OpenGraph& open) const {
    const Branch& branch = (*branches_)[k];
    open.graph = make_ref<Graph>(str_cat(branch.pair->forward_body().name(), "_gradient"));
    InnerBuilder inner(open.graph, builder);
    Frame frame(&inner);
    std::vector<Tensor> outputs;
    std::vector<Gradient> dy_of_branch;
    for (const Branch::Place& place : branch.outputs) {
      const auto number = static_cast<size_t>(place.number);
      outputs.push_back(place.is_input ? inputs_[number] : outputs_[number]);
      const bool has_dy = !place.is_input && number < dy.size();
      dy_of_branch.push_back(has_dy ? dy[number] : Gradient());
    }
    const std::span<const Tensor> inputs(inputs_.begin() + 1, inputs_.end());
    const BackwardRef backward = backward_of_call(branch.pair, inputs, outputs);
    ASSIGN_OR_RETURN(std::vector<Gradient> found, (*backward)(inner, dy_of_branch));
    found.insert(found.begin(), Gradient());  // of what chose the branch
    open.captures.assign(inner.captures().begin(), inner.captures().end());
    return found;
  }

  // Makes the dense gradients of the connected inputs the outputs of a branch's graph.
  Status add_outputs(Builder& builder, const Body& forward, std::span<const Gradient> found,
                     std::span<const size_t> connected, OpenGraph& open) const {
    InnerBuilder inner(open.graph, builder);
    for (const GraphBuilder::Capture& capture : open.captures) {
      inner.bind_capture(capture.external, capture.internal);
    }
    Frame frame(&inner);
    Emitter emit(inner);
    std::vector<OutputRef> outputs;
    for (size_t i : connected) {
      const Tensor dense =
          found[i].is_none() ? zeros_like_gradient_of(emit, inputs_[i]) : densify(emit, found[i]);
      RETURN_IF_ERROR(emit.status());
      ASSIGN_OR_RETURN(Tensor own, inner.capture(dense, "gradient"));
      outputs.push_back(symbolic(own).output());
    }
    open.graph->set_outputs(std::move(outputs));
    add_numerics_checks(*open.graph, numerics_checks_of(*forward.graph()),
                        open.graph->inputs().size());
    order_effects(*open.graph);
    open.captures.assign(inner.captures().begin(), inner.captures().end());
    return {};
  }

  Result<Tensors> apply_backward(Builder& builder, std::vector<OpenGraph>& graphs) const {
    std::vector<OpenGraph*> open;
    for (OpenGraph& graph : graphs) open.push_back(&graph);
    std::vector<Tensor> inputs = merge_captures(open);
    std::vector<Ref<Body>> bodies;
    for (const OpenGraph& graph : graphs) {
      bodies.push_back(
          Body::create(str_cat("__backward_", graph.graph->name(), "_", next_uid()), graph.graph));
    }
    inputs.insert(inputs.begin(), inputs_[0]);
    const Attrs attrs = with_bodies(op_, attrs_, bodies);
    return apply_bodies(builder, op_for_bodies(op_, bodies), inputs, attrs);
  }

  const Op& op_;
  const Attrs attrs_;
  const std::shared_ptr<const std::vector<Branch>> branches_;
  const std::vector<Tensor> inputs_, outputs_;
};

}  // namespace

Result<ExtendedNode> extend_branches(const Op& op, AttrsRef attrs) {
  const NodeBodies bodies = bodies_of(op, attrs);
  auto branches = std::make_shared<std::vector<Branch>>();
  for (const NodeBody& one : bodies.all) {
    ASSIGN_OR_RETURN(Ref<GradientPair> pair, gradient_pair(one.body, PairOf::kBranch));
    branches->push_back({std::move(pair), {}});
  }
  const int num_own = bodies.all[0].outputs.count;
  const std::vector<OutputType> side_types = place_side_outputs(*branches, bodies, num_own);
  std::vector<Ref<Body>> forward;
  for (const Branch& branch : *branches) {
    forward.push_back(with_all_outputs(branch, side_types, num_own));
  }
  ExtendedNode extended(op, with_bodies(op, attrs, forward));
  extended.backward = [&op, attrs = extended.attrs, branches](
                          std::span<const Tensor> inputs,
                          std::span<const Tensor> outputs) -> BackwardRef {
    return std::make_shared<BranchBackward>(op, attrs, branches, inputs, outputs);
  };
  return extended;
}

}  // namespace graven::engine
