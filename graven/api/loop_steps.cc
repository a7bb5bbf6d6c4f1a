#include "graven/api/loop_steps.h"

#include <algorithm>
#include <utility>

#include "graven/ir/graph.h"

namespace graven::internal {

LoopSteps::Listening::Listening(LoopSteps* steps)
    : steps_(steps), frame_(engine::Frame::current()) {
  if (steps_) frame_.listeners.push_back(steps_);
}

LoopSteps::Listening::~Listening() {
  if (steps_) frame_.listeners.erase(std::ranges::find(frame_.listeners, steps_));
}

void LoopSteps::tell(engine::Listener& listener) const {
  for (const engine::Tensor& handle : variables_) listener.on_variable(handle);
  for (const Step& step : steps_) {
    if (!step.backward) {
      const engine::Node* node = engine::symbolic(step.outputs[0]).output().node;
      listener.on_op(node->op(), node->attrs(), step.inputs, step.outputs);
    } else if (listener.wants(step.inputs)) {
      listener.on_step(step.inputs, step.outputs, step.backward);
    }
  }
}

void LoopSteps::on_op(const engine::Op&, engine::AttrsRef, std::span<const engine::Tensor> inputs,
                      const engine::Tensors& outputs) {
  if (!outputs.empty() && outputs[0].is_symbolic()) add(inputs, outputs, nullptr);
}

void LoopSteps::on_step(std::span<const engine::Tensor> inputs,
                        std::span<const engine::Tensor> outputs,
                        const engine::BackwardRef& backward) {
  add(inputs, outputs, backward);
}

void LoopSteps::add(std::span<const engine::Tensor> inputs, std::span<const engine::Tensor> outputs,
                    const engine::BackwardRef& backward) {
  Step step{{inputs.begin(), inputs.end()}, {}, backward};
  for (const engine::Tensor& output : outputs) step.outputs.push_back(output);
  steps_.push_back(std::move(step));
}

}  // namespace graven::internal
