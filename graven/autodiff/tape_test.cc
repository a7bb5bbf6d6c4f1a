#include "graven/autodiff/tape.h"

#include <doctest/doctest.h>

#include "graven/autodiff/testing.h"
#include "graven/ops/padding_ops.h"
#include "graven/runtime/program.h"

namespace graven::engine::test {
namespace {

TEST_CASE("paths add up") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  Tensor y = ops(kAddV2, {ops(kMul, {x, x}), ops(kMul, {x, num(5)})});
  CHECK(number(gradient(ops, tape, {y}, {x})[0]) == 11);
  CHECK(!tape.is_recording());
}

TEST_CASE("a tensor that is not watched has no gradient") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  Tensor y = ops(kMul, {x, x});
  CHECK(gradient(ops, tape, {y}, {x})[0].is_none());
}

TEST_CASE("watching affects later uses only") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  Tensor early = ops(kMul, {x, x});
  tape.watch(x);
  Tensor late = ops(kMul, {ops(kMul, {x, x}), x});
  CHECK(number(gradient(ops, tape, {early, late}, {x})[0]) == 27);
}

TEST_CASE("intermediate tensors may be sources, beside what they were made of") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  Tensor middle = ops(kMul, {x, num(2)});
  Tensor y = ops(kMul, {middle, middle});
  auto g = gradient(ops, tape, {y}, {x, middle, x});
  CHECK(number(g[0]) == 24);
  CHECK(number(g[1]) == 12);
  CHECK(number(g[2]) == 24);
}

TEST_CASE("a target that is a source has the gradient one") {
  Ops ops;
  Tensor x = vec({3, 4});
  Tape tape(false);
  tape.start();
  tape.watch(x);
  CHECK(values_of(gradient(ops, tape, {x}, {x})[0].dense) == std::vector<double>{1, 1});
}

TEST_CASE("output gradients weigh the elements") {
  Ops ops;
  Tensor x = vec({1, 2});
  Tape tape(true);
  tape.start();
  tape.watch(x);
  Tensor y = ops(kMul, {x, x});
  tape.stop();
  CHECK(values_of(gradient(ops, tape, {y}, {x}, {vec({1, 10})})[0].dense) ==
        std::vector<double>{2, 40});
  CHECK(values_of(gradient(ops, tape, {y}, {x}, {Tensor()})[0].dense) == std::vector<double>{2, 4});
  RecordingBuilder builder(ops.raw());
  std::vector<Tensor> y_list = {y}, x_list = {x}, two = {x, x};
  CHECK(tape.gradient(y_list, x_list, two, builder).status().kind() == ErrorKind::kValueError);
}

TEST_CASE("a persistent tape gives gradients again, and records them while it is recording") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  Tensor y = ops(kMul, {ops(kMul, {x, x}), x});
  Tensor first = gradient(ops, tape, {y}, {x})[0].dense;
  Tensor second = gradient(ops, tape, {first}, {x})[0].dense;
  CHECK(first.item<double>() == 27);
  CHECK(second.item<double>() == 18);
  CHECK(number(gradient(ops, tape, {second}, {x})[0]) == 6);
}

TEST_CASE("an outer tape hears of the inner gradient") {
  Ops ops;
  Tensor x = num(0.5);
  Tape outer(false), inner(false);
  outer.start();
  outer.watch(x);
  inner.start();
  inner.watch(x);
  Tensor y = ops(kSin, {ops(kExp, {x})});
  Tensor first = gradient(ops, inner, {y}, {x})[0].dense;
  double second = number(gradient(ops, outer, {first}, {x})[0]);
  double e = std::exp(0.5);
  CHECK(first.item<double>() == doctest::Approx(std::cos(e) * e));
  CHECK(second == doctest::Approx(std::cos(e) * e - std::sin(e) * e * e));
}

TEST_CASE("gradients agree with differences") {
  Ops ops;
  auto f = [&](const Tensor& x) {
    Tensor s = ops(kSin, {x});
    return ops.sum(ops(kMul, {ops(kExp, {ops(kMul, {s, x})}), ops(kCos, {x})}));
  };
  std::vector<double> at = {0.3, -0.7, 1.1};
  Tensor x = vec(at);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  Tensor y = f(x);
  auto exact = values_of(gradient(ops, tape, {y}, {x})[0].dense);
  for (size_t i = 0; i < at.size(); ++i) {
    auto moved = [&](double h) {
      auto v = at;
      v[i] += h;
      return f(vec(v)).item<double>();
    };
    double h = 1e-5;
    CHECK(exact[i] == doctest::Approx((moved(h) - moved(-h)) / (2 * h)).epsilon(1e-8));
  }
}

TEST_CASE("only the steps between sources and targets are run") {
  Ops ops;
  Tensor x = num(2), w = num(3);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  tape.watch(w);
  Tensor y = ops(kMul, {x, x});
  Tensor beside = ops(kMod, {x, num(2)});  // leads to no target
  Tensor before = ops(kMod, {w, num(2)});  // from no source
  Tensor z = ops(kMul, {y, before});
  tape.stop();
  CHECK(number(gradient(ops, tape, {z}, {x})[0]) == 4);
  int applied = ops.eager().num_applied;
  gradient(ops, tape, {z}, {y});
  CHECK(ops.eager().num_applied - applied == 2);  // ones, and one product
}

TEST_CASE("a path through an op without gradient is a LookupError") {
  Ops ops;
  Tensor x = num(2);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  std::vector<Tensor> y = {ops(kMod, {x, num(2)})}, n = {ops(kBitcast, {x}, {DType::kInt64})},
                      sources = {x};
  for (const auto& target : {y, n}) {
    auto result = tape.gradient(target, sources, {}, ops.raw());
    REQUIRE(!result.ok());
    CHECK(result.status().kind() == ErrorKind::kLookupError);
    CHECK(result.status().message().starts_with("gradient registry has no entry for: "));
  }
}

TEST_CASE("a path through an op without gradient names the node in a graph") {
  Ops ops;
  GraphBuilder builder(make_ref<Graph>("f"));
  Frame frame(&builder);
  Tensor x = builder.add_placeholder(DType::kFloat64, Shape{3}, "x");
  Tape tape(false);
  tape.start();
  tape.watch(x);
  std::vector<Tensor> y = {ops(kMod, {x, num(2)})}, sources = {x};
  auto result = tape.gradient(y, sources, {}, ops.raw());
  REQUIRE(!result.ok());
  CHECK(result.status().message() ==
        "No gradient defined for operation 'Mod' (op type: Mod). See "
        "docs/errors/no-gradient.md");
}

TEST_CASE("the flow stops at ops that are not differentiable, and at integers") {
  Ops ops;
  Tensor x = num(2), n = Tensor::scalar<int32_t>(2);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  CHECK(!tape.watch(n));
  Tensor stopped = ops(kStopGradient, {x});
  CHECK(!tape.is_watched(stopped));
  CHECK(gradient(ops, tape, {stopped}, {x})[0].is_none());
  CHECK(gradient(ops, tape, {x}, {n})[0].is_none());
}

TEST_CASE("the gradient of a variable counts all reads, each at the value read") {
  Ops ops;
  Tensor handle = variable(num(3)), x = num(7);
  Tape tape(false);
  tape.start();
  tape.watch(handle);
  tape.watch(x);
  Tensor a = ops.read(handle), before = ops(kMul, {a, a});
  ops(kAssignVariable, {handle, ops(kMul, {x, num(2)})}, {DType::kFloat64, false});
  Tensor b = ops.read(handle), after = ops(kMul, {b, num(1)});
  auto g = gradient(ops, tape, {before, after}, {handle, x});
  CHECK(number(g[0]) == 7);
  CHECK(g[1].is_none());
}

TEST_CASE("trainable variables are watched when they are read, unless that is switched off") {
  Ops ops;
  Tensor v = variable(num(2)), fixed = variable(num(5), false);
  Tape tape(false), other(false, false);
  tape.start();
  other.start();
  other.watch(fixed);
  Tensor y = ops(kMul, {ops.read(v), ops.read(fixed)});
  CHECK(tape.watched_variables() == std::vector{v});
  CHECK(other.watched_variables() == std::vector{fixed});
  auto g = gradient(ops, tape, {y}, {v, fixed}), h = gradient(ops, other, {y}, {v, fixed});
  CHECK(number(g[0]) == 5);
  CHECK(g[1].is_none());
  CHECK(h[0].is_none());
  CHECK(number(h[1]) == 2);
  CHECK(tape.watched_variables() == std::vector{v});
}

TEST_CASE("ops outside, or while it is stopped, are not recorded; started again it goes on") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  Tensor y = ops(kMul, {x, x});
  tape.stop();
  Tensor hidden = ops(kMul, {y, x});
  tape.start();
  Tensor z = ops(kMul, {y, x});
  CHECK(gradient(ops, tape, {hidden}, {x})[0].is_none());
  CHECK(number(gradient(ops, tape, {z}, {x})[0]) == 27);
  tape.reset();
  CHECK(gradient(ops, tape, {z}, {x})[0].is_none());
  CHECK(tape.is_recording());
}

TEST_CASE("tapes leave in any order") {
  Ops ops;
  Tensor x = num(3);
  auto a = std::make_unique<Tape>(false);
  Tape b(false);
  a->start();
  b.start();
  a->watch(x);
  b.watch(x);
  a.reset();
  Tensor y = ops(kMul, {x, x});
  CHECK(number(gradient(ops, b, {y}, {x})[0]) == 6);
  CHECK(Frame::current().listeners.empty());
}

TEST_CASE("a frame may end before a tape in it does") {
  Ops ops;
  Tape tape(false);
  Tensor x = num(3), y;
  {
    Frame frame(nullptr);
    tape.start();
    tape.watch(x);
    y = ops(kMul, {x, x});
  }
  CHECK(!tape.is_recording());
  ops(kMul, {y, y});
  CHECK(number(gradient(ops, tape, {y}, {x})[0]) == 6);
}

TEST_CASE("a tape does not hear of ops in an inner frame") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  {
    Frame frame(nullptr);
    CHECK(!tape.is_watched(ops(kMul, {x, x})));
  }
  CHECK(tape.is_recording());
}

TEST_CASE("a tensor that took the place of a dead one is not watched") {
  Ops ops;
  Tape tape(false);
  tape.start();
  for (int i = 0; i < 100; ++i) {
    Tensor x = num(i);
    CHECK(!tape.is_watched(x));
    tape.watch(x);
  }
}

TEST_CASE("gathered rows stay slices, and are concatenated") {
  Ops ops;
  Tensor handle = variable(vec({1, 2, 3, 4}));
  Tape tape(true);
  tape.start();
  tape.watch(handle);
  Tensor table = ops.read(handle);
  Tensor a = ops.sum(ops.gather(table, {1, 1}));
  Tensor b = ops.sum(ops.gather(table, {3}));
  Tensor c = ops.sum(table);
  tape.stop();
  Gradient g = gradient(ops, tape, {a, b}, {handle})[0];
  REQUIRE(g.is_slices());
  CHECK(ints_of(g.slices.indices) == std::vector<int64_t>{3, 1, 1});
  Emitter emit(ops.raw());
  CHECK(values_of(densify(emit, g)) == std::vector<double>{0, 2, 0, 1});
  Gradient dense = gradient(ops, tape, {a, c}, {handle})[0];
  REQUIRE(!dense.is_slices());
  CHECK(values_of(dense.dense) == std::vector<double>{1, 3, 1, 1});
}

TEST_CASE("a gather from a computed tensor gives dense gradients") {
  Ops ops;
  Tensor x = vec({1, 2, 3});
  Tape tape(false);
  tape.start();
  tape.watch(x);
  Tensor y = ops.gather(ops(kMul, {x, num(2)}), {2, 2});
  Gradient g = gradient(ops, tape, {y}, {x})[0];
  REQUIRE(!g.is_slices());
  CHECK(values_of(g.dense) == std::vector<double>{0, 0, 4});
}

TEST_CASE("slices without a dense shape cannot be made a tensor") {
  Ops ops;
  Emitter emit(ops.raw());
  CHECK(!densify(emit, IndexedSlices{vec({1}), ints({0}), {}}));
  CHECK(emit.status().kind() == ErrorKind::kValueError);
}

TEST_CASE("a step with a gradient of its own takes the place of its ops") {
  Ops ops;
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  tape.stop();
  Tensor y = ops(kMul, {x, x}), unused = num(1);
  tape.start();
  int seen = 0;
  tape.record("square", std::vector{x}, std::vector{y, unused},
              [&](Builder& builder, std::span<const Gradient> dy) -> Result<std::vector<Gradient>> {
                ++seen;
                CHECK(dy[1].is_none());
                Emitter emit(builder);
                return std::vector<Gradient>{{emit(kMul, {dy[0].dense, num(10)}), {}}};
              });
  CHECK(number(gradient(ops, tape, {ops(kMul, {y, num(2)})}, {x})[0]) == 20);
  CHECK(seen == 1);
}

TEST_CASE("a step that gives a wrong number of gradients is a ValueError") {
  Ops ops;
  Tensor x = num(3), y = num(9);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  tape.record("f", std::vector{x, num(1)}, std::vector{y},
              [](Builder&, std::span<const Gradient>) -> Result<std::vector<Gradient>> {
                return std::vector<Gradient>(1);
              });
  std::vector<Tensor> targets = {y}, sources = {x};
  CHECK(tape.gradient(targets, sources, {}, ops.raw()).status().kind() == ErrorKind::kValueError);
}

TEST_CASE("a tape keeps what gradients ask for and nothing else") {
  Ops ops;
  Tensor x = vec(std::vector<double>(1000, 0.5));
  Tape tape(false);
  tape.start();
  tape.watch(x);
  int64_t bytes = 8000;
  Tensor a = ops(kExp, {x});  // keeps its output
  CHECK(tape.kept_bytes() == bytes);
  Tensor b = ops(kAddV2, {a, a});  // keeps nothing
  CHECK(tape.kept_bytes() == bytes);
  Tensor c = ops(kSin, {b});  // keeps its input
  CHECK(tape.kept_bytes() == 2 * bytes);
  Tensor d = ops.sum(c);  // keeps its axis and the shape of its input; 8 bytes are kept anyhow
  CHECK(tape.kept_bytes() == 2 * bytes + 8 + 4);
  double e = std::exp(0.5);
  CHECK(values_of(gradient(ops, tape, {d}, {x})[0].dense)[7] ==
        doctest::Approx(2 * e * std::cos(2 * e)));
  CHECK(tape.kept_bytes() == 0);
}

TEST_CASE("a tensor used many times is summed in one fixed order") {
  Ops ops;
  auto run = [&] {
    Tensor x = num(0.1);
    Tape tape(false);
    tape.start();
    tape.watch(x);
    std::vector<Tensor> terms;
    for (int i = 0; i < 50; ++i) terms.push_back(ops(kMul, {x, num(1.0 / (i + 1))}));
    return number(gradient(ops, tape, terms, {x})[0]);
  };
  double expected = 0;
  for (int i = 0; i < 50; ++i) expected += 1.0 / (i + 1);
  CHECK(run() == doctest::Approx(expected).epsilon(1e-14));
  CHECK(run() == run());
}

TEST_CASE("gradient adds nodes to the graph that is being built") {
  Ops ops;
  GraphBuilder builder(make_ref<Graph>("f"));
  Tensor x;
  {
    Frame frame(&builder);
    x = builder.add_placeholder(DType::kFloat64, Shape{Dim::unknown()}, "x");
    Tape tape(false);
    tape.start();
    tape.watch(x);
    Tensor y = ops.sum(ops(kMul, {x, x}));
    Gradient g = gradient(ops, tape, {y}, {x})[0];
    REQUIRE(g.dense);
    CHECK(g.dense.shape() == x.shape());  // the very symbol
    builder.graph()->set_outputs({symbolic(g.dense).output()});
  }
  CHECK(builder.captures().empty());
  std::vector<Tensor> inputs = {vec({1, 2, 3})};
  auto program = plan_program(builder.graph_ref());
  REQUIRE(program.ok());
  Tensors outputs;
  REQUIRE((*program)->run(inputs, outputs).ok());
  CHECK(values_of(outputs[0]) == std::vector<double>{2, 4, 6});
}

}  // namespace
}  // namespace graven::engine::test
