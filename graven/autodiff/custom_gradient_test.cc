#include "graven/autodiff/custom_gradient.h"

#include <doctest/doctest.h>

#include "graven/autodiff/forward_accumulator.h"
#include "graven/autodiff/gradient_pair.h"
#include "graven/autodiff/tape.h"
#include "graven/autodiff/testing.h"

namespace graven::engine::test {
namespace {

using Function =
    std::function<Result<std::vector<Gradient>>(Builder& builder, std::span<const Tensor> dy)>;

class FunctionGradient final : public CustomGradient {
 public:
  explicit FunctionGradient(Function f) : f_(std::move(f)) {}
  // What an owner of a Function does when that goes: the function may hold tensors of the graph.
  void let_go() { f_ = nullptr; }
  Result<std::vector<Gradient>> gradient(Builder& builder, std::span<const Tensor>,
                                         std::span<const Tensor> dy) const override {
    return f_(builder, dy);
  }

 private:
  Function f_;
};

Tensors with_gradient(Ops& ops, std::vector<Tensor> inputs, std::vector<Tensor> outputs, Function f,
                      Ref<FunctionGradient>* made = nullptr) {
  RecordingBuilder builder(ops.raw());
  auto function = make_ref<FunctionGradient>(std::move(f));
  if (made) *made = function;
  auto result = apply_custom_gradient(builder, inputs, outputs, function);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *result;
}

Tensor square_with_gradient_ten(Ops& ops, const Tensor& x) {
  return with_gradient(ops, {x}, {ops(kMul, {x, x})}, [&ops](Builder&, std::span<const Tensor> dy) {
    return std::vector<Gradient>{{ops(kMul, {dy[0], num(10)}), {}}};
  })[0];
}

const std::pair<DType, Shape> kScalar = {DType::kFloat64, Shape()};

double gradient_of(Ops& ops, const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  Tape tape(false);
  tape.start();
  tape.watch(x);
  return number(gradient(ops, tape, {f(x)}, {x})[0]);
}

TEST_CASE("a custom gradient replaces the real one eagerly") {
  Ops ops;
  CHECK(gradient_of(
            ops, [&](auto& x) { return square_with_gradient_ten(ops, x); }, num(3)) == 10);
}

TEST_CASE("a custom gradient replaces the real one when a function is differentiated") {
  Ops ops;
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar}, [&](auto& x) { return std::vector{square_with_gradient_ten(ops, x[0])}; },
      &captured);
  CHECK(ops.call(body, {num(3)}).item<double>() == 9);
  CHECK(gradient_of(
            ops, [&](auto& x) { return ops.call(body, {x}); }, num(3)) == 10);
}

TEST_CASE("a custom gradient replaces the real one under a tape in a trace") {
  Ops ops;
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar},
      [&](auto& x) {
        Tape tape(false);
        tape.start();
        tape.watch(x[0]);
        Tensor y = square_with_gradient_ten(ops, x[0]);
        return std::vector{gradient(ops, tape, {y}, {x[0]})[0].dense};
      },
      &captured);
  std::vector<Tensor> inputs = {num(3)};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  CHECK(ops.call(body, inputs).item<double>() == 10);
}

TEST_CASE("a custom gradient gets one dense seed per output") {
  Ops ops;
  auto two = [&](const Tensor& x) {
    return with_gradient(ops, {x}, {ops(kMul, {x, num(1)}), ops(kMul, {x, num(2)})},
                         [&ops](Builder&, std::span<const Tensor> dy) {
                           Tensor a = ops(kMul, {dy[0], num(7)}), b = ops(kMul, {dy[1], num(100)});
                           return std::vector<Gradient>{{ops(kAddV2, {a, b}), {}}};
                         })[1];
  };
  CHECK(gradient_of(ops, two, num(3)) == 100);
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar}, [&](auto& x) { return std::vector{two(x[0])}; }, &captured);
  CHECK(gradient_of(
            ops,
            [&](auto& x) {
              std::vector<Tensor> inputs = {x};
              inputs.insert(inputs.end(), captured.begin(), captured.end());
              return ops.call(body, inputs);
            },
            num(3)) == 100);
}

TEST_CASE("a custom gradient may use intermediate tensors of its trace, and is differentiable") {
  Ops ops;
  // f(x) = exp(x), with gradient dy * (e + x) in which e is a tensor of the trace.
  Ref<FunctionGradient> owned;
  auto f = [&](const Tensor& x) {
    Tensor e = ops(kExp, {x});
    return with_gradient(
        ops, {x}, {ops(kIdentity, {e})},
        [&ops, e, x](Builder&, std::span<const Tensor> dy) {
          return std::vector<Gradient>{{ops(kMul, {dy[0], ops(kAddV2, {e, x})}), {}}};
        },
        &owned)[0];
  };
  auto body = ops.trace({kScalar}, [&](auto& x) { return std::vector{f(x[0])}; });
  Tensor x = num(0.5);
  Tape outer(false), inner(false);
  outer.start();
  outer.watch(x);
  inner.start();
  inner.watch(x);
  Tensor first = gradient(ops, inner, {ops.call(body, {x})}, {x})[0].dense;
  CHECK(first.item<double>() == doctest::Approx(std::exp(0.5) + 0.5));
  CHECK(number(gradient(ops, outer, {first}, {x})[0]) == doctest::Approx(std::exp(0.5) + 1));
  owned->let_go();
}

TEST_CASE("the tangents of a call go through the transpose of a custom gradient") {
  Ops ops;
  // f(x) = exp(x), with gradient dy * 10 e in which e is a tensor of the trace.
  Ref<FunctionGradient> owned;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    Tensor e = ops(kExp, {x[0]});
    return std::vector{with_gradient(
        ops, {x[0]}, {ops(kIdentity, {e})},
        [&ops, e](Builder&, std::span<const Tensor> dy) {
          return std::vector<Gradient>{{ops(kMul, {dy[0], ops(kMul, {e, num(10)})}), {}}};
        },
        &owned)[0]};
  });
  Tensor x = num(0.5);
  ForwardAccumulator outer(ops.eager()), inner(ops.eager());
  for (ForwardAccumulator* accumulator : {&outer, &inner}) {
    accumulator->start();
    REQUIRE(accumulator->watch(x, num(2)).ok());
  }
  Tensor y = ops.call(body, {x});
  inner.stop();
  auto first = inner.tangent(y);
  REQUIRE(first.ok());
  CHECK(first->item<double>() == doctest::Approx(20 * std::exp(0.5)));
  auto second = outer.tangent(*first);
  REQUIRE(second.ok());
  CHECK(second->item<double>() == doctest::Approx(40 * std::exp(0.5)));
  owned->let_go();
}

TEST_CASE("a custom gradient may use what its function captured") {
  Ops ops;
  Tensor handle = variable(num(2));
  Tensor large = vec(std::vector<double>(1000, 4));
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar},
      [&](auto& x) {
        Tensor v = ops.read(handle);
        Tensor y = ops(kMul, {ops(kMul, {x[0], v}), ops.sum(large)});
        return std::vector{
            with_gradient(ops, {x[0], handle}, {y}, [&](Builder&, std::span<const Tensor> dy) {
              Tensor g = ops(kMul, {dy[0], ops.sum(large)});
              return std::vector<Gradient>{{ops(kMul, {g, ops.read(handle)}), {}}, {g, {}}};
            })[0]};
      },
      &captured);
  REQUIRE(captured == std::vector{handle, large});
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  tape.watch(handle);
  auto g = gradient(ops, tape, {ops.call(body, {x, handle, large})}, {x, handle});
  CHECK(number(g[0]) == 8000);
  CHECK(number(g[1]) == 4000);
}

TEST_CASE("a custom gradient may be none") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  Tensor y = with_gradient(ops, {x}, {ops(kMul, {x, x})}, [](Builder&, std::span<const Tensor>) {
    return std::vector<Gradient>(1);
  })[0];
  CHECK(gradient(ops, tape, {y}, {x})[0].is_none());
}

TEST_CASE("a wrong number of gradients is a ValueError") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  std::vector<Tensor> y = {with_gradient(ops, {x, num(2)}, {ops(kMul, {x, x})},
                                         [](Builder&, std::span<const Tensor>) {
                                           return std::vector<Gradient>(1);
                                         })[0]},
                      sources = {x};
  auto result = tape.gradient(y, sources, {}, ops.raw());
  REQUIRE(!result.ok());
  CHECK(result.status().kind() == ErrorKind::kValueError);
}

TEST_CASE("an error of a custom gradient reaches who asks for the gradient, and nobody else") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{
        with_gradient(ops, {x[0]}, {ops(kMul, {x[0], x[0]})},
                      [](Builder&, std::span<const Tensor>) -> Result<std::vector<Gradient>> {
                        return type_error("not today");
                      })[0]};
  });
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  std::vector<Tensor> y = {ops.call(body, {x})}, sources = {x};
  CHECK(y[0].item<double>() == 9);
  auto result = tape.gradient(y, sources, {}, ops.raw());
  REQUIRE(!result.ok());
  CHECK(result.status().kind() == ErrorKind::kTypeError);
  CHECK(result.status().message() == "not today");
}

}  // namespace
}  // namespace graven::engine::test
