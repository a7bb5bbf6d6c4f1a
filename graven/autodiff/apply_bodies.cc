#include "graven/autodiff/apply_bodies.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/extended_node.h"
#include "graven/autodiff/forward_accumulator.h"
#include "graven/autodiff/listeners.h"
#include "graven/autodiff/tangent_body.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/recompute.h"

namespace graven::engine {
namespace {

void tell_of_variables(std::span<const Tensor> inputs) {
  for (Listener* listener : Frame::current().listeners) {
    for (const Tensor& input : inputs) {
      if (input.dtype() == DType::kResource) listener->on_variable(input);
    }
  }
}

// The outputs of a node, on which `recompute` is noted for gradients that are built later.
Result<Tensors> noted(Result<Tensors> outputs, int64_t recompute) {
  const bool is_node = outputs.ok() && !outputs->empty() && (*outputs)[0].is_symbolic();
  if (recompute == 0 || !is_node) return outputs;
  const SymbolicTensor& made = symbolic((*outputs)[0]);
  made.graph()->set_attribute(&made.node(), std::string(kRecompute), recompute);
  return outputs;
}

// One node for some listeners, like RecordedCall (gradient_pair.cc).
class RecordedNode {
 public:
  RecordedNode(Builder& plain, std::string_view name, int64_t recompute)
      : plain_(plain), name_(name), recompute_(recompute) {}

  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::span<Listener* const> listeners) {
    while (!listeners.empty() && !listeners.back()->wants(inputs)) {
      listeners = listeners.first(listeners.size() - 1);
    }
    if (listeners.empty()) return noted(plain_.apply(op, inputs, attrs, name_), recompute_);
    if (ForwardAccumulator* accumulator = accumulator_of(listeners.back())) {
      return apply_pushed(op, inputs, attrs, *accumulator, listeners.first(listeners.size() - 1));
    }
    return apply_taped(op, inputs, attrs, listeners);
  }

 private:
  // For the last listeners, which are tapes.
  Result<Tensors> apply_taped(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                              std::span<Listener* const> listeners) {
    InlineVector<Listener*, 2> tapes;
    for (; !listeners.empty() && !accumulator_of(listeners.back());
         listeners = listeners.first(listeners.size() - 1)) {
      if (listeners.back()->wants(inputs)) tapes.push_back(listeners.back());
    }
    std::ranges::reverse(tapes);
    auto extended = extend_node(op, attrs, plain_, recompute_);
    std::vector<Tensor> all(inputs.begin(), inputs.end());
    if (extended.ok()) {
      all.insert(all.end(), extended->more_inputs.begin(), extended->more_inputs.end());
    }
    Result<Tensors> outputs = extended.ok() ? apply(*extended->op, all, extended->attrs, listeners)
                                            : apply(op, inputs, attrs, listeners);
    if (!outputs.ok()) return outputs;
    // Where there is no pair the node itself is fine; it is an error to ask for its gradient.
    const BackwardRef backward =
        extended.ok() ? extended->backward(all, *outputs)
                      : backward_that_fails(std::string(name_.empty() ? op.name() : name_),
                                            extended.status());
    for (Listener* tape : tapes) tape->on_step(all, *outputs, backward);
    outputs->resize(num_outputs(op, inputs, attrs));
    return outputs;
  }

  // For an accumulator, which is the last listener.
  Result<Tensors> apply_pushed(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                               ForwardAccumulator& accumulator, std::span<Listener* const> outer) {
    const auto given = accumulator.tangents_of(inputs);
    auto made = given.ok() ? node_with(op, attrs, *given) : given.status();
    if (!made.ok()) {
      Result<Tensors> outputs = apply(op, inputs, attrs, outer);
      if (outputs.ok()) accumulator.note(inputs, *outputs, made.status());
      return outputs;
    }
    ASSIGN_OR_RETURN(const auto all, with_tangents(inputs, *given, made->takes, plain_));
    ASSIGN_OR_RETURN(Tensors outputs, apply(*made->op, all, made->attrs, outer));
    const Tensors tangents = tangents_among(outputs, made->gives);
    outputs.resize(made->gives.size());
    accumulator.note(inputs, outputs, tangents, made->failed);
    return outputs;
  }

  static Result<TangentNode> node_with(const Op& op, AttrsRef attrs, const Tensors& tangents) {
    std::vector<bool> has_tangent;
    for (const Tensor& tangent : tangents) has_tangent.push_back(bool(tangent));
    return tangent_node(op, attrs, std::move(has_tangent));
  }

  static size_t num_outputs(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs) {
    return static_cast<size_t>(op.num_outputs(attrs, static_cast<int>(inputs.size())));
  }

  Builder& plain_;
  const std::string_view name_;
  const int64_t recompute_;
};

}  // namespace

Result<Tensors> apply_bodies(Builder& builder, const Op& op, std::span<const Tensor> inputs,
                             AttrsRef attrs, std::string_view name, int64_t recompute) {
  Builder& plain = builder.unrecorded();
  if (&plain != &builder) tell_of_variables(inputs);
  const Listeners listeners = listeners_of_step(builder, inputs);
  if (listeners.empty()) return noted(plain.apply(op, inputs, attrs, name), recompute);
  return RecordedNode(plain, name, recompute).apply(op, inputs, attrs, listeners);
}

}  // namespace graven::engine
