#include "graven/autodiff/apply_bodies.h"

#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/extended_node.h"
#include "graven/autodiff/listeners.h"
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

}  // namespace

Result<Tensors> apply_bodies(Builder& builder, const Op& op, std::span<const Tensor> inputs,
                             AttrsRef attrs, std::string_view name, int64_t recompute) {
  Builder& plain = builder.unrecorded();
  if (&plain != &builder) tell_of_variables(inputs);
  const Listeners listeners = listeners_of_step(builder, inputs);
  if (listeners.empty()) return noted(plain.apply(op, inputs, attrs, name), recompute);
  auto extended = extend_node(op, attrs, plain, recompute);
  std::vector<Tensor> all(inputs.begin(), inputs.end());
  if (extended.ok()) {
    all.insert(all.end(), extended->more_inputs.begin(), extended->more_inputs.end());
  }
  Result<Tensors> outputs =
      noted(extended.ok() ? plain.apply(*extended->op, all, extended->attrs, name)
                          : plain.apply(op, inputs, attrs, name),
            recompute);
  if (!outputs.ok()) return outputs;
  // Where there is no pair the node itself is fine; it is an error to ask for its gradient.
  const BackwardRef backward =
      extended.ok()
          ? extended->backward(all, *outputs)
          : backward_that_fails(std::string(name.empty() ? op.name() : name), extended.status());
  for (Listener* listener : listeners) listener->on_step(all, *outputs, backward);
  outputs->resize(static_cast<size_t>(op.num_outputs(attrs, static_cast<int>(inputs.size()))));
  return outputs;
}

}  // namespace graven::engine
