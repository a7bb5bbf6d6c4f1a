#pragma once
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "graven/ir/graph_builder.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"
#include "graven/runtime/program.h"
#include "graven/tensor/tensor.h"

// Helpers of this room's tests.
namespace graven::engine {

Tensor floats(std::initializer_list<float> values);
Tensor floats_of(const Shape& shape, std::vector<float> values);
Tensor ints(std::initializer_list<int32_t> values);
Tensor resource_of(Ref<Resource> resource);
std::vector<float> values_of(const Tensor& tensor);
Tensor normal_values(const Shape& shape, uint32_t seed);
bool same_bits(const Tensor& a, const Tensor& b);

// The first output of an op, computed at once or added to the graph; an error fails the test case.
Tensor run(Builder& builder, const Op& op, std::initializer_list<Tensor> inputs,
           AttrsRef attrs = {}, std::string_view name = {});
template <typename A>
Tensor run(Builder& builder, const OpHandle<A>& op, std::initializer_list<Tensor> inputs,
           const std::type_identity_t<A>& attrs = {}, std::string_view name = {}) {
  return run(builder, *op, inputs, AttrsRef(attrs), name);
}

// A graph that is being built.
struct TestGraph {
  explicit TestGraph(std::string name = "f");
  Tensor placeholder(DType dtype, const Shape& shape, std::string_view name = "x") {
    return builder.add_placeholder(dtype, shape, name);
  }
  Tensor constant(const Tensor& value) { return builder.add_constant(value); }
  void returns(std::initializer_list<Tensor> outputs);
  Ref<Graph> graph;
  GraphBuilder builder;
};
Ref<Program> plan(TestGraph& g);

}  // namespace graven::engine
