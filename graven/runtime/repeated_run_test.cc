#include "graven/runtime/repeated_run.h"

#include <functional>
#include <memory>
#include <set>

#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/testing.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

Tensor sums(TestGraph& g, const Tensor& x) {
  return run(g.builder, kCumsum, {x, g.constant(Tensor::scalar<int32_t>(0))});
}
Tensor reversed(TestGraph& g, const Tensor& x) {
  return run(g.builder, kReverseV2, {x, g.constant(ints({0}))});
}

RepeatedBody repeated(TestGraph& g, std::vector<int> changed) {
  auto planned = PlannedBody::create(Body::create("f", g.graph));
  INFO(planned.status().message());
  REQUIRE(planned.ok());
  return RepeatedBody(*planned, std::move(changed));
}

// A loop over one variable, x, as LoopStep runs it.
struct Loop {
  explicit Loop(const RepeatedBody& body, Tensor x)
      : values{std::move(x)}, runs(std::make_unique<RepeatedRun>(body, values, given_up)) {}
  const Tensor& next() {
    Tensors made;
    const Status status = runs->next(made);
    INFO(status.message());
    REQUIRE(status.ok());
    runs->recycle(0, values[0]);
    values[0] = std::move(made[0]);
    given_up[0] = true;
    return values[0];
  }
  std::array<Tensor, 1> values;
  std::array<bool, 1> given_up = {false};
  std::unique_ptr<RepeatedRun> runs;
};

TEST_CASE("small results of runs in turn are written where earlier runs wrote them") {
  TestGraph g;
  g.returns({reversed(g, sums(g, g.placeholder(DType::kFloat32, {8})))});
  const RepeatedBody body = repeated(g, {0});
  Loop loop(body, floats({1, 0, 0, 0, 0, 0, 0, 1}));
  CHECK(values_of(loop.next()) == std::vector<float>{2, 1, 1, 1, 1, 1, 1, 1});
  CHECK(values_of(loop.next()) == std::vector<float>{9, 8, 7, 6, 5, 4, 3, 2});
  std::set<const void*> places;
  for (int i = 0; i < 8; ++i) places.insert(loop.next().raw_data());
  CHECK(places.size() == 2);
}

TEST_CASE("a result of a run in turn that has another owner stays as it is") {
  TestGraph g;
  g.returns({sums(g, g.placeholder(DType::kFloat32, {8}))});
  const RepeatedBody body = repeated(g, {0});
  const Tensor x = floats({1, 0, 0, 0, 0, 0, 0, 0});
  Loop loop(body, x);
  std::vector<Tensor> all;
  for (int i = 0; i < 5; ++i) all.push_back(loop.next());
  CHECK(values_of(x) == std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(values_of(all[0]) == std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(values_of(all[1]) == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(values_of(all[4]) == std::vector<float>{1, 5, 15, 35, 70, 126, 210, 330});
}

TEST_CASE("a tensor whose id was asked for is not written again") {
  TestGraph g;
  g.returns({sums(g, g.placeholder(DType::kFloat32, {8}))});
  const RepeatedBody body = repeated(g, {0});
  Loop loop(body, floats({1, 0, 0, 0, 0, 0, 0, 0}));
  std::set<uint64_t> ids;
  for (int i = 0; i < 6; ++i) ids.insert(loop.next().object()->id());
  CHECK(ids.size() == 6);
}

TEST_CASE("a view of a result of a run in turn keeps its elements") {
  TestGraph g;
  const Tensor y = sums(g, g.placeholder(DType::kFloat32, {4, 2}));
  g.returns({y, run(g.builder, kReshape, {y, g.constant(ints({8}))})});
  const RepeatedBody body = repeated(g, {0});
  std::array<Tensor, 1> values = {floats_of({4, 2}, {1, 2, 0, 0, 0, 0, 0, 0})};
  std::array<bool, 1> given_up = {true};
  RepeatedRun runs(body, values, given_up);
  std::vector<Tensor> views;
  for (int i = 0; i < 4; ++i) {
    Tensors made;
    REQUIRE(runs.next(made).ok());
    views.push_back(made[1]);
    runs.recycle(0, values[0]);
    values[0] = made[0];
  }
  CHECK(values_of(views[0]) == std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(values_of(views[1]) == std::vector<float>{1, 2, 2, 4, 3, 6, 4, 8});
  CHECK(values_of(views[3]) == std::vector<float>{1, 2, 4, 8, 10, 20, 20, 40});
}

TEST_CASE("a variable that was given a result may change it in place in the next run") {
  TestGraph g;
  auto v = make_ref<Variable>(DType::kFloat32, Shape{8}, "v");
  REQUIRE(v->assign(floats({0, 0, 0, 0, 0, 0, 0, 0})).ok());
  const Tensor x = g.placeholder(DType::kFloat32, {8});
  const Tensor handle = g.constant(resource_of(v));
  run(g.builder, kAssignVariable, {handle, sums(g, x)}, {.dtype = DType::kFloat32});
  g.graph->set_control_outputs({g.graph->nodes().back()});
  g.returns({reversed(g, x)});
  const RepeatedBody body = repeated(g, {0});
  Loop loop(body, floats({1, 0, 0, 0, 0, 0, 0, 0}));
  for (int i = 0; i < 4; ++i) {
    loop.next();
    const bool starts_with_one = i % 2 == 0;
    CHECK(values_of(*v->read())[0] == (starts_with_one ? 1.0f : 0.0f));
    REQUIRE(v->combine(*kAddV2, floats({5, 5, 5, 5, 5, 5, 5, 5})).ok());
    CHECK(values_of(*v->read())[7] == 6.0f);
  }
  CHECK(values_of(loop.values[0]) == std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a variable that follows another one has its last value, in runs in turn") {
  TestGraph g;
  const Tensor x = g.placeholder(DType::kFloat32, {8}, "x");
  g.placeholder(DType::kFloat32, {8}, "y");
  g.returns({sums(g, x), x});
  const RepeatedBody body = repeated(g, {0, 1});
  std::array<Tensor, 2> values = {floats({1, 0, 0, 0, 0, 0, 0, 0}),
                                  floats({9, 9, 9, 9, 9, 9, 9, 9})};
  std::array<bool, 2> given_up = {true, true};
  RepeatedRun runs(body, values, given_up);
  for (int i = 0; i < 4; ++i) {
    Tensors made;
    REQUIRE(runs.next(made).ok());
    for (size_t c : {0, 1}) {
      runs.recycle(c, values[c]);
      values[c] = std::move(made[c]);
    }
  }
  CHECK(values_of(values[0]) == std::vector<float>{1, 4, 10, 20, 35, 56, 84, 120});
  CHECK(values_of(values[1]) == std::vector<float>{1, 3, 6, 10, 15, 21, 28, 36});
}

TEST_CASE("an input that stands twice in a step, in runs in turn") {
  TestGraph g;
  const Tensor x = g.placeholder(DType::kFloat32, {2, 2});
  g.returns({run(g.builder, kMatMul, {x, x})});
  const RepeatedBody body = repeated(g, {0});
  Loop loop(body, floats_of({2, 2}, {1, 1, 0, 1}));
  for (int i = 0; i < 3; ++i) loop.next();
  CHECK(values_of(loop.values[0]) == std::vector<float>{1, 8, 0, 1});
}

TEST_CASE("values of other shapes than the body's run node by node, and then by its steps again") {
  TestGraph g;
  g.returns({sums(g, g.placeholder(DType::kFloat32, {2}))});
  const RepeatedBody body = repeated(g, {0});
  Loop loop(body, floats({1, 1, 1}));
  CHECK(values_of(loop.next()) == std::vector<float>{1, 2, 3});
  CHECK(values_of(loop.next()) == std::vector<float>{1, 3, 6});
  loop.values[0] = floats({1, 2});
  CHECK(values_of(loop.next()) == std::vector<float>{1, 3});
  CHECK(values_of(loop.next()) == std::vector<float>{1, 4});
}

}  // namespace
}  // namespace graven::engine
