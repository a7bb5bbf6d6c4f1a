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

TEST_CASE("switch_case gives the result of the function of the number, or of the default") {
  const auto last = [](Tensor i, Tensor x) {
    return graven::switch_case(i, {[&] { return x; }, [&] { return x * 10; }});
  };
  const auto other = [](Tensor i, Tensor x) {
    return std::get<1>(graven::switch_case<std::tuple<Tensor, Tensor>>(
        i, {[&] { return std::tuple(x, x); }}, [&] { return std::tuple(x, -x); }));
  };
  const auto traced = graven::function(last);
  const auto traced_other = graven::function(other);
  for (const int i : {-1, 0, 1, 2}) {
    const int expected = i == 0 ? 3 : 30;
    CHECK(last(i, 3).item<int32_t>() == expected);
    CHECK(traced(i, Tensor(3)).item<int32_t>() == expected);
    CHECK(other(i, 3).item<int32_t>() == (i == 0 ? 3 : -3));
    CHECK(traced_other(i, Tensor(3)).item<int32_t>() == (i == 0 ? 3 : -3));
  }
  CHECK(contains(error_of([&] { traced(Tensor(0.5), Tensor(3)); }).message(), "int32 scalar"));
  CHECK(contains(error_of([] { graven::switch_case(0, {}); }).message(), "at least one function"));
}

TEST_CASE("case gives the result of the first predicate that holds") {
  const auto f = [](Tensor x) {
    return graven::case_({{x < 0, [&] { return -x; }}, {x > 9, [&] { return x * 2; }}},
                         [&] { return x; });
  };
  const auto traced = graven::function(f);
  for (const auto& [x, y] : {std::pair(-3, 3), std::pair(10, 20), std::pair(4, 4)}) {
    CHECK(f(x).item<int32_t>() == y);
    CHECK(traced(x).item<int32_t>() == y);
  }
  const auto strict = [](Tensor x) {
    return graven::case_({{x > 0, [&] { return x; }}, {x > 9, [&] { return x * 2; }}}, nullptr,
                         /*exclusive=*/true);
  };
  const auto traced_strict = graven::function(strict);
  CHECK(strict(5).item<int32_t>() == 5);
  CHECK(traced_strict(5).item<int32_t>() == 5);
  CHECK(contains(error_of([&] { strict(10); }).message(), "more than 1 conditions"));
  CHECK(contains(error_of([&] { traced_strict(10); }).message(), "more than 1 conditions"));
  CHECK(contains(error_of([&] { strict(-1); }).message(), "None of conditions"));
  CHECK(contains(error_of([&] { traced_strict(-1); }).message(), "None of conditions"));
}

TEST_CASE("numbers among the variables of a loop become tensors") {
  const auto f = [](Tensor n) {
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                  [](Tensor i, Tensor x) { return std::tuple(i + 1, x * 2); },
                                  std::tuple(0, 1.0)));
  };
  CHECK(f(3).item<float>() == 8);
  CHECK(graven::function(f)(3).item<float>() == 8);
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
