#include <doctest/doctest.h>
#include <graven/graven.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "error_of.h"

using graven::DType;
using graven::GradientTape;
using graven::host_function;
using graven::Tensor;

namespace {

using Tensors = std::vector<Tensor>;

// x -> x * x * x by a function that counts its runs.
Tensor cubed(const Tensor& x, int& runs) {
  return host_function(
      [&runs](const Tensors& in) {
        ++runs;
        return in[0] * in[0] * in[0];
      },
      {x}, DType::kFloat32);
}

}  // namespace

TEST_CASE("a host function runs at every call of the function that was traced with it") {
  int runs = 0;
  auto f = graven::function([&](Tensor x) { return cubed(x, runs); });
  CHECK(f(Tensor(2.0f)).item<float>() == 8);
  CHECK(f(Tensor(3.0f)).item<float>() == 27);
  CHECK(runs == 2);
  CHECK(f.cache_info().traces == 1);
  CHECK(cubed(Tensor(2.0f), runs).item<float>() == 8);
}

TEST_CASE("host functions run in the order of the program, in loops too") {
  std::string log;
  auto note = [&](const char* text) {
    host_function(
        [&log, text](const Tensors&) {
          log += text;
          return Tensors();
        },
        {}, std::vector<DType>());
  };
  auto f = graven::function([&](Tensor n) {
    note("before ");
    auto [i] = graven::while_loop([&](Tensor i) { return i < n; },
                                  [&](Tensor i) {
                                    host_function(
                                        [&log](const Tensors& in) {
                                          log += std::to_string(in[0].item<int32_t>()) + " ";
                                          return Tensors();
                                        },
                                        {i}, std::vector<DType>());
                                    return std::tuple(i + 1);
                                  },
                                  std::tuple(Tensor(0)));
    note("after");
    return i;
  });
  f(Tensor(3));
  CHECK(log == "before 0 1 2 after");
}

TEST_CASE("a host function before a staged condition runs once in each call") {
  int runs = 0;
  auto f = graven::function([&](Tensor x) {
    const Tensor y = cubed(x, runs);
    if (graven::staged(y > 0.0f)) return y * 2.0f;
    return -y;
  });
  CHECK(f(Tensor(2.0f)).item<float>() == 16);
  CHECK(f(Tensor(-2.0f)).item<float>() == 8);
  CHECK(runs == 2);
}

TEST_CASE("gradients of host functions have any order, at once and traced") {
  int runs = 0;
  auto third = [&](const Tensor& x) {
    GradientTape outermost;
    outermost.watch(x);
    GradientTape outer;
    outer.watch(x);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = cubed(x, runs);
    const Tensor first = tape.gradient(y, x);
    const Tensor second = outer.gradient(first, x);
    return Tensors{first, second, outermost.gradient(second, x)};
  };
  for (const Tensors& values : {third(Tensor(2.0f)), graven::function(third)(Tensor(2.0f))}) {
    CHECK(values[0].item<float>() == 12);
    CHECK(values[1].item<float>() == 12);
    CHECK(values[2].item<float>() == 6);
  }
  CHECK(runs == 2);
}

TEST_CASE("without a gradient none flows") {
  for (bool stateful : {false, true}) {
    Tensor x(3.0f);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = host_function([](const Tensors& in) { return in[0] * 2.0f; }, {x},
                                   DType::kFloat32, {.has_gradient = false, .stateful = stateful});
    CHECK(y.item<float>() == 6);
    CHECK(tape.gradient(y, x).is_none());
  }
}

TEST_CASE("a host function without effects runs only for its results") {
  int runs = 0;
  auto f = graven::function([&](Tensor x) {
    host_function(
        [&runs](const Tensors& in) {
          ++runs;
          return in[0];
        },
        {x}, DType::kFloat32, {.stateful = false});
    return x;
  });
  f(Tensor(1.0f));
  CHECK(runs == 0);
}

TEST_CASE("an exception of a host function comes out as the object that it is") {
  auto f = graven::function([](Tensor x) {
    return host_function([](const Tensors&) -> Tensor { throw std::domain_error("mine"); }, {x},
                         DType::kFloat32);
  });
  CHECK_THROWS_WITH_AS(f(Tensor(1.0f)), "mine", std::domain_error);
  CHECK_THROWS_WITH_AS(f(Tensor(1.0f)), "mine", std::domain_error);
}

TEST_CASE("wrong results of host functions are errors with the line of the program") {
  auto f = graven::function([](Tensor x) {
    return host_function([](const Tensors& in) { return in[0]; }, {x}, DType::kInt32);
  });
  const graven::Error wrong = error_of([&] { f(Tensor(1.0f)); });
  CHECK(wrong.code() == graven::Code::kInvalidArgument);
  CHECK(contains(wrong.what(), "is float32, but expects int32"));
  CHECK(contains(wrong.what(), "host_function_test.cc"));
  auto none = [](const Tensors&) { return Tensors(); };
  CHECK(contains(error_of([&] { host_function(none, {}, {DType::kInt32}); }).what(),
                 "returns 0 values, but expects to see 1 values"));
  auto empty = [](const Tensors&) { return Tensor(); };
  CHECK(contains(error_of([&] { host_function(empty, {}, DType::kInt32); }).what(),
                 "returned no tensor"));
  CHECK(contains(error_of([&] { host_function(none, {Tensor()}, std::vector<DType>()); }).what(),
                 "is no tensor"));
  auto leaked = graven::function([](Tensor x) {
    const Tensor of_graph = x + 1.0f;
    return host_function([=](const Tensors&) { return of_graph; }, {x}, DType::kFloat32);
  });
  CHECK(contains(error_of([&] { leaked(Tensor(1.0f)); }).what(), "is a tensor of a graph"));
}

TEST_CASE("a host function lives as long as the function that was traced with it") {
  auto held = std::make_shared<int>(1);
  {
    auto f = graven::function([&](Tensor x) {
      return host_function([held](const Tensors& in) { return in[0] + *held; }, {x}, DType::kInt32);
    });
    f(Tensor(1));
    GradientTape tape;  // remembers no function either
    CHECK(held.use_count() > 1);
  }
  CHECK(held.use_count() == 1);
}
