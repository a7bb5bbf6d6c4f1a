#include "graven/autodiff/graph_gradients.h"

#include <doctest/doctest.h>

#include "graven/autodiff/testing.h"
#include "graven/ir/testing.h"
#include "graven/ops/debug_ops.h"

namespace graven::engine::test {
namespace {

const std::pair<DType, Shape> kScalar = {DType::kFloat64, Shape()};

std::vector<Gradient> gradients(Ops& ops, std::vector<Tensor> ys, std::vector<Tensor> xs,
                                std::vector<Tensor> seeds = {}, std::vector<Tensor> stop = {}) {
  auto result = graph_gradients(Frame::current().graph_builder()->graph_ref(), ys, xs, seeds, stop,
                                ops.raw());
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *result;
}

TEST_CASE("gradients in a graph need no tape") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    Tensor y = ops(kMul, {ops(kSin, {x[0]}), x[0]});
    return std::vector{gradients(ops, {y}, {x[0]})[0].dense};
  });
  CHECK(ops.call(body, {num(0.5)}).item<double>() ==
        doctest::Approx(std::sin(0.5) + 0.5 * std::cos(0.5)));
}

TEST_CASE("gradients in a graph take seeds, and hold tensors constant") {
  Ops ops;
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar},
      [&](auto& x) {
        Tensor y = ops(kMul, {x[0], num(2)}), z = ops(kMul, {y, x[0]});
        auto held = gradients(ops, {z}, {x[0]}, {}, {y});
        auto seeded = gradients(ops, {y}, {x[0]}, {ops(kMul, {x[0], x[0]})});
        auto none = gradients(ops, {x[0]}, {y});
        CHECK(none[0].is_none());
        return std::vector{held[0].dense, seeded[0].dense};
      },
      &captured);
  std::vector<Tensor> inputs = {num(3)};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  auto y = ops.call_all(body, inputs);
  CHECK(y[0].item<double>() == 6);
  CHECK(y[1].item<double>() == 18);
}

TEST_CASE("gradients in a graph go through calls, composites and captured tensors") {
  Ops ops;
  PrintedFile file;
  auto inner = ops.trace({kScalar}, [&](auto& x) {
    ops(kPrintV2, {ops.constant(Tensor::string_scalar("printed"))},
        {.output_stream = PrintedFile::stream()});
    return std::vector{ops(kExp, {x[0]})};
  });
  Tensor w = num(2);
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar},
      [&](auto& x) {
        Tensor s = ops.raw().apply(*kSquareSin, std::vector{x[0]}, NoAttrs()).value()[0];
        Tensor y = ops(kMul, {ops.call(inner, {s}), w});
        auto g = gradients(ops, {y}, {x[0], w});
        return std::vector{y, g[0].dense, g[1].dense};
      },
      &captured);
  REQUIRE(captured == std::vector{w});
  auto y = ops.call_all(body, {num(0.7), w});
  double e = std::exp(std::sin(0.7) * std::sin(0.7));
  CHECK(y[0].item<double>() == doctest::Approx(2 * e));
  CHECK(y[1].item<double>() == doctest::Approx(2 * e * std::sin(1.4)));
  CHECK(y[2].item<double>() == doctest::Approx(e));
  CHECK(file.text() == "printed\n");
}

TEST_CASE("a wrong number of seeds is a ValueError") {
  Ops ops;
  GraphBuilder builder(make_ref<Graph>("f"));
  Frame frame(&builder);
  std::vector<Tensor> x = {builder.add_placeholder(DType::kFloat64, Shape(), "x")},
                      two = {x[0], x[0]};
  auto result = graph_gradients(builder.graph_ref(), x, x, two, {}, builder);
  CHECK(result.status().kind() == ErrorKind::kValueError);
}

}  // namespace
}  // namespace graven::engine::test
