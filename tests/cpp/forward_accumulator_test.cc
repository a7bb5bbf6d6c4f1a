#include <doctest/doctest.h>
#include <graven/graven.h>

#include "error_of.h"

using graven::ForwardAccumulator;
using graven::GradientTape;
using graven::Tensor;
using graven::UnconnectedGradients;
using graven::Variable;

TEST_CASE("the tangent of what is computed of a primal") {
  Tensor x = 3.0;
  ForwardAccumulator accumulator(x, 2.0);
  Tensor y = x * x;
  CHECK(accumulator.jvp(y).item<float>() == 12);
  CHECK(accumulator.jvp(x).item<float>() == 2);
}

TEST_CASE("several primals, a variable among them") {
  Tensor x = 3.0;
  Variable v(2.0);
  ForwardAccumulator accumulator({x, v}, {1.0, 10.0});
  Tensor y = x * v, z = v * v;
  auto found = accumulator.jvp({y, z});
  CHECK(found[0].item<float>() == 32);
  CHECK(found[1].item<float>() == 40);
}

TEST_CASE("a product of a Hessian and a vector") {
  Tensor x = {1.0, 2.0}, v = {1.0, 0.0};
  ForwardAccumulator accumulator(x, v);
  GradientTape tape;
  tape.watch(x);
  Tensor y = graven::reduce_sum(pow(x, 3.0));
  Tensor product = accumulator.jvp(tape.gradient(y, x));
  CHECK(product.data<float>()[0] == 6);
  CHECK(product.data<float>()[1] == 0);
}

TEST_CASE("a function is called with tangents, and takes them in its trace") {
  auto cube = graven::function([](const Tensor& x) { return x * x * x; });
  auto slope = graven::function([](const Tensor& x) {
    ForwardAccumulator accumulator(x, 1.0);
    return accumulator.jvp(x * x * x);
  });
  Tensor x = 2.0;
  CHECK(slope(x).item<float>() == 12);
  ForwardAccumulator accumulator(x, 1.0);
  CHECK(accumulator.jvp(cube(x)).item<float>() == 12);
  CHECK(accumulator.jvp(slope(x)).item<float>() == 12);
}

TEST_CASE("a staged loop has tangents") {
  auto power = graven::function([](const Tensor& x) {
    graven::State<Tensor> y = x, i = 0;
    while (graven::staged(i < 2)) {
      y = y * x;
      i = i + 1;
    }
    return Tensor(y);
  });
  Tensor x = 2.0;
  ForwardAccumulator accumulator(x, 1.0);
  CHECK(accumulator.jvp(power(x)).item<float>() == 12);
}

TEST_CASE("no tangent is none, or zeros") {
  Tensor x = 3.0, c = Tensor(5.0);
  ForwardAccumulator accumulator(x, 1.0);
  Tensor y = c * c;
  CHECK(accumulator.jvp(y).is_none());
  CHECK(accumulator.jvp(y, UnconnectedGradients::kZero).item<float>() == 0);
}

TEST_CASE("an accumulator stops and goes on") {
  Tensor x = 3.0;
  ForwardAccumulator accumulator(x, 1.0);
  accumulator.stop();
  CHECK(accumulator.jvp(x * x).is_none());
  accumulator.resume();
  CHECK(accumulator.jvp(x * x).item<float>() == 6);
  CHECK(error_of([&] { accumulator.resume(); }).kind() == graven::ErrorKind::kValueError);
}

TEST_CASE("tangents that do not fit are refused") {
  Tensor x = 3.0;
  const auto kind_of = [](auto&& f) { return error_of(f).kind(); };
  CHECK(kind_of([&] {
          ForwardAccumulator(x, Tensor({1.0, 2.0}));
        }) == graven::ErrorKind::kValueError);
  CHECK(kind_of([&] { ForwardAccumulator({x, x}, {1.0, 1.0}); }) == graven::ErrorKind::kValueError);
  CHECK(kind_of([&] {
          ForwardAccumulator(graven::Sources{x}, {1.0, 1.0});
        }) == graven::ErrorKind::kValueError);
  CHECK(kind_of([&] { ForwardAccumulator(x, Tensor()); }) == graven::ErrorKind::kTypeError);
}
