#include <doctest/doctest.h>
#include <graven/graven.h>

#include <tuple>
#include <vector>

#include "error_of.h"

using graven::DType;
using graven::GradientTape;
using graven::Tensor;
using graven::TensorArray;

namespace {

template <typename F>
std::vector<float> both_ways(F f, const Tensor& x) {
  const std::vector<float> at_once = f(x).template to_vector<float>();
  CHECK(graven::function(f)(x).template to_vector<float>() == at_once);
  return at_once;
}

const Tensor kVector = {1.0, 2.0, 3.0};

}  // namespace

TEST_CASE("an array is written and read by number, and stacked") {
  const auto f = [](Tensor x) {
    TensorArray a(DType::kFloat32, 3);
    a = a.write(0, x).write(2, x * 2).write(1, 7 * x);
    return a.stack() + a.read(2);
  };
  CHECK(both_ways(f, Tensor(1.0)) == std::vector<float>{3, 9, 4});
}

TEST_CASE("a write gives a new array and leaves the old one as it is") {
  TensorArray a(DType::kInt32, 2, {.element_shape = graven::Shape()});
  const TensorArray b = a.write(0, 5);
  CHECK(a.read(0).item<int32_t>() == 0);
  CHECK(b.read(0).item<int32_t>() == 5);
}

TEST_CASE("a loop carries an array") {
  const auto f = [](Tensor n) {
    TensorArray squares(DType::kFloat32, 0, {.dynamic_size = true});
    Tensor i;
    std::tie(i, squares) = graven::while_loop(
        [&](Tensor i, TensorArray) { return i < n; },
        [](Tensor i, TensorArray a) {
          return std::tuple(i + 1, a.write(i, graven::cast(i * i, DType::kFloat32)));
        },
        std::tuple(0, squares));
    return squares.stack();
  };
  CHECK(both_ways(f, Tensor(4)) == std::vector<float>{0, 1, 4, 9});
}

TEST_CASE("a branch may give an array") {
  const auto f = graven::function([](Tensor p, Tensor x) {
    const TensorArray a(DType::kFloat32, 2);
    const TensorArray b = graven::cond(
        p, [&] { return a.write(0, x).write(1, x); }, [&] { return a.unstack(x); });
    return b.size();
  });
  CHECK(f(true, kVector).item<int32_t>() == 2);
  CHECK(f(false, kVector).item<int32_t>() == 3);
}

TEST_CASE("an array is taken apart, chosen from and joined") {
  const auto f = [](Tensor x) {
    const TensorArray rows = TensorArray(DType::kFloat32, 0).unstack(x);
    const TensorArray scattered = rows.scatter({0, 2}, Tensor({10.0, 30.0}));
    const TensorArray parts = TensorArray(DType::kFloat32, 0).split(x, {1, 2});
    return graven::concat(
        {rows.gather({2, 0, 2}), scattered.stack(), parts.read(1), parts.concat()}, 0);
  };
  CHECK(both_ways(f, kVector) == std::vector<float>{3, 1, 3, 10, 2, 30, 2, 3, 1, 2, 3});
}

TEST_CASE("functions take and return arrays, one trace for each type") {
  const auto f = graven::function([](TensorArray a) { return a.write(0, a.read(1)); });
  const auto of = [](Tensor x) { return TensorArray(DType::kFloat32, 0).unstack(x); };
  CHECK(f(of(kVector)).stack().to_vector<float>() == std::vector<float>{2, 2, 3});
  CHECK(f(of(Tensor({7.0, 8.0}))).read(0).item<float>() == 8);
  CHECK(f.experimental_get_tracing_count() == 1);
  f(of({{1.0, 2.0}, {3.0, 4.0}}));
  CHECK(f.experimental_get_tracing_count() == 2);
  f(of(kVector));
  CHECK(f.cache_info().hits == 2);
}

TEST_CASE("a retraced function takes arrays of elements of any size") {
  const auto f =
      graven::function([](TensorArray a) { return a.stack(); }, {.reduce_retracing = true});
  for (const int64_t size : {2, 3, 4, 5}) {
    const auto a = TensorArray(DType::kFloat32, 0).unstack(graven::ones({2, size}));
    CHECK(f(a).shape() == graven::Shape({2, size}));
  }
  CHECK(f.experimental_get_tracing_count() == 2);
}

TEST_CASE("gradients flow from reads to writes") {
  const auto f = graven::function([](Tensor x) {
    TensorArray a = TensorArray(DType::kFloat32, 3).unstack(x * x);
    a = a.write(1, a.read(0) * 10);
    return graven::reduce_sum(a.gather({1, 2, 2}));
  });
  GradientTape tape;
  tape.watch(kVector);
  CHECK(tape.gradient(f(kVector), kVector).to_vector<float>() == std::vector<float>{20, 0, 12});
}

TEST_CASE("wrong use of an array is an error with the line") {
  const TensorArray a(DType::kFloat32, 2, {.element_shape = graven::Shape({3})});
  const auto message = [](auto f) {
    const graven::Error error = error_of(f);
    CHECK(contains(error.what(), "tensor_array_test.cc"));
    return error.message();
  };
  CHECK(contains(message([&] { (void)a.write(0, kVector).read(2); }), "2"));
  CHECK(contains(message([&] { (void)a.write(5, kVector); }), "5"));
  CHECK(contains(message([&] { (void)a.write(0, Tensor({1.0, 2.0})); }), "Inconsistent shapes"));
  CHECK(contains(message([&] {
                   (void)a.write(0, Tensor({1, 2, 3}));
                 }),
                 "TensorArray dtype is float32"));
  CHECK(contains(message([&] { (void)a.unstack(1.0); }), "rank 1"));
  CHECK(contains(message([] { (void)TensorArray().stack(); }), "no TensorArray"));
  const auto f = graven::function(
      [](Tensor i, Tensor x) { return TensorArray(DType::kFloat32, 2).write(i, x).stack(); });
  CHECK(contains(message([&] { f(Tensor(2), kVector); }), "2"));
}
