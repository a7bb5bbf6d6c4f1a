#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/forward_accumulator.h"
#include "graven/autodiff/tangent_body.h"
#include "graven/ir/builder.h"

namespace graven::engine {

// Applies a step that runs bodies, a call or a node, for some listeners: those that joined last
// come first, and see the step that the others do not know of. A Step can be copied and has
//
//   Result<Tensors> run(Builder& plain, inputs) const     applies it for no listener
//   std::string name() const                              for errors
//   size_t num_outputs(inputs) const
//   Result<Extended> extended(Builder& plain) const       with side outputs, for its gradient:
//       step(), more_inputs, backward(inputs, outputs)
//   Result<Pushed> with_tangents(has_tangent) const       that computes tangents too:
//       step(), and takes, gives, failed as of a TangentBody
template <typename Step>
class RecordedStep {
 public:
  explicit RecordedStep(Builder& plain) : plain_(plain) {}

  Result<Tensors> apply(const Step& step, std::span<const Tensor> inputs,
                        std::span<Listener* const> listeners) {
    while (!listeners.empty() && !listeners.back()->wants(inputs)) {
      listeners = listeners.first(listeners.size() - 1);
    }
    if (listeners.empty()) return step.run(plain_, inputs);
    if (ForwardAccumulator* accumulator = accumulator_of(listeners.back())) {
      return apply_pushed(step, inputs, *accumulator, listeners.first(listeners.size() - 1));
    }
    return apply_taped(step, inputs, listeners);
  }

 private:
  // For the last listeners, which are tapes.
  Result<Tensors> apply_taped(const Step& step, std::span<const Tensor> inputs,
                              std::span<Listener* const> listeners) {
    InlineVector<Listener*, 2> tapes;
    for (; !listeners.empty() && !accumulator_of(listeners.back());
         listeners = listeners.first(listeners.size() - 1)) {
      if (listeners.back()->wants(inputs)) tapes.push_back(listeners.back());
    }
    std::ranges::reverse(tapes);
    auto extended = step.extended(plain_);
    std::vector<Tensor> more;
    std::span<const Tensor> all = inputs;
    if (extended.ok() && !extended->more_inputs.empty()) {
      more.assign(inputs.begin(), inputs.end());
      more.insert(more.end(), extended->more_inputs.begin(), extended->more_inputs.end());
      all = more;
    }
    Result<Tensors> outputs = apply(extended.ok() ? extended->step() : step, all, listeners);
    if (!outputs.ok()) return outputs;
    // Where there is no gradient the step itself is fine; it is an error to ask for it.
    const BackwardRef backward = extended.ok()
                                     ? extended->backward(all, *outputs)
                                     : backward_that_fails(step.name(), extended.status());
    // Side outputs have a part in gradients of gradients only.
    const size_t num_outputs = step.num_outputs(inputs);
    const bool is_alone = tapes.size() == 1 && !tapes[0]->wants_higher_orders();
    const size_t num_heard = is_alone ? num_outputs : outputs->size();
    for (Listener* tape : tapes) tape->on_step(all, {outputs->data(), num_heard}, backward);
    outputs->resize(num_outputs);
    return outputs;
  }

  // For an accumulator, which is the last listener.
  Result<Tensors> apply_pushed(const Step& step, std::span<const Tensor> inputs,
                               ForwardAccumulator& accumulator, std::span<Listener* const> outer) {
    const auto given = accumulator.tangents_of(inputs);
    auto pushed = given.ok() ? pushed_by(step, *given) : given.status();
    if (!pushed.ok()) {
      Result<Tensors> outputs = apply(step, inputs, outer);
      if (outputs.ok()) accumulator.note(inputs, *outputs, pushed.status());
      return outputs;
    }
    ASSIGN_OR_RETURN(const auto all, with_tangents(inputs, *given, pushed->takes, plain_));
    ASSIGN_OR_RETURN(Tensors outputs, apply(pushed->step(), all, outer));
    const Tensors tangents = tangents_among(outputs, pushed->gives);
    outputs.resize(pushed->gives.size());
    accumulator.note(inputs, outputs, tangents, pushed->failed);
    return outputs;
  }

  static auto pushed_by(const Step& step, const Tensors& tangents) {
    std::vector<bool> has_tangent;
    for (const Tensor& tangent : tangents) has_tangent.push_back(bool(tangent));
    return step.with_tangents(std::move(has_tangent));
  }

  Builder& plain_;
};

}  // namespace graven::engine
