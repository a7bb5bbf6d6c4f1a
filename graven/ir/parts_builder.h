#pragma once
#include <string_view>

#include "graven/ir/graph_builder.h"

namespace graven::engine {

// Adds the parts of a composite to a graph: eager tensors that its body uses are constants of it,
// not captures.
class PartsBuilder final : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;
  Result<Tensor> capture(const Tensor& external, std::string_view name) override {
    return external.is_symbolic() ? GraphBuilder::capture(external, name) : add_constant(external);
  }
};

}  // namespace graven::engine
