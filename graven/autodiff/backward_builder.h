#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graven/autodiff/forward_graph.h"
#include "graven/ir/graph_builder.h"

namespace graven::engine {

// Builds a backward half. What it captures is what the forward half has to give: each of its
// tensors becomes an input after those that were there, with its Dims in terms of this graph's
// symbols. Constants are copied instead, and shapes are found in the forward half, so that a
// tensor is not handed over for its shape.
class BackwardBuilder final : public GraphBuilder {
 public:
  BackwardBuilder(Ref<Graph> graph, ForwardGraph& forward)
      : GraphBuilder(std::move(graph)), forward_(forward) {}

  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name = {}) override;
  Result<Tensor> capture(const Tensor& external, std::string_view name) override;

  // The outputs of the forward half that were captured, in order.
  const std::vector<int>& side_values() const { return side_values_; }
  // True if constants or inputs of the forward half that have gradients were used, and nothing
  // else of it that has.
  bool needs_tie() const { return uses_numbers_ && !uses_values_; }
  // Takes one more output of the forward half, for no use; gives its input.
  Tensor take(int output, std::string_view name);
  // True if the forward half is frozen and lacks something.
  bool needs_more() const { return needs_more_; }

  const Graph* forward_graph() const { return forward_.graph().get(); }

 private:
  Result<Tensor> capture_forward(const Tensor& tensor, std::string_view name);
  ForwardGraph& forward_;
  std::vector<int> side_values_;
  std::unordered_map<uint64_t, Tensor> inner_of_;  // by TensorObject::id
  bool needs_more_ = false, uses_numbers_ = false, uses_values_ = false;
};

}  // namespace graven::engine
