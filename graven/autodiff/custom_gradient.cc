#include "graven/autodiff/custom_gradient.h"

#include <vector>

#include "graven/autodiff/call_gradient.h"
#include "graven/autodiff/forward_accumulator.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

// How many of the node's outputs are those of the user's function; the inputs' follow.
constexpr char kNumResults[] = "_num_custom_gradient_results";

}  // namespace

Result<Tensors> apply_custom_gradient(Builder& builder, std::span<const Tensor> inputs,
                                      std::span<const Tensor> outputs,
                                      const Ref<CustomGradient>& gradient, bool was_heard) {
  Builder& plain = builder.unrecorded();
  std::vector<Tensor> all(outputs.begin(), outputs.end());
  if (plain.graph()) all.insert(all.end(), inputs.begin(), inputs.end());
  IdentityNAttrs attrs;
  for (const Tensor& tensor : all) attrs.T.push_back(tensor.dtype());
  ASSIGN_OR_RETURN(Tensors results, plain.apply(*kIdentityN.op, all, attrs));
  if (Graph* graph = plain.graph(); graph && !results.empty()) {
    Node* node = &symbolic(results[0]).node();
    graph->set_attribute(node, kNumResults, static_cast<int64_t>(outputs.size()));
    graph->set_custom_gradient(node, gradient);
  }
  while (results.size() > outputs.size()) results.pop_back();
  if (&plain == &builder) return results;
  auto listeners = Frame::current().listeners;
  BackwardRef backward;
  for (Listener* listener : listeners) {
    // A tangent goes on through the ops of the function itself, as in TensorFlow; where there are
    // none from the inputs to the values, through the gradient.
    if (was_heard && accumulator_of(listener) && listener->wants(outputs)) {
      listener->on_op(*kIdentityN.op, attrs, outputs, results);
      continue;
    }
    if (!listener->wants(inputs)) {
      // Eagerly the gradient goes on through the ops of the function itself, perhaps to other
      // tensors.
      if (!plain.graph()) listener->on_op(*kIdentityN.op, attrs, outputs, results);
      continue;
    }
    if (!backward) backward = backward_of_custom(gradient, inputs, results);
    listener->on_step(inputs, results, backward);
  }
  return results;
}

size_t num_custom_results(const Node& node) {
  return static_cast<size_t>(std::get<int64_t>(node.attribute(kNumResults)));
}

BackwardRef backward_of_custom_node(const Node& node, std::span<const Tensor> outputs) {
  const size_t num_results = num_custom_results(node);
  // The inputs' own values are among the outputs.
  auto backward = backward_of_custom(node.custom_gradient(), outputs.subspan(num_results),
                                     outputs.subspan(0, num_results));
  return backward_of(
      "custom_gradient",
      [backward, num_results](Builder& builder,
                              std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
        ASSIGN_OR_RETURN(auto of_inputs, (*backward)(builder, dy.subspan(0, num_results)));
        std::vector<Gradient> dx(num_results);  // the results themselves have none
        dx.insert(dx.end(), of_inputs.begin(), of_inputs.end());
        return dx;
      });
}

Result<Node*> note_stand_in(GraphBuilder& builder, const Tensor& original, const Tensor& tensor) {
  Tensor first = tensor;
  if (symbolic(tensor).output().index != 0) {
    ASSIGN_OR_RETURN(const Tensors same, builder.apply(*kIdentity.op, {&tensor, 1}, NoAttrs()));
    first = same[0];
  }
  Node* const node = &symbolic(first).node();
  builder.graph()->note_capture(original.get()->id(), node);
  return node;
}

}  // namespace graven::engine
