#include <doctest/doctest.h>
#include <graven/graven.h>

#include <optional>
#include <string>
#include <vector>

using graven::FunctionOptions;
using graven::Shape;
using graven::Tensor;

namespace {

const FunctionOptions kOpen{.reduce_retracing = std::nullopt};

Tensor ones(int64_t rows) {
  return Tensor::of(std::vector<float>(static_cast<size_t>(rows), 1.0f), Shape{rows});
}

}  // namespace

TEST_CASE("the second size leaves the size open") {
  auto f = graven::function([](const Tensor& x) { return x * 2; }, kOpen);
  for (int64_t n = 2; n < 8; ++n) CHECK(f(ones(n)).num_elements() == n);
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("a body that reads a size gets the call's number, and a trace for each") {
  int runs = 0;
  auto f = graven::function(
      [&](const Tensor& x) {
        ++runs;
        return graven::reduce_sum(x) * static_cast<float>(x.size(0).value());
      },
      kOpen);
  for (int64_t n : {2, 3, 4, 3}) CHECK(f(ones(n)).item<float>() == static_cast<float>(n * n));
  CHECK(runs == 3);
  CHECK(f.experimental_get_tracing_count() == 3);
}

TEST_CASE("a whole shape counts as read") {
  auto f = graven::function(
      [](const Tensor& x) { return x * static_cast<float>(x.shape().size(0)); }, kOpen);
  for (int64_t n : {2, 3, 4}) CHECK(f(ones(n)).to_vector<float>()[0] == static_cast<float>(n));
  CHECK(f.experimental_get_tracing_count() == 3);
}

TEST_CASE("a size from the end, one of a tensor made before, and an axis that is not there") {
  auto f = graven::function(
      [](const Tensor& x) {
        const Tensor y = graven::concat({x, x}, 0);
        CHECK(y.size(-1) == 2 * x.size(0).value());
        CHECK_THROWS_WITH_AS(x.size(1), doctest::Contains("out of valid range"), graven::Error);
        return y;
      },
      kOpen);
  for (int64_t n : {2, 3}) CHECK(f(ones(n)).num_elements() == 2 * n);
  CHECK(ones(3).size(0) == 3);
}

TEST_CASE("a read in another function makes both special") {
  auto inner = graven::function(
      [](const Tensor& x) { return x * static_cast<float>(x.size(0).value()); }, kOpen);
  auto outer = graven::function([&](const Tensor& x) { return inner(x + 1); }, kOpen);
  for (int64_t n : {2, 3, 4}) {
    CHECK(outer(ones(n)).to_vector<float>()[0] == 2 * static_cast<float>(n));
  }
  CHECK(outer.experimental_get_tracing_count() == 3);
  CHECK(inner.experimental_get_tracing_count() == 3);
}
