#include "graven/autodiff/forward_accumulator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "graven/autodiff/tangent_body.h"
#include "graven/autodiff/tangent_rule.h"
#include "graven/autodiff/tape.h"
#include "graven/autodiff/testing.h"

namespace graven::engine::test {
namespace {

const std::pair<DType, Shape> kScalar = {DType::kFloat64, Shape()};

// An accumulator that records, with a tangent for x.
std::unique_ptr<ForwardAccumulator> along(Ops& ops, const Tensor& x, const Tensor& tangent) {
  auto made = std::make_unique<ForwardAccumulator>(ops.eager());
  REQUIRE(*made->watch(x, tangent));
  made->start();
  return made;
}

Tensor tangent(const ForwardAccumulator& accumulator, const Tensor& y) {
  auto found = accumulator.tangent(y);
  REQUIRE_MESSAGE(found.ok(), found.status().message());
  return *found;
}

double number_of(const ForwardAccumulator& accumulator, const Tensor& y) {
  return tangent(accumulator, y).item<double>();
}

TEST_CASE("tangents add up along all paths") {
  Ops ops;
  Tensor x = num(3), w = num(5);
  auto accumulator = along(ops, x, num(2));
  REQUIRE(*accumulator->watch(w, num(10)));
  Tensor y = ops(kAddV2, {ops(kMul, {x, x}), ops(kMul, {x, w})});
  CHECK(number_of(*accumulator, y) == 2 * 3 * 2 + 2 * 5 + 3 * 10);
}

TEST_CASE("a second tangent of a primal is added") {
  Ops ops;
  Tensor x = num(3);
  auto accumulator = along(ops, x, num(2));
  REQUIRE(*accumulator->watch(x, num(1)));
  CHECK(number_of(*accumulator, ops(kMul, {x, x})) == 18);
}

TEST_CASE("what no primal leads to, and integers, have no tangent") {
  Ops ops;
  Tensor x = num(3), w = num(5);
  auto accumulator = along(ops, x, num(1));
  CHECK(!tangent(*accumulator, ops(kMul, {w, w})));
  CHECK(!tangent(*accumulator, ops(kCast, {x}, {DType::kInt32})));
  CHECK(!tangent(*accumulator, ops(kStopGradient, {x})));
  CHECK(!*accumulator->watch(Tensor::scalar<int32_t>(1), Tensor::scalar<int32_t>(1)));
}

TEST_CASE("only as many ops run as a formula of the tangent has") {
  Ops ops;
  Tensor x = vec({1, 2}), t = vec({3, 4});
  auto accumulator = along(ops, x, t);
  ops(kSin, {x});
  ops.eager().num_applied = 0;
  Tensor y = ops(kSin, {x});
  CHECK(ops.eager().num_applied == 3);  // sin, and t * cos
  CHECK(values_of(tangent(*accumulator, y))[1] == doctest::Approx(4 * std::cos(2)));
}

TEST_CASE("a rule is remembered by shapes and by the values that inference needs") {
  Ops ops;
  Tensor x = vec({1, 2}), t = vec({3, 4});
  auto accumulator = along(ops, x, t);
  ops(kSum, {x, ints({0})});
  const int64_t bytes = bytes_of_tangent_rules();
  CHECK(bytes > 0);
  CHECK(number_of(*accumulator, ops(kSum, {x, ints({0})})) == 7);
  CHECK(bytes_of_tangent_rules() == bytes);
  CHECK(number_of(*accumulator, ops(kSum, {x, ints({-1})})) == 7);
  CHECK(bytes_of_tangent_rules() > bytes);
}

TEST_CASE("an op without a gradient is an error of what it leads to") {
  Ops ops;
  Tensor x = num(3);
  auto accumulator = along(ops, x, num(1));
  Tensor y = ops(kMul, {ops(kMod, {x, num(2)}), x});
  CHECK(accumulator->tangent(y).status().kind() == ErrorKind::kLookupError);
  CHECK(number_of(*accumulator, ops(kMul, {x, x})) == 6);
}

TEST_CASE("outer listeners see tangents, inner ones do not") {
  Ops ops;
  Tensor x = num(3);
  Tape outer(true), inner(true);
  outer.start();
  outer.watch(x);
  auto accumulator = along(ops, x, num(1));
  inner.start();
  inner.watch(x);
  Tensor y = ops(kMul, {ops(kMul, {x, x}), x});
  Tensor slope = tangent(*accumulator, y);
  CHECK(number(gradient(ops, outer, {slope}, {x})[0]) == 18);
  CHECK(gradient(ops, inner, {slope}, {x})[0].is_none());
  CHECK(number(gradient(ops, inner, {y}, {x})[0]) == 27);
}

TEST_CASE("a listener that joins again comes back to its place") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  auto accumulator = along(ops, x, num(1));
  tape.stop();
  tape.start();
  Tensor slope = tangent(*accumulator, ops(kMul, {x, x}));
  CHECK(number(gradient(ops, tape, {slope}, {x})[0]) == 2);
}

TEST_CASE("an inner listener may leave while tangents are computed") {
  // Hidden then, it was put back, though it was gone.
  Ops ops;
  Tensor x = num(3);
  auto accumulator = along(ops, x, num(1));
  auto inner = std::make_unique<Tape>(false);
  inner->start();
  const BackwardRef backward = backward_of(
      "leaves", [&](Builder&, std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
        inner.reset();
        return std::vector<Gradient>(dy.begin(), dy.end());
      });
  const Tensor xs[] = {x}, ys[] = {num(4)};
  accumulator->on_step(xs, ys, backward);
  CHECK(number_of(*accumulator, ys[0]) == 1);
  CHECK(Frame::current().listeners.size() == 1);
}

TEST_CASE("a step as a whole is transposed") {
  Ops ops;
  Tensor x = num(3), y = num(9);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  auto accumulator = along(ops, x, num(2));
  const BackwardRef backward = backward_of(
      "square",
      [x](Builder& builder, std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
        Emitter emit(builder);
        Tensor twice = emit(kAddV2, {x, x});
        return std::vector<Gradient>{{emit(kMul, {dy[0].dense, twice}), {}}};
      });
  const Tensor xs[] = {x}, ys[] = {y};
  accumulator->on_step(xs, ys, backward);
  Tensor slope = tangent(*accumulator, y);
  CHECK(slope.item<double>() == 12);
  CHECK(number(gradient(ops, tape, {slope}, {x})[0]) == 4);
}

TEST_CASE("a call computes its tangents in one body, made once and counted") {
  Ops ops;
  auto body = ops.trace({kScalar, kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {ops(kSin, {x[0]}), x[1]}), ops(kMul, {x[1], x[1]})};
  });
  const int64_t bytes = body->bytes();
  Tensor x = num(3), w = num(5);
  auto accumulator = along(ops, x, num(2));
  auto y = ops.call_all(body, {x, w});
  CHECK(number_of(*accumulator, y[0]) == doctest::Approx(10 * std::cos(3)));
  CHECK(!tangent(*accumulator, y[1]));
  CHECK(body->bytes() > bytes);
  auto made = tangent_body(body, {true, false});
  REQUIRE(made.ok());
  CHECK(*tangent_body(body, {true, false}) == *made);
  CHECK((*made)->gives == std::vector<bool>{true, false});
  CHECK((*made)->body->name().starts_with("__tangent_f_"));
  CHECK((*made)->body->graph()->inputs().size() == 3);
}

TEST_CASE("a body with tangents holds nothing that they do not need") {
  Ops ops;
  auto body = ops.trace({kScalar, kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {x[0], x[1]})};
  });
  auto made = tangent_body(body, {true, false});
  REQUIRE(made.ok());
  // Three inputs, the product, and t * x[1].
  CHECK((*made)->body->graph()->nodes().size() == 5);
}

TEST_CASE("a call beneath an accumulator and tapes on either side") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {ops(kMul, {x[0], x[0]}), ops(kMul, {x[0], x[0]})})};
  });
  Tensor x = num(2);
  Tape outer(false), inner(false);
  outer.start();
  outer.watch(x);
  auto accumulator = along(ops, x, num(1));
  inner.start();
  inner.watch(x);
  Tensor y = ops.call(body, {x});
  Tensor first = gradient(ops, inner, {y}, {x})[0].dense;
  CHECK(first.item<double>() == 32);
  Tensor second = tangent(*accumulator, first);
  CHECK(second.item<double>() == 48);
  CHECK(number(gradient(ops, outer, {second}, {x})[0]) == 48);
}

TEST_CASE("an output of a call that has no gradient on the way is an error of its own") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {x[0], x[0]}), ops(kMod, {x[0], ops.constant(num(2))})};
  });
  Tensor x = num(3);
  auto accumulator = along(ops, x, num(1));
  auto y = ops.call_all(body, {x});
  CHECK(number_of(*accumulator, y[0]) == 6);
  CHECK(accumulator->tangent(y[1]).status().kind() == ErrorKind::kLookupError);
}

TEST_CASE("ops outside, or after the end of its frame, have no tangents") {
  Ops ops;
  Tensor x = num(3);
  auto accumulator = along(ops, x, num(1));
  accumulator->stop();
  CHECK(!tangent(*accumulator, ops(kMul, {x, x})));
  {
    Frame frame(nullptr);
    accumulator->start();
  }
  CHECK(!accumulator->is_recording());
}

TEST_CASE("tensors that are gone take their tangents with them") {
  Ops ops;
  Tensor x = vec(std::vector<double>(1000, 1.0));
  auto accumulator = along(ops, x, x);
  Tensor y = x;
  for (int i = 0; i < 10000; ++i) y = ops(kMul, {y, x});
  CHECK(accumulator->num_tangents() < 1000);
  CHECK(values_of(tangent(*accumulator, y))[0] == 10001);
}

}  // namespace
}  // namespace graven::engine::test
