#include "graven/runtime/variable.h"

#include <thread>

#include "graven/ops/math_ops.h"
#include "graven/runtime/testing.h"

namespace graven::engine {
namespace {

Ref<Variable> variable(std::initializer_list<float> values) {
  auto v = make_ref<Variable>(DType::kFloat32, Shape{static_cast<int64_t>(values.size())}, "v");
  REQUIRE(v->assign(floats(values)).ok());
  return v;
}

TEST_CASE("a variable without a value says so, by its name") {
  Variable v(DType::kFloat32, {2}, "scope/weights");
  CHECK(!v.is_initialized());
  Status error = v.read().status();
  CHECK(error.code() == Code::kFailedPrecondition);
  CHECK(error.message().find("scope/weights") != std::string::npos);
  CHECK(v.combine(*kAddV2, floats({1, 2})).code() == Code::kFailedPrecondition);
}

TEST_CASE("a variable holds only what fits its dtype and declared shape") {
  auto v = make_ref<Variable>(DType::kFloat32, Shape{Dim::unknown(), 2}, "v");
  CHECK(v->assign(floats_of({3, 2}, {1, 2, 3, 4, 5, 6})).ok());
  CHECK(v->assign(floats_of({1, 2}, {1, 2})).ok());
  Status shape = v->assign(floats({1, 2}));
  CHECK(shape.code() == Code::kInvalidArgument);
  CHECK(shape.message() ==
        "Cannot assign value to variable 'v:0': Shape mismatch. The variable shape (None, 2), and "
        "the assigned value shape (2,) are incompatible.");
  CHECK(v->assign(ints({1, 2})).code() == Code::kInvalidArgument);
  CHECK(v->read()->shape() == Shape{1, 2});
}

TEST_CASE("an update is in place while nobody holds a snapshot, and never changes one") {
  auto v = variable({1, 2, 3, 4, 5, 6});
  const void* memory = v->read()->raw_data();
  REQUIRE(v->combine(*kAddV2, floats({1, 1, 1, 1, 1, 1})).ok());
  CHECK(v->read()->raw_data() == memory);
  Tensor snapshot = *v->read();
  REQUIRE(v->combine(*kAddV2, floats({1, 1, 1, 1, 1, 1})).ok());
  CHECK(values_of(snapshot) == std::vector<float>{2, 3, 4, 5, 6, 7});
  CHECK(values_of(*v->read()) == std::vector<float>{3, 4, 5, 6, 7, 8});
  CHECK(v->read()->raw_data() != memory);
}

TEST_CASE("what was assigned stays as it was when the variable changes") {
  Tensor mine = floats({1, 2, 3, 4, 5, 6});
  Variable v(DType::kFloat32, {6}, "v");
  REQUIRE(v.assign(mine).ok());
  REQUIRE(v.combine(*kMul, mine).ok());
  CHECK(values_of(mine) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(values_of(*v.read()) == std::vector<float>{1, 4, 9, 16, 25, 36});
}

TEST_CASE("each read is a tensor of its own") {
  auto v = variable({1, 2});
  CHECK(!(*v->read() == *v->read()));
}

TEST_CASE("an update that fails leaves the value") {
  auto v = variable({1, 2, 3, 4, 5});
  Status error = v->combine(*kAddV2, floats({1}));
  CHECK(error.message() ==
        "[AddV2] variable 'v' has shape [5], the operand has shape [1]; they must be equal");
  CHECK(!v->combine(*kAddV2, ints({1, 2, 3, 4, 5})).ok());
  CHECK(!v->update([](Tensor&) -> Result<Tensor> { return floats({1}); }).ok());
  CHECK(!v->update([](Tensor&) -> Result<Tensor> { return internal_error("no"); }).ok());
  CHECK(values_of(*v->read()) == std::vector<float>{1, 2, 3, 4, 5});
}

TEST_CASE("no addition of several threads is lost, and no snapshot is torn") {
  auto v = variable({0, 0, 0, 0, 0, 0, 0, 0});
  Tensor one = floats({1, 1, 1, 1, 1, 1, 1, 1});
  std::vector<std::thread> threads;
  std::atomic<int> torn{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        (void)v->combine(*kAddV2, one);
        auto values = values_of(*v->read());
        for (float value : values) torn += value != values[0];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(torn == 0);
  CHECK(values_of(*v->read())[0] == 2000);
}

}  // namespace
}  // namespace graven::engine
