#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graven/autodiff/forward_graph.h"
#include "graven/ir/graph_builder.h"

namespace graven::engine {

// Builds a backward half. Its captures are tensors of the forward half: each becomes an input
// behind those already there, with its Dims in terms of this graph's symbols. Constants are copied
// instead, and shapes are computed in the forward half, so that no tensor is handed over for its
// shape alone.
class BackwardBuilder final : public GraphBuilder {
 public:
  BackwardBuilder(Ref<Graph> graph, ForwardGraph& forward)
      : GraphBuilder(std::move(graph)), forward_(forward) {}

  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name = {}) override;
  Result<Tensor> capture(const Tensor& external, std::string_view name) override;

  // The outputs of the forward half that were captured, in order.
  const std::vector<int>& side_values() const { return side_values_; }
  // True if the backward half uses constants or inputs of the forward half that have gradients, and
  // no other tensor of it that has one.
  bool needs_tie() const { return uses_numbers_ && !uses_values_; }
  // Adds an unused input for one more output of the forward half; returns the input.
  Tensor take(int output, std::string_view name);
  // True if the forward half is frozen and lacks an output that the backward half needs.
  bool needs_more() const { return needs_more_; }

  const Graph* forward_graph() const { return forward_.graph().get(); }

  // The gradient of a read of one row is that row alone (row_gradient.h).
  bool gathers_rows = false;

 private:
  Result<Tensor> capture_forward(const Tensor& tensor, std::string_view name);
  ForwardGraph& forward_;
  std::vector<int> side_values_;
  std::unordered_map<uint64_t, Tensor> inner_of_;  // by TensorObject::id
  bool needs_more_ = false, uses_numbers_ = false, uses_values_ = false;
};

}  // namespace graven::engine
