// Gradients of gathers and scatters, from tensors and from variables.
#include <doctest/doctest.h>

#include <span>
#include <vector>

#include "graven/autodiff/tape.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/variable_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"
#include "graven/runtime/variable.h"
#include "op_gradients.h"

namespace graven::engine {

TEST_CASE("gradients of gathers and scatters, rows that repeat included") {
  Tensor x = random_tensor(kReals, {2, 3, 2}, -1, 1);
  for (int32_t axis : {0, 1, -1}) {
    check(kGatherV2, {x, ints({1, 0, 1, 1}).with_shape({2, 2}), Tensor::scalar(axis)});
  }
  Tensor batched = ints({1, 0, 1, 1}).with_shape({2, 2});
  check(kGatherV2, {x, batched, Tensor::scalar(int32_t{1})}, {.batch_dims = 1});
  check(kGatherV2, {x, batched, Tensor::scalar(int32_t{2})}, {.batch_dims = 1});
  check(kGather, {x, Tensor::scalar(int32_t{1})});
  Tensor places = ints({1, 2, 0, 0, 1, 2}).with_shape({3, 2});
  check(kGatherNd, {x, places});
  check(kGatherNd, {x, ints({1, 1}).with_shape({2, 1})});
  Tensor updates = random_tensor(kReals, {3, 2}, -1, 1);
  check(kScatterNd, {places, updates, ints({2, 3, 2})});
  check(kTensorScatterAdd, {x, places, updates});
  check(kTensorScatterSub, {x, places, updates});
  Tensor distinct = ints({1, 2, 0, 0, 1, 1}).with_shape({3, 2});
  check(kTensorScatterUpdate, {x, distinct, updates});
  check(kTensorScatterMin, {x, distinct, updates});
  check(kTensorScatterMax, {x, distinct, updates});
}

TEST_CASE("a traced gather finds the axis and the sizes of its gradient when it runs") {
  Tensor params = random_tensor(kReals, {2, 3, 2}, -1, 1);
  Tensor indices = ints({2, 0, 2, 1}).with_shape({2, 2});
  Ref<Graph> graph(new Graph("f"));
  GraphBuilder builder(graph);
  {
    Frame frame(&builder);
    auto any = [](int rank) {
      Shape shape;
      for (int i = 0; i < rank; ++i) shape.push_back(Dim::unknown());
      return shape;
    };
    Tensor x = builder.add_placeholder(kReals, any(3), "x");
    Tensor at = builder.add_placeholder(DType::kInt32, any(2), "at");
    Tensor axis = builder.add_placeholder(DType::kInt32, {}, "axis");
    Tape tape(false);
    tape.start();
    tape.watch(x);
    auto y = apply(*kGatherV2, std::vector<Tensor>{x, at, axis}, GatherV2Attrs{.batch_dims = 1});
    REQUIRE_MESSAGE(y.ok(), y.status().message());
    auto dx = tape.gradient({&(*y)[0], 1}, {&x, 1}, {}, current_builder());
    REQUIRE_MESSAGE(dx.ok(), dx.status().message());
    graph->set_outputs({symbolic((*dx)[0].dense).output()});
  }
  auto program = plan_program(graph);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Tensors out;
  std::vector<Tensor> inputs = {params, indices, Tensor::scalar(int32_t{-2})};
  Status status = (*program)->run(inputs, out);
  REQUIRE_MESSAGE(status.ok(), status.message());
  REQUIRE(out[0].shape() == params.shape());
  const double expected[] = {1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1};
  for (int i = 0; i < 12; ++i) CHECK(parts(out[0])[i] == expected[i]);
}

TEST_CASE("a gathered variable has sliced gradients") {
  Ref<Resource> resource(new Variable(kReals, {3, 2}, "v"));
  Tensor handle = Tensor::of_resource(resource);
  auto done =
      apply(*kAssignVariable, std::vector<Tensor>{handle, random_tensor(kReals, {3, 2}, 0, 1)},
            AssignVariableAttrs{.dtype = kReals});
  REQUIRE_MESSAGE(done.ok(), done.status().message());
  Tape tape(false);
  tape.start();
  tape.watch(handle);
  auto rows = apply(*kResourceGather, std::vector<Tensor>{handle, ints({2, 0, 2})},
                    ResourceGatherAttrs{.dtype = kReals});
  REQUIRE_MESSAGE(rows.ok(), rows.status().message());
  auto gradients = tape.gradient({&(*rows)[0], 1}, {&handle, 1}, {}, current_builder());
  REQUIRE_MESSAGE(gradients.ok(), gradients.status().message());
  const Gradient& gradient = (*gradients)[0];
  REQUIRE(gradient.is_slices());
  CHECK(gradient.slices.values.shape() == Shape({3, 2}));
  CHECK(gradient.slices.indices.data<int32_t>()[1] == 0);
  CHECK(gradient.slices.dense_shape.data<int32_t>()[0] == 3);
}

TEST_CASE("slices gathered from a variable give their gradients back to their places") {
  Ref<Resource> resource(new Variable(kReals, {2, 2, 2}, "v"));
  Tensor handle = Tensor::of_resource(resource);
  Tensor value = random_tensor(kReals, {2, 2, 2}, 0, 1);
  REQUIRE(apply(*kAssignVariable, std::vector<Tensor>{handle, value},
                AssignVariableAttrs{.dtype = kReals})
              .ok());
  auto gradient = [&](const Tensor& indices, const Tensor& dy) {
    Tape tape(false);
    tape.start();
    tape.watch(handle);
    auto slices = apply(*kResourceGatherNd, std::vector<Tensor>{handle, indices},
                        ReadVariableAttrs{.dtype = kReals});
    REQUIRE_MESSAGE(slices.ok(), slices.status().message());
    auto result = tape.gradient({&(*slices)[0], 1}, {&handle, 1}, {&dy, 1}, current_builder());
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    return (*result)[0];
  };
  Tensor dy = random_tensor(kReals, {3, 2}, 0, 1);
  Gradient dense = gradient(ints({1, 0, 0, 1, 1, 0}).with_shape({3, 2}), dy);
  REQUIRE(dense.dense);
  REQUIRE(dense.dense.shape() == Shape({2, 2, 2}));
  std::span<const double> g = parts(dense.dense), d = parts(dy);
  const double expected[] = {0, 0, d[2], d[3], d[0] + d[4], d[1] + d[5], 0, 0};
  for (int i = 0; i < 8; ++i) CHECK(g[i] == doctest::Approx(expected[i]));
  Gradient rows = gradient(ints({1, 1}).with_shape({2, 1}), random_tensor(kReals, {2, 2, 2}, 0, 1));
  REQUIRE(rows.is_slices());
  CHECK(rows.slices.values.shape() == Shape({2, 2, 2}));
  CHECK(rows.slices.indices.shape() == Shape({2}));
}

}  // namespace graven::engine
