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
#include "graven/tensor/variant.h"

// Helpers of this room's tests: ops of their own, as the records stand in a room above.
namespace graven::engine {

struct ScaleAttrs {
  float by = 1;
  static constexpr auto fields() { return std::tuple(field("by", &ScaleAttrs::by)); }
};
struct TestSumAttrs {
  bool keep_dims = false;
  static constexpr auto fields() {
    return std::tuple(field("keep_dims", &TestSumAttrs::keep_dims));
  }
};

inline OpHandle<NoAttrs> kTestAdd, kTestMul, kTestTanh, kTestLess, kTestSelect, kTestSqrt;
inline OpHandle<NoAttrs> kTestDivide;  // integers by checked divisors
inline OpHandle<ScaleAttrs> kTestScale;
inline OpHandle<TestSumAttrs> kTestSum, kTestMax, kTestMean;
inline OpHandle<NoAttrs> kTestSquareOfSum;  // composite
inline OpHandle<NoAttrs> kTestSoftmax;      // a body over rows
inline OpHandle<NoAttrs> kTestGather;       // a kernel that checks values
inline OpHandle<NoAttrs> kTestUnique;       // a kernel whose shape is found when it runs
inline OpHandle<NoAttrs> kTestCount;        // counts its runs in its state
inline OpHandle<NoAttrs> kTestNote;         // input -> none; appends the number to test_notes()
inline OpHandle<NoAttrs> kTestFail;
inline OpHandle<NoAttrs> kTestPush;  // handle: a TestList, x -> the list with x at its end

// A list of numbers in a variant.
struct TestList final : Variant {
  std::vector<float> values;
  std::string_view kind() const override { return "list of numbers"; }
  std::vector<std::pair<DType, Shape>> components() const override {
    return {{DType::kFloat32, Shape()}, {DType::kInt32, Shape{2}}};
  }
  Ref<Variant> clone() const override {
    auto copy = make_ref<TestList>();
    copy->values = values;
    return copy;
  }
};
Tensor list_of(std::initializer_list<float> values);

// Defines all of them, and the structural ops, once.
void define_test_ops();
std::vector<int>& test_notes();

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
  void must_run(std::initializer_list<Tensor> tensors);
  Ref<Graph> graph;
  GraphBuilder builder;
};
Ref<Program> plan(TestGraph& g);

}  // namespace graven::engine
