// Loops on staged() whose States change their shapes: they leave open what changes.
#include <doctest/doctest.h>
#include <graven/graven.h>

#include <vector>

#include "error_of.h"

using graven::cast;
using graven::concat;
using graven::DType;
using graven::GradientTape;
using graven::staged;
using graven::staged_range;
using graven::State;
using graven::Tensor;

namespace {

// What f gives for x, at once and traced, which must be equal; the shapes of both.
template <typename F>
Tensor both_ways(F f, const Tensor& x, int n) {
  const auto traced = graven::function(f);
  const Tensor expected = f(x, Tensor(n)), found = traced(x, Tensor(n));
  CHECK(found.shape() == expected.shape());
  CHECK(found.to_vector<float>() == expected.to_vector<float>());
  CHECK(traced.experimental_get_tracing_count() == 1);
  return found;
}

}  // namespace

TEST_CASE("a State may have another size after each iteration") {
  const auto f = [](Tensor x, Tensor n) {
    State<Tensor> y = x, i = 0;
    while (staged(i < n)) {
      y = concat({y, y * 2}, 0);
      i = i + 1;
    }
    return Tensor(y);
  };
  CHECK(both_ways(f, Tensor({1.0f, 2.0f}), 3).shape() == graven::Shape{16});
  CHECK(both_ways(f, Tensor({1.0f, 2.0f}), 0).shape() == graven::Shape{2});
}

TEST_CASE("the rank may change, too") {
  const auto f = [](Tensor x, Tensor n) {
    State<Tensor> y = x;
    for (Tensor i : staged_range(n)) y = graven::stack({y, y + cast(i, DType::kFloat32)}, 0);
    return Tensor(y);
  };
  CHECK(both_ways(f, Tensor(1.0f), 3).shape() == graven::Shape{2, 2, 2});
}

TEST_CASE("a shape that changes later opens others, in a loop in a loop that is left") {
  const auto f = [](Tensor x, Tensor n) {
    State<Tensor> a = x, b = x, c = x, i = 0;
    while (staged(i < n)) {
      c = b;
      b = a;
      State<Tensor> j = 0;
      while (staged(j < i)) {
        a = concat({a, x * 2}, 0);
        j = j + 1;
      }
      i = i + 1;
      if (staged(graven::equal(i, 4))) break;
    }
    return concat({a, b, c}, 0);
  };
  CHECK(both_ways(f, Tensor({1.0f}), 3).shape() == graven::Shape{4 + 2 + 1});
  CHECK(both_ways(f, Tensor({1.0f}), 6).shape() == graven::Shape{7 + 4 + 2});
}

TEST_CASE("gradients of first and second order go through shapes that change") {
  const auto f = [](Tensor x, Tensor n) {
    State<Tensor> y = x, z = x;
    for (Tensor i : staged_range(n)) {
      z = y * y;
      y = concat({y, graven::sin(y) * x}, 0);
    }
    return graven::reduce_sum(y) * graven::reduce_sum(z);
  };
  std::vector<std::vector<float>> found;
  for (const bool is_traced : {false, true}) {
    const auto traced = graven::function(f);
    const Tensor x = Tensor({0.5f});
    GradientTape outer;
    outer.watch(x);
    Tensor dx;
    {
      GradientTape inner;
      inner.watch(x);
      dx = inner.gradient(is_traced ? traced(x, Tensor(3)) : f(x, Tensor(3)), x);
    }
    found.push_back({dx.to_vector<float>()[0], outer.gradient(dx, x).to_vector<float>()[0]});
  }
  CHECK(found[1][0] == doctest::Approx(found[0][0]));
  CHECK(found[1][1] == doctest::Approx(found[0][1]));
}

TEST_CASE("a while_loop keeps the shapes that it is given") {
  const auto f = graven::function([](Tensor x, Tensor n) {
    return graven::while_loop([](Tensor i, Tensor) { return i > 0; },
                              [](Tensor i, Tensor y) {
                                return std::tuple(i - 1, concat({y, y}, 0));
                              },
                              std::tuple(n, x));
  });
  const graven::Error error = error_of([&] { f(Tensor({1.0f}), Tensor(2)); });
  CHECK(contains(error.what(), "enters the loop with shape (1,), but has shape (2,)"));
}
