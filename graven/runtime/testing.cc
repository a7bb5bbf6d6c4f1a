#include "graven/runtime/testing.h"

#include <cstring>
#include <random>

namespace graven::engine {
namespace {

template <typename T>
Tensor vector_of(std::span<const T> values) {
  if (values.empty()) return *Tensor::allocate(kDTypeOf<T>, {0});
  return Tensor::vector<T>(values);
}

}  // namespace

Tensor floats(std::initializer_list<float> values) {
  return vector_of<float>({values.begin(), values.size()});
}
Tensor floats_of(const Shape& shape, std::vector<float> values) {
  return vector_of<float>(values).with_shape(shape);
}
Tensor ints(std::initializer_list<int32_t> values) {
  return vector_of<int32_t>({values.begin(), values.size()});
}
Tensor resource_of(Ref<Resource> resource) { return Tensor::of_resource(std::move(resource)); }
std::vector<float> values_of(const Tensor& tensor) {
  auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

Tensor normal_values(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor x = *Tensor::allocate(DType::kFloat32, shape);
  for (float& value : x.mutable_data<float>()) value = std::normal_distribution<float>()(random);
  return x;
}
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.bytes()) == 0;
}

Ref<Program> plan(TestGraph& g) {
  auto program = plan_program(g.graph);
  INFO(program.status().message());
  REQUIRE(program.ok());
  return *program;
}

Tensor run(Builder& builder, const Op& op, std::initializer_list<Tensor> inputs, AttrsRef attrs,
           std::string_view name) {
  auto outputs = builder.apply(op, {inputs.begin(), inputs.size()}, attrs, name);
  INFO(outputs.status().message());
  REQUIRE(outputs.ok());
  return outputs->empty() ? Tensor() : (*outputs)[0];
}

TestGraph::TestGraph(std::string name) : graph(make_ref<Graph>(std::move(name))), builder(graph) {}

void TestGraph::returns(std::initializer_list<Tensor> outputs) {
  std::vector<OutputRef> refs;
  for (const Tensor& output : outputs) refs.push_back(symbolic(output).output());
  graph->set_outputs(std::move(refs));
}

}  // namespace graven::engine
