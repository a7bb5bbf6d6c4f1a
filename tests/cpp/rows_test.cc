#include <algorithm>
#include <numeric>

#include "graven/base/thread_pool.h"
#include "graven/kernels/row_program.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/fusion_step.h"
#include "graven/runtime/program.h"
#include "graven/runtime/testing.h"
#include "graven/tensor/allocator.h"
#include "tests/cpp/fused_program.h"

namespace graven::engine {
namespace {

// A layer normalisation written from ops, over the last `axes` axes, and a tanh.
Tensor layer_norm(Builder& builder, const Tensor& axes, const Tensor& x, const Tensor& scale) {
  auto minus = [&](const Tensor& y) { return run(builder, kNeg, {y}); };
  Tensor mean = run(builder, kMean, {x, axes}, {true});
  Tensor centred = run(builder, kAddV2, {x, minus(mean)});
  Tensor square = run(builder, kMul, {centred, centred});
  Tensor deviation = run(builder, kSqrt, {run(builder, kMean, {square, axes}, {true})});
  Tensor scaled = run(builder, kMul, {run(builder, kMul, {centred, deviation}), scale});
  return run(builder, kTanh, {scaled});
}

TEST_CASE("what is computed around reductions of rows is one step that goes by rows") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {64, 10}, "x");
  Tensor scale = g.placeholder(DType::kFloat32, {10}, "scale");
  g.returns({layer_norm(g.builder, g.constant(ints({-1})), x, scale)});
  CHECK(fused_program(g)->to_text() ==
        "step 0: [Mean Neg AddV2 Mul Mean Sqrt Mul Mul "
        "Tanh] %0 %1 -> %2\n"
        "return %2\n");
}

TEST_CASE("a step that goes by rows gives the bits of its ops, whatever is known of sizes") {
  const std::pair<Shape, std::vector<int32_t>> cases[] = {
      {{64, 10}, {1}},   {{700, 300}, {1}},      {{40, 1000}, {-1}}, {{3, 40000}, {1}},
      {{50, 1}, {1}},    {{1, 500}, {1}},        {{0, 7}, {1}},      {{7, 0}, {1}},
      {{2, 70000}, {1}}, {{8, 6, 5, 4}, {2, 3}}, {{8, 6, 50}, {2}},  {{4, 3, 20, 30}, {3, 2, 1}}};
  for (const auto& [shape, list] : cases) {
    Tensor axes = Tensor::vector<int32_t>(list);
    Shape columns;
    for (size_t i = shape.rank() - list.size(); i < static_cast<size_t>(shape.rank()); ++i) {
      columns.push_back(shape[static_cast<int>(i)]);
    }
    Tensor x = normal_values(shape, 1), scale = normal_values(columns, 2);
    Tensor expected = layer_norm(eager_builder(), axes, x, scale);
    for (bool is_known : {true, false}) {
      TestGraph g;
      Shape traced = shape;
      if (!is_known) traced.set(0, Dim::unknown());
      Tensor a = g.placeholder(DType::kFloat32, traced, "a");
      Tensor b = g.placeholder(DType::kFloat32, columns, "b");
      g.returns({layer_norm(g.builder, g.constant(axes), a, b)});
      Ref<Program> program = fused_program(g);
      if (!is_known && columns.num_elements() > 1 && columns.num_elements() < 65536) {
        CHECK(program->steps().size() == 1);
      }
      for (int threads : {1, 2}) {
        ThreadPool::shared().set_num_threads(threads);
        Tensor inputs[] = {x, scale};
        Tensors outputs;
        Status status = program->run(inputs, outputs);
        INFO(shape.to_message(), " ", status.message());
        REQUIRE(status.ok());
        CHECK(same_bits(outputs[0], expected));
      }
      ThreadPool::shared().set_num_threads(0);
    }
  }
}

TEST_CASE("integer divisions trap in steps that go by rows, in a reduction and around it") {
  for (Shape shape : {Shape{6, 10}, Shape{40, 1000}, Shape{2, 20000}, Shape{500, 3}}) {
    INFO(shape.to_message());
    TestGraph g;
    Tensor a = g.placeholder(DType::kInt32, shape, "a");
    Tensor b = g.placeholder(DType::kInt32, shape, "b");
    const Tensor axes = g.constant(ints({1}));
    // Nothing but the reduction reads the first quotient.
    Tensor first = run(g.builder, kDiv, {a, b}, {}, "first");
    Tensor sum = run(g.builder, kSum, {first, axes}, {true});
    Tensor of_row = run(g.builder, kDiv, {sum, sum}, {}, "of_row");
    Tensor last = run(g.builder, kDiv, {of_row, a}, {}, "last");
    g.returns({last});
    Ref<Program> program = fused_program(g);
    REQUIRE(program->steps().size() == 1);
    const auto* step = dynamic_cast<const FusionStep*>(program->steps()[0].get());
    REQUIRE(step);
    CHECK(step->fusion().parts().reduced == std::vector<int>{1});
    Tensor inputs[] = {*Tensor::allocate(DType::kInt32, shape),
                       *Tensor::allocate(DType::kInt32, shape)};
    auto error_with = [&](int32_t of_a, int32_t of_b) -> std::string {
      for (Tensor& x : inputs) std::ranges::fill(x.mutable_data<int32_t>(), 1);
      inputs[0].mutable_data<int32_t>().back() = of_a;
      inputs[1].mutable_data<int32_t>().back() = of_b;
      Tensors outputs;
      Status status = program->run(inputs, outputs);
      if (status.ok()) return "ok";
      CHECK(status.message() == "[Div] Integer division by zero");
      return dynamic_cast<ExecutionError*>(status.payload().get())->node_name;
    };
    const auto columns = static_cast<int32_t>(shape[1].number());
    CHECK(error_with(1, 1) == "ok");
    CHECK(error_with(1, 0) == "first");
    CHECK(error_with(0, 1) == "last");
    CHECK(error_with(1 - columns, 1) == "of_row");
    CHECK(error_with(0, 0) == "first");
  }
}

TEST_CASE(
    "a body over rows is one step with what stands around it, and gives the bits of the ops") {
  const Shape shapes[] = {{64, 10},   {700, 300}, {40, 1000}, {3, 40000}, {2, 70000},
                          {8, 6, 50}, {1, 500},   {50, 1},    {0, 7},     {7, 0}};
  for (const Shape& shape : shapes) {
    auto around = [&](Builder& builder, const Tensor& x, const Tensor& y, const Tensor& axis) {
      Tensor sum = run(builder, kAddV2, {run(builder, kMul, {x, x}), y});
      Tensor softmax = run(builder, kSoftmax, {sum});
      Tensor total = run(builder, kSum, {run(builder, kMul, {softmax, x}), axis}, {true});
      return run(builder, kAddV2, {run(builder, kSquare, {softmax}), total});
    };
    const Tensor axis = ints({-1});
    Tensor inputs[] = {normal_values(shape, 1), normal_values(shape, 2)};
    Tensor expected = around(eager_builder(), inputs[0], inputs[1], axis);
    for (bool is_known : {true, false}) {
      TestGraph g;
      Shape traced = shape;
      if (!is_known) traced.set(0, Dim::unknown());
      Tensor a = g.placeholder(DType::kFloat32, traced, "a");
      // Unknown dimensions of two placeholders are never the same: here they are.
      Tensor b = run(g.builder, kZerosLike, {a});
      if (is_known) b = g.placeholder(DType::kFloat32, traced, "b");
      g.returns({around(g.builder, a, b, g.constant(axis))});
      Ref<Program> program = fused_program(g);
      const int64_t columns = shape[shape.rank() - 1].number();
      if (is_known && shape.num_elements() > columns && columns > 1 && columns < 65536) {
        CHECK(program->to_text() ==
              "step 0: [Mul AddV2 Softmax Mul Sum Square AddV2] %0 %1 -> "
              "%2\n"
              "return %2\n");
      }
      if (!is_known) {
        Tensor zeros = run(eager_builder(), kZerosLike, {inputs[0]});
        expected = around(eager_builder(), inputs[0], zeros, axis);
      }
      for (int threads : {1, 2}) {
        ThreadPool::shared().set_num_threads(threads);
        Tensors outputs;
        Status status =
            program->run(std::span<const Tensor>(inputs).first(is_known ? 2 : 1), outputs);
        INFO(shape.to_message(), " ", status.message());
        REQUIRE(status.ok());
        CHECK(same_bits(outputs[0], expected));
      }
      ThreadPool::shared().set_num_threads(0);
    }
  }
}

TEST_CASE("rows of sizes that are all unknown go in one step") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {Dim::unknown(), Dim::unknown()}, "x");
  Tensor largest = run(g.builder, kMax, {x, g.constant(ints({1}))}, {true});
  Tensor y = run(g.builder, kTanh, {run(g.builder, kMul, {x, largest})});
  g.returns({y, run(g.builder, kSum, {y, g.constant(ints({1}))})});
  Ref<Program> program = fused_program(g);
  CHECK(program->to_text() ==
        "step 0: [Max Mul Tanh Sum] %0 -> %1 %2\n"
        "return %1 %2\n");
  Tensor input = floats_of({2, 2}, {0, 1, -1, 0});
  Tensors outputs;
  REQUIRE(program->run({&input, 1}, outputs).ok());
  CHECK(outputs[1].shape() == Shape{2});
  CHECK(values_of(outputs[1])[0] == values_of(outputs[0])[1]);
}

TEST_CASE("sums of rows that are added as columns wait for all rows") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {2, 2}, "x");
  Tensor sums = run(g.builder, kSum, {run(g.builder, kMul, {x, x}), g.constant(ints({1}))});
  g.returns({run(g.builder, kAddV2, {x, sums})});
  Ref<Program> program = fused_program(g);
  CHECK(program->steps().size() == 2);
  Tensor input = floats_of({2, 2}, {1, 2, 3, 4});
  Tensors outputs;
  REQUIRE(program->run({&input, 1}, outputs).ok());
  CHECK(values_of(outputs[0]) == std::vector<float>{6, 27, 8, 29});
}

TEST_CASE("a matrix that repeats along other axes than the rows' goes into a step of its own") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {4, 3, 5}, "x");
  Tensor mask = g.placeholder(DType::kFloat32, {4, 1, 5}, "mask");
  Tensor masked = run(g.builder, kTanh, {run(g.builder, kAddV2, {x, mask})});
  Tensor sum = run(g.builder, kSum, {masked, g.constant(ints({2}))}, {true});
  g.returns({run(g.builder, kMul, {masked, sum})});
  CHECK(fused_program(g)->to_text() ==
        "step 0: [AddV2 Tanh] %0 %1 -> %2\n"
        "step 1: [Sum Mul] %2 -> %3, waits for 0\n"
        "return %3\n");
}

TEST_CASE("a step that goes by rows writes over a matrix that nobody reads later") {
  TestGraph g;
  Tensor x = g.placeholder(DType::kFloat32, {600 * 700}, "x");
  Tensor given = run(g.builder, kGather, {x, g.placeholder(DType::kInt32, {600, 700}, "i")});
  Tensor sum = run(g.builder, kSum, {given, g.constant(ints({1}))}, {true});
  g.returns({run(g.builder, kMul, {given, sum})});
  Ref<Program> program = fused_program(g);
  REQUIRE(program->steps().size() == 2);
  Tensor indices = *Tensor::allocate(DType::kInt32, {600, 700});
  std::iota(indices.mutable_data<int32_t>().begin(), indices.mutable_data<int32_t>().end(), 0);
  Tensor values = normal_values({600, 700}, 3);
  Tensor inputs[] = {values.with_shape({600 * 700}), indices};
  Allocator::host().reset_peak();
  const int64_t before = Allocator::host().stats().in_use;
  Tensors outputs;
  REQUIRE(program->run(inputs, outputs).ok());
  CHECK(Allocator::host().stats().peak_in_use - before < 2 * 600 * 700 * 4);
  Tensor expected = run(eager_builder(), kSum, {values, ints({1})}, {true});
  CHECK(same_bits(outputs[0], run(eager_builder(), kMul, {values, expected})));
}

}  // namespace
}  // namespace graven::engine
