#pragma once
#include <utility>

#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Builds a body of a node that runs in the graph of another builder. The shape of an outer tensor
// is computed outside, so that no tensor is handed in for its shape alone.
class InnerBuilder final : public GraphBuilder {
 public:
  InnerBuilder(Ref<Graph> graph, Builder& outer)
      : GraphBuilder(std::move(graph)), outer_(outer.unrecorded()) {
    this->graph()->set_outer(outer.graph());
  }
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name = {}) override {
    if (&op == kShape.op && inputs[0].is_symbolic() &&
        symbolic(inputs[0]).graph().get() != graph()) {
      ASSIGN_OR_RETURN(Tensors shape, outer_.apply(op, inputs, attrs, name));
      ASSIGN_OR_RETURN(Tensor inner, capture(shape[0], "shape"));
      return Tensors{inner};
    }
    return GraphBuilder::apply(op, inputs, attrs, name);
  }

 private:
  Builder& outer_;
};

}  // namespace graven::engine
