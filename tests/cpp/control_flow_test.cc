#include <doctest/doctest.h>
#include <graven/graven.h>

#include <tuple>

#include "error_of.h"

using graven::cond;
using graven::GradientTape;
using graven::Tensor;
using graven::Variable;
using graven::while_loop;

namespace {

Tensor collatz_step(const Tensor& n) {
  return cond(
      graven::equal(n % 2, 0), [&] { return graven::cast(n / 2, graven::DType::kInt32); },
      [&] { return n * 3 + 1; });
}

Tensor power(const Tensor& x, const Tensor& n) {
  auto [i, y] = while_loop([&](Tensor i, Tensor) { return i < n; },
                           [&](Tensor i, Tensor y) { return std::tuple(i + 1, y * x); },
                           std::tuple(Tensor(0), Tensor(1.0)));
  return y;
}

}  // namespace

TEST_CASE("cond gives the result of the chosen branch, at once and traced") {
  auto f = graven::function([](Tensor p, Tensor x) {
    return cond(
        p, [&] { return x + 1; }, [&] { return x * 10; });
  });
  CHECK(cond(
            true, [] { return Tensor(1); }, [] { return Tensor(2); })
            .item<int32_t>() == 1);
  CHECK(f(true, Tensor(3)).item<int32_t>() == 4);
  CHECK(f(false, Tensor(3)).item<int32_t>() == 30);
}

TEST_CASE("branches may give several tensors") {
  auto f = graven::function([](Tensor p, Tensor x) {
    return cond(
        p, [&] { return std::tuple(x, x + 1); }, [&] { return std::tuple(x + 1, x); });
  });
  CHECK(std::get<0>(f(true, Tensor(3))).item<int32_t>() == 3);
  CHECK(std::get<0>(f(false, Tensor(3))).item<int32_t>() == 4);
}

TEST_CASE("a loop runs as long as its condition holds, at once and traced") {
  auto f = graven::function(power);
  CHECK(power(3.0, 4).item<float>() == 81);
  CHECK(f(Tensor(3.0), Tensor(4)).item<float>() == 81);
  CHECK(f(Tensor(3.0), Tensor(0)).item<float>() == 1);
}

TEST_CASE("a branch within a loop") {
  auto steps = graven::function([](Tensor n) {
    auto [last, count] =
        while_loop([](Tensor n, Tensor) { return graven::not_equal(n, 1); },
                   [](Tensor n, Tensor count) { return std::tuple(collatz_step(n), count + 1); },
                   std::tuple(n, Tensor(0)));
    return count;
  });
  CHECK(steps(Tensor(27)).item<int32_t>() == 111);
}

TEST_CASE("gradients of a branch, of first and second order") {
  auto f = graven::function([](Tensor p, Tensor x) {
    return cond(
        p, [&] { return x * x * x; }, [&] { return x; });
  });
  for (const bool p : {true, false}) {
    Tensor x = 2.0;
    GradientTape outer;
    outer.watch(x);
    Tensor dx;
    {
      GradientTape inner;
      inner.watch(x);
      dx = inner.gradient(f(p, x), x);
    }
    CHECK(dx.item<float>() == (p ? 12 : 1));
    CHECK(outer.gradient(dx, x).item<float>() == (p ? 12 : 0));
  }
}

TEST_CASE("gradients of a loop, of first and second order") {
  auto f = graven::function(power);
  for (const int n : {0, 1, 4}) {
    Tensor x = 2.0;
    GradientTape outer;
    outer.watch(x);
    Tensor dx;
    {
      GradientTape inner;
      inner.watch(x);
      dx = inner.gradient(f(x, Tensor(n)), x);
    }
    CHECK(dx.item<float>() == (n == 0 ? 0 : n == 1 ? 1 : 32));
    CHECK(outer.gradient(dx, x).item<float>() == (n == 4 ? 48 : 0));
  }
}

TEST_CASE("a loop assigns variables in program order") {
  Variable v(1);
  auto f = graven::function([&](Tensor n) {
    auto [i] = while_loop([&](Tensor i) { return i < n; },
                          [&](Tensor i) {
                            v.assign(v * 2);
                            v.assign_add(1);
                            return std::tuple(i + 1);
                          },
                          std::tuple(Tensor(0)));
    return i;
  });
  f(Tensor(5));
  CHECK(v.value().item<int32_t>() == 63);
}

TEST_CASE("a loop variable that changes its dtype is refused") {
  auto f = graven::function([](Tensor x) {
    auto [y] = while_loop(
        [](Tensor x) { return x < 3; },
        [](Tensor x) { return std::tuple(graven::cast(x, graven::DType::kInt64)); }, std::tuple(x));
    return y;
  });
  CHECK(contains(error_of([&] { f(Tensor(1)); }).message(), "enters the loop with type"));
}
