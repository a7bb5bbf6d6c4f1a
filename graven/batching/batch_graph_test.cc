#include "graven/batching/batch_graph.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graven/ir/emitter.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"

namespace graven::engine {
namespace {

Tensor floats(const std::vector<float>& values, const Shape& shape) {
  return Tensor::vector(std::span<const float>(values)).with_shape(shape);
}
Tensor ints(const std::vector<int32_t>& values) {
  return Tensor::vector(std::span<const int32_t>(values));
}
std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.data<float>();
  return {values.begin(), values.end()};
}

using Function = std::function<std::vector<Tensor>(Emitter& emit, std::span<const Tensor> x)>;

// The function of a row with inputs of these types.
Ref<Graph> traced(const std::vector<std::pair<DType, Shape>>& types, const Function& f) {
  GraphBuilder builder(make_ref<Graph>("row"));
  Frame frame(&builder);
  std::vector<Tensor> x;
  for (const auto& [dtype, shape] : types) x.push_back(builder.add_placeholder(dtype, shape, "x"));
  Emitter emit(builder);
  std::vector<OutputRef> outputs;
  for (const Tensor& y : f(emit, x)) outputs.push_back(symbolic(y).output());
  REQUIRE(emit.status().ok());
  builder.graph()->set_outputs(std::move(outputs));
  return builder.graph_ref();
}

class CountingBuilder final : public Builder {
 public:
  Result<Tensors> apply(const Op& op, std::span<const Tensor> inputs, AttrsRef attrs,
                        std::string_view name) override {
    for (const Tensor& input : inputs) num_elements += input.num_elements();
    return eager_builder().apply(op, inputs, attrs, name);
  }
  int64_t num_elements = 0;  // that ops were given
};

BatchSettings settings_for(int32_t num_rows) {
  BatchSettings settings;
  settings.num_rows = Tensor::scalar(num_rows);
  return settings;
}

std::vector<BatchedTensor> run(const Ref<Graph>& graph, std::vector<BatchedTensor> inputs,
                               const BatchSettings& settings) {
  auto outputs = batch_graph(eager_builder(), graph, inputs, settings);
  REQUIRE_MESSAGE(outputs.ok(), outputs.status().message());
  return *outputs;
}

TEST_CASE("rows of different ranks broadcast within each row") {
  const auto graph =
      traced({{DType::kFloat32, Shape()}, {DType::kFloat32, Shape{2}}}, [](Emitter& emit, auto x) {
        return std::vector{emit(kMul, {x[0], x[1]})};
      });
  const auto y =
      run(graph, {{floats({2, 3}, {2}), true}, {floats({1, 10, 100, 1000}, {2, 2}), true}},
          settings_for(2));
  CHECK(y[0].is_batched);
  CHECK(values_of(y[0].tensor) == std::vector<float>{2, 20, 300, 3000});
}

TEST_CASE("an axis that counts from the start moves, and one that counts from the end stays") {
  const auto graph = traced({{DType::kFloat32, Shape{2, 2}}}, [](Emitter& emit, auto x) {
    return std::vector{emit(kSum, {x[0], emit.constant(ints({0}))}),
                       emit(kSum, {x[0], emit.constant(ints({-1}))})};
  });
  const auto y = run(graph, {{floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}), true}}, settings_for(2));
  CHECK(values_of(y[0].tensor) == std::vector<float>{4, 6, 12, 14});
  CHECK(values_of(y[1].tensor) == std::vector<float>{3, 7, 11, 15});
}

TEST_CASE("what does not depend on the row is computed once and is not batched") {
  const auto graph = traced({{DType::kFloat32, Shape()}, {DType::kFloat32, Shape{3}}}, [](Emitter&
                                                                                              emit,
                                                                                          auto x) {
    const Tensor same = emit(kExp, {x[1]});
    return std::vector{same, emit(kAddV2, {x[0], emit(kSum, {same, emit.constant(ints({0}))})})};
  });
  CountingBuilder counting;
  const BatchedTensor inputs[] = {{floats({1, 2, 3, 4}, {4}), true},
                                  {floats({0, 0, 0}, {3}), false}};
  const auto y = batch_graph(counting, graph, inputs, settings_for(4));
  REQUIRE(y.ok());
  CHECK_FALSE((*y)[0].is_batched);
  CHECK(values_of((*y)[1].tensor) == std::vector<float>{4, 5, 6, 7});
  CHECK(counting.num_elements == 3 + (3 + 1) + (4 + 1));
}

TEST_CASE("nodes that no output needs do not run") {
  const auto graph = traced({{DType::kFloat32, Shape()}}, [](Emitter& emit, auto x) {
    emit(kExp, {x[0]});
    return std::vector{x[0]};
  });
  CountingBuilder counting;
  const BatchedTensor inputs[] = {{floats({1, 2}, {2}), true}};
  REQUIRE(batch_graph(counting, graph, inputs, settings_for(2)).ok());
  CHECK(counting.num_elements == 0);
}

Ref<Graph> without_rule() {
  return traced({{DType::kInt32, Shape{3}}}, [](Emitter& emit, auto x) {
    return std::vector{emit(kInvertPermutation, {x[0]})};
  });
}

TEST_CASE("an op without a rule is told of, and runs in a loop over the rows") {
  BatchSettings settings = settings_for(2);
  std::vector<std::string> told;
  settings.on_loop = [&](const Op& op) -> Status {
    told.push_back(op.name());
    return {};
  };
  const Tensor x = ints({1, 2, 0, 2, 1, 0}).with_shape(Shape{2, 3});
  const auto y = run(without_rule(), {{x, true}}, settings);
  CHECK(told == std::vector<std::string>{"InvertPermutation"});
  const auto values = y[0].tensor.data<int32_t>();
  CHECK(std::vector<int32_t>(values.begin(), values.end()) ==
        std::vector<int32_t>{2, 0, 1, 2, 1, 0});
}

TEST_CASE("a loop that is refused ends the batching") {
  BatchSettings settings = settings_for(2);
  settings.on_loop = [](const Op&) -> Status { return value_error("refused"); };
  const BatchedTensor inputs[] = {{ints({0, 1, 2, 0, 1, 2}).with_shape(Shape{2, 3}), true}};
  CHECK(batch_graph(eager_builder(), without_rule(), inputs, settings).status().message() ==
        "refused");
}

TEST_CASE("in a graph the number of rows may be unknown") {
  const auto row = traced({{DType::kFloat32, Shape{2}}}, [](Emitter& emit, auto x) {
    return std::vector{emit(kReshape, {x[0], emit.constant(ints({2, 1}))})};
  });
  GraphBuilder builder(make_ref<Graph>("rows"));
  Frame frame(&builder);
  const Tensor x = builder.add_placeholder(DType::kFloat32, Shape{Dim::unknown(), 2}, "x");
  BatchSettings settings;
  settings.num_rows = builder.add_placeholder(DType::kInt32, Shape(), "num_rows");
  const BatchedTensor inputs[] = {{x, true}};
  const auto y = batch_graph(builder, row, inputs, settings);
  REQUIRE_MESSAGE(y.ok(), y.status().message());
  CHECK((*y)[0].tensor.shape().rank() == 3);
  CHECK((*y)[0].tensor.shape()[1] == Dim(2));
}

}  // namespace
}  // namespace graven::engine
