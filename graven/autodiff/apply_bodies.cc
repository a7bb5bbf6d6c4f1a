#include "graven/autodiff/apply_bodies.h"

#include <string>
#include <utility>
#include <vector>

#include "graven/autodiff/extended_node.h"
#include "graven/autodiff/listeners.h"
#include "graven/autodiff/recorded_step.h"
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

// A node that runs bodies, as RecordedStep takes it. Refers to what it was made of.
class NodeStep {
 public:
  NodeStep(const Op& op, AttrsRef attrs, std::string_view name, int64_t recompute)
      : op_(&op), attrs_(attrs), name_(name), recompute_(recompute) {}

  Result<Tensors> run(Builder& plain, std::span<const Tensor> inputs) const {
    return noted(plain.apply(*op_, inputs, attrs_, name_), recompute_);
  }
  std::string name() const { return std::string(name_.empty() ? op_->name() : name_); }
  size_t num_outputs(std::span<const Tensor> inputs) const {
    return static_cast<size_t>(op_->num_outputs(attrs_, static_cast<int>(inputs.size())));
  }

  // A node that is made of another one, with its name.
  template <typename Node>
  struct Made : Node {
    Made(Node node, const NodeStep& of)
        : Node(std::move(node)), name(of.name_), recompute(of.recompute_) {}
    NodeStep step() const { return {*Node::op, Node::attrs, name, recompute}; }
    std::string_view name;
    int64_t recompute;
  };
  Result<Made<ExtendedNode>> extended(Builder& plain) const {
    ASSIGN_OR_RETURN(ExtendedNode node, extend_node(*op_, attrs_, plain, recompute_));
    return Made<ExtendedNode>(std::move(node), *this);
  }
  Result<Made<TangentNode>> with_tangents(std::vector<bool> has_tangent) const {
    ASSIGN_OR_RETURN(TangentNode node, tangent_node(*op_, attrs_, std::move(has_tangent)));
    return Made<TangentNode>(std::move(node), *this);
  }

 private:
  const Op* op_;
  AttrsRef attrs_;
  std::string_view name_;
  int64_t recompute_;
};

}  // namespace

Result<Tensors> apply_bodies(Builder& builder, const Op& op, std::span<const Tensor> inputs,
                             AttrsRef attrs, std::string_view name, int64_t recompute) {
  Builder& plain = builder.unrecorded();
  if (&plain != &builder) tell_of_variables(inputs);
  const Listeners listeners = listeners_of_step(builder, inputs);
  return RecordedStep<NodeStep>(plain).apply({op, attrs, name, recompute}, inputs, listeners);
}

}  // namespace graven::engine
