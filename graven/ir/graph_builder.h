#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/ir/builder.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// The Builder that adds nodes to a graph. Inputs that are no tensors of the graph are captured:
// each becomes an input of the graph, once, and is remembered beside its inner tensor.
//
// Shape errors are ValueErrors, dtype errors TypeErrors, as TensorFlow has it while tracing.
class GRAVEN_API GraphBuilder : public Builder {
 public:
  explicit GraphBuilder(Ref<Graph> graph) : graph_(std::move(graph)) {}

  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name = {}) override;
  Graph* graph() override { return graph_.get(); }
  const Ref<Graph>& graph_ref() const { return graph_; }

  // A new argument. Unknown dimensions of the shape become fresh symbols, named after the
  // placeholder. The user-specified name is kept as an attribute.
  Tensor add_placeholder(DType dtype, const Shape& shape, std::string_view name,
                         std::optional<HandleData> handle_data = std::nullopt);
  // An input of the type of an outer tensor. If that is a tensor of another graph, the input has
  // its known sizes and handle data, in which inner_dim replaces the Dims; it may be eager too.
  Tensor add_placeholder_like(const Tensor& outer, std::string_view name);
  // A size of another graph as one of this graph. Each symbol there maps to one symbol here, so
  // sizes that are equal there are equal here. If other graphs are being built between the two, the
  // size is translated through each of them.
  Dim inner_dim(const Graph& outer, Dim dim);
  Tensor add_constant(const Tensor& value, std::string_view name = "Const");

  struct Capture {
    Tensor external, internal;
  };
  // In order of first capture.
  std::span<const Capture> captures() const { return captures_; }
  // The inner tensor of an outer one, captured now if it was not before. A tensor of this graph
  // is itself. `name` is the wished name of the new node.
  virtual Result<Tensor> capture(const Tensor& external, std::string_view name);
  // Makes an inner tensor stand for an outer one (variables that are arguments).
  void bind_capture(const Tensor& external, Tensor internal);

  // The types of the outputs of a node, from the op's record, given inputs of this graph.
  Result<std::vector<OutputType>> output_types(const Op& op, std::span<const Tensor> inputs,
                                               AttrsRef attrs, std::string_view node_name);

  // Operations that every new node waits for (control_dependencies).
  std::vector<Node*> control_inputs;

 private:
  Result<std::vector<OutputType>> typed_outputs(const Op& op, std::span<const Tensor> inputs,
                                                AttrsRef attrs, const TypeBindings& types,
                                                std::string_view node_name);
  // Terms of the shape are of this graph.
  Tensor add_input(DType dtype, Shape shape, std::string_view name,
                   std::optional<HandleData> handle_data);
  Ref<Graph> graph_;
  std::vector<Capture> captures_;
  std::unordered_map<const TensorObject*, int> capture_of_;
  // Keyed by symbol of the graphs around this one, which outlive its building.
  std::map<std::pair<const Graph*, int64_t>, Dim> symbol_of_;
};

}  // namespace graven::engine
