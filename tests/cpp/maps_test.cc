#include <doctest/doctest.h>
#include <graven/graven.h>

#include <tuple>
#include <vector>

#include "error_of.h"

using graven::DType;
using graven::foldl;
using graven::foldr;
using graven::GradientTape;
using graven::map_fn;
using graven::scan;
using graven::Tensor;
using graven::TensorSpec;
using graven::vectorized_map;

namespace {

struct Point {
  Tensor x, y;
  auto members() { return std::tie(x, y); }
};

// The result of f, at once and traced, which must be equal.
template <typename F>
std::vector<float> both_ways(F f, const Tensor& x) {
  const std::vector<float> at_once = f(x).template to_vector<float>();
  CHECK(graven::function(f)(x).template to_vector<float>() == at_once);
  return at_once;
}

const Tensor kRows = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}};

}  // namespace

TEST_CASE("map_fn stacks the results for the rows") {
  const auto f = [](Tensor x) {
    return map_fn([](Tensor row) { return graven::reduce_sum(row) * row; }, x);
  };
  CHECK(both_ways(f, kRows) == std::vector<float>{3, 6, 21, 28, 55, 66});
}

TEST_CASE("map_fn takes tuples and structs apart along their first axes") {
  const auto of_tuple = [](Tensor x) {
    return map_fn([](Tensor a, Tensor b) { return std::tuple(a + b, a * b); },
                  std::tuple(x, x * 10));
  };
  const auto traced = graven::function(of_tuple);
  for (const auto& [sum, product] : {of_tuple(kRows), traced(kRows)}) {
    CHECK(sum.to_vector<float>() == std::vector<float>{11, 22, 33, 44, 55, 66});
    CHECK(product.to_vector<float>() == std::vector<float>{10, 40, 90, 160, 250, 360});
  }
  const auto of_struct = [](Tensor x) {
    return map_fn([](const Point& p) { return Point{p.y, p.x}; }, Point{x, -x}).x;
  };
  CHECK(both_ways(of_struct, kRows)[5] == -6);
}

TEST_CASE("map_fn gives another dtype and number of tensors where the signature says so") {
  const auto f = [](Tensor x) {
    const auto [count, total] =
        map_fn([](Tensor row) { return std::tuple(graven::size(row), graven::reduce_sum(row)); }, x,
               {.fn_output_signature = {{{{}, DType::kInt32}, {{}, DType::kFloat32}}}});
    return graven::cast(count, DType::kFloat32) + total;
  };
  CHECK(both_ways(f, kRows) == std::vector<float>{5, 9, 13});
  const auto error =
      error_of([] { map_fn([](Tensor row) { return graven::cast(row, DType::kInt32); }, kRows); });
  CHECK(contains(error.message(), "that of elems, float32, is expected; fn_output_signature"));
  CHECK(contains(error.what(), "maps_test.cc"));
  CHECK(contains(error_of([] {
                   map_fn([](Tensor row) { return row; }, kRows,
                          {.fn_output_signature = std::vector<TensorSpec>{{{7}, DType::kFloat32}}});
                 }).message(),
                 "expected ((7,)) of fn_output_signature; fn_output_signature tells another"));
  CHECK(contains(error_of([] {
                   map_fn([](Tensor row) { return row; }, kRows,
                          {.fn_output_signature = std::vector<TensorSpec>{}});
                 }).message(),
                 "a type for each of 1 tensors"));
}

TEST_CASE("map_fn over no rows gives none, and scalars have no rows") {
  const auto f = [](Tensor x) { return map_fn([](Tensor row) { return row + 1; }, x); };
  CHECK(both_ways(f, graven::zeros({0, 2})).empty());
  CHECK(contains(error_of([&] { f(Tensor(1.0)); }).message(), "not scalars"));
  CHECK(contains(error_of([&] { graven::function(f)(Tensor(1.0)); }).message(), "not scalars"));
}

TEST_CASE("an exception of a mapped function reaches the caller as it is") {
  struct Mine {};
  const auto f = [](Tensor x) { return map_fn([](Tensor) -> Tensor { throw Mine(); }, x); };
  CHECK_THROWS_AS(f(kRows), Mine);
  CHECK_THROWS_AS(graven::function(f)(kRows), Mine);
}

TEST_CASE("scan accumulates from the first row or an initializer, in both directions") {
  const auto sum = [](Tensor sum, Tensor row) { return sum + row; };
  CHECK(both_ways([&](Tensor x) { return scan(sum, x); }, kRows) ==
        std::vector<float>{1, 2, 4, 6, 9, 12});
  CHECK(both_ways([&](Tensor x) { return scan(sum, x, {.reverse = true}); }, kRows) ==
        std::vector<float>{9, 12, 8, 10, 5, 6});
  const auto total = [](Tensor all, Tensor row) { return all + graven::reduce_sum(row); };
  CHECK(both_ways([&](Tensor x) { return scan(total, x, 100.0); }, kRows) ==
        std::vector<float>{103, 110, 121});
}

TEST_CASE("scan carries several tensors") {
  const auto f = [](Tensor x) {
    const auto [a, b] = scan(
        [](std::tuple<Tensor, Tensor> state, Tensor row) {
          const auto& [a, b] = state;
          return std::tuple(b, a + b + row);
        },
        x, std::tuple(0.0, 1.0));
    return graven::stack({a, b});
  };
  CHECK(both_ways(f, Tensor({0.0, 0.0, 10.0})) == std::vector<float>{1, 1, 2, 1, 2, 13});
}

TEST_CASE("vectorized_map runs a function once for all rows") {
  int calls = 0;
  const auto f = [&](Tensor x, Tensor y) {
    const auto [product, larger] = vectorized_map(
        [&](Tensor a, Tensor b) {
          ++calls;
          return std::tuple(graven::reduce_sum(a * b), graven::maximum(a, b));
        },
        std::tuple(x, y));
    return graven::concat({graven::expand_dims(product, 1), larger}, 1);
  };
  const Tensor x = kRows, y = {4.0, 3.0};
  const Tensor rows = graven::stack({y, y, y});
  const std::vector<float> expected = {10, 4, 3, 24, 4, 4, 38, 5, 6};
  CHECK(f(x, rows).to_vector<float>() == expected);
  CHECK(calls == 1);
  CHECK(graven::function(f)(x, rows).to_vector<float>() == expected);
  CHECK(contains(error_of([&] { f(x, graven::zeros({2, 2})); }).message(), "same first dimension"));
}

TEST_CASE("foldl and foldr accumulate in their order") {
  const auto digits = [](Tensor all, Tensor digit) { return all * 10 + digit; };
  const Tensor x = {1.0, 2.0, 3.0};
  CHECK(both_ways([&](Tensor x) { return foldl(digits, x); }, x)[0] == 123);
  CHECK(both_ways([&](Tensor x) { return foldr(digits, x); }, x)[0] == 321);
  CHECK(both_ways([&](Tensor x) { return foldl(digits, x, 9.0); }, x)[0] == 9123);
  CHECK(both_ways([&](Tensor x) { return foldr(digits, x, 9.0); }, x)[0] == 9321);
  const auto error = error_of([&] { foldl(digits, graven::zeros({0})); });
  CHECK(contains(error.message(), "no element and no initializer"));
}

TEST_CASE("gradients flow through map_fn, scan and foldl") {
  const auto f = graven::function([](Tensor x) {
    const Tensor squares = map_fn([](Tensor row) { return row * row; }, x);
    const Tensor sums = scan([](Tensor sum, Tensor row) { return sum + row; }, squares);
    return foldl([](Tensor product, Tensor sum) { return product * sum; }, sums, 1.0);
  });
  const Tensor x = {1.0, 2.0};
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);  // x0^2 (x0^2 + x1^2)
  CHECK(y.item<float>() == 5);
  CHECK(tape.gradient(y, x).to_vector<float>() == std::vector<float>{12, 4});
}
