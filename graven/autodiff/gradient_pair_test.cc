#include "graven/autodiff/gradient_pair.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "graven/autodiff/tape.h"
#include "graven/autodiff/testing.h"
#include "graven/ir/testing.h"
#include "graven/ops/debug_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/tensor_list_ops.h"

namespace graven::engine::test {
namespace {

const std::pair<DType, Shape> kScalar = {DType::kFloat64, Shape()};
const std::pair<DType, Shape> kVector = {DType::kFloat64, Shape{Dim::unknown()}};

int count(const Graph& graph, std::string_view op) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                        [&](const Node* node) { return node->op().name() == op; }));
}

Ref<GradientPair> pair_of(const Ref<Body>& body) {
  auto pair = gradient_pair(body);
  REQUIRE_MESSAGE(pair.ok(), pair.status().message());
  return *pair;
}

void print(Ops& ops) {
  ops(kPrintV2, {ops.constant(Tensor::string_scalar("printed"))},
      {.output_stream = PrintedFile::stream()});
}

// The first `order` derivatives of a function of one scalar.
std::vector<double> derivatives(Ops& ops, const Ref<Body>& body, double at, int order) {
  Tensor x = num(at);
  std::vector<std::unique_ptr<Tape>> tapes;
  for (int i = 0; i < order; ++i) {
    tapes.push_back(std::make_unique<Tape>(false));
    tapes.back()->start();
    tapes.back()->watch(x);
  }
  Tensor y = ops.call(body, {x});
  std::vector<double> result;
  for (; !tapes.empty(); tapes.pop_back()) {
    y = gradient(ops, *tapes.back(), {y}, {x})[0].dense;
    result.push_back(y.item<double>());
  }
  return result;
}

TEST_CASE("a call without a tape runs the body itself") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) { return std::vector{ops(kMul, {x[0], x[0]})}; });
  std::vector<Tensor> x = {num(3)};
  REQUIRE(eager_builder().call(body, x).ok());  // makes its Program
  int64_t bytes = body->bytes();
  CHECK(ops.call(body, x).item<double>() == 9);
  CHECK(body->bytes() == bytes);  // no pair was built
}

TEST_CASE("the gradient of a call is that of its body, and its bytes are counted") {
  Ops ops;
  auto body = ops.trace({kScalar, kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {ops(kMul, {x[0], x[0]}), x[1]})};
  });
  int64_t bytes = body->bytes();
  Tensor x = num(3), w = num(5);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  tape.watch(w);
  Tensor y = ops.call(body, {x, w});
  CHECK(y.item<double>() == 45);
  auto g = gradient(ops, tape, {y}, {x, w});
  CHECK(number(g[0]) == 30);
  CHECK(number(g[1]) == 9);
  CHECK(body->bytes() > bytes);
}

TEST_CASE("halves are named after the body, and built once") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) { return std::vector{ops(kExp, {x[0]})}; });
  auto pair = pair_of(body);
  CHECK(pair_of(body) == pair);
  CHECK(pair->forward()->name().starts_with("__forward_f_"));
  auto half = pair->backward({true});
  REQUIRE(half.ok());
  CHECK((*half)->body->name().starts_with("__backward_f_"));
  CHECK(*pair->backward({true}) == *half);
  CHECK(pair->num_outputs() == 1);
}

TEST_CASE("derivatives of a call of every order") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kSin, {ops(kMul, {ops(kExp, {x[0]}), x[0]})})};
  });
  double t = 0.4, e = std::exp(t), u = t * e, u1 = e * (t + 1), u2 = e * (t + 2), u3 = e * (t + 3);
  auto d = derivatives(ops, body, t, 3);
  CHECK(d[0] == doctest::Approx(std::cos(u) * u1));
  CHECK(d[1] == doctest::Approx(-std::sin(u) * u1 * u1 + std::cos(u) * u2));
  CHECK(d[2] == doctest::Approx(-std::cos(u) * u1 * u1 * u1 - 3 * std::sin(u) * u1 * u2 +
                                std::cos(u) * u3));
}

TEST_CASE("the pair of a forward half has the same halves, and side outputs are closed") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kSin, {ops(kMul, {ops(kExp, {x[0]}), x[0]})})};
  });
  auto pair = pair_of(body), again = pair_of(pair->forward());
  CHECK(again->forward() == pair->forward());
  auto num_forward = pair->forward()->graph()->outputs().size();
  CHECK(again->num_outputs() == static_cast<int>(num_forward));
  auto all = again->backward(std::vector<bool>(num_forward, true));
  REQUIRE(all.ok());
  for (int output : (*all)->side_values) CHECK(output < static_cast<int>(num_forward));
  CHECK(pair->forward()->graph()->outputs().size() == num_forward);
}

TEST_CASE("a call gives zeros where only its other outputs depend, and integers have no gradient") {
  Ops ops;
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar, kScalar},
      [&](auto& x) {
        return std::vector{ops(kMul, {x[0], x[0]}), ops(kMul, {x[1], num(5)}),
                           ops(kCast, {x[0]}, {DType::kInt32})};
      },
      &captured);
  Tensor x = num(3), w = num(4);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  tape.watch(w);
  auto y = ops.call_all(body, {x, w, captured[0]});
  tape.stop();
  auto first = gradient(ops, tape, {y[0]}, {x, w}), second = gradient(ops, tape, {y[1]}, {x, w});
  CHECK(number(first[0]) == 6);
  CHECK(number(first[1]) == 0);
  CHECK(number(second[0]) == 0);
  CHECK(number(second[1]) == 5);
  CHECK(gradient(ops, tape, {y[2]}, {x})[0].is_none());
}

TEST_CASE("effects and random numbers of the forward half happen once") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    Tensor shape = ops.constant(*Tensor::allocate(DType::kInt32, Shape{0}));
    Tensor r = ops(kRandomUniform, {shape}, {.seed = 1, .dtype = DType::kFloat64});
    print(ops);
    Tensor y = ops(kMul, {ops(kSin, {x[0]}), r});
    return std::vector{y, r};
  });
  PrintedFile file;
  Tensor x = num(0.4);
  Tape outer(false), inner(false);
  outer.start();
  outer.watch(x);
  inner.start();
  inner.watch(x);
  auto y = ops.call_all(body, {x});
  const double r = y[1].item<double>();
  Tensor first = gradient(ops, inner, {y[0]}, {x})[0].dense;
  CHECK(y[0].item<double>() == doctest::Approx(r * std::sin(0.4)));
  CHECK(first.item<double>() == doctest::Approx(r * std::cos(0.4)));
  CHECK(number(gradient(ops, outer, {first}, {x})[0]) == doctest::Approx(-r * std::sin(0.4)));
  CHECK(file.text() == "printed\n");
  auto half = pair_of(body)->backward({true, false});
  REQUIRE(half.ok());
  CHECK(!(*half)->body->effects().stateful);
}

TEST_CASE("variables get gradients through their handles, with what is known of them") {
  Ops ops;
  Tensor handle = variable(vec({2, 3}));
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kScalar},
      [&](auto& x) {
        Tensor v = ops.read(handle);
        return std::vector{ops.sum(ops(kMul, {ops(kMul, {v, v}), x[0]}))};
      },
      &captured);
  REQUIRE(captured == std::vector{handle});
  const auto& data = pair_of(body)->forward()->graph()->inputs()[1]->output(0).handle_data;
  REQUIRE(data);
  CHECK(data->value().shape == Shape{2});
  Tensor x = num(10);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  tape.watch(handle);
  auto g = gradient(ops, tape, {ops.call(body, {x, handle})}, {x, handle});
  CHECK(number(g[0]) == 13);
  CHECK(values_of(g[1].dense) == std::vector<double>{40, 60});
}

TEST_CASE("an input that is only gathered from has a sparse gradient") {
  Ops ops;
  auto gathered = [&](const Tensor& table, std::vector<int32_t> ids) {
    return ops.sum(ops.gather(table, std::move(ids)));
  };
  std::vector<Tensor> captured;
  auto body = ops.trace(
      {kVector},
      [&](auto& x) {
        return std::vector{ops(kAddV2, {gathered(x[0], {1, 1}), gathered(x[0], {3})})};
      },
      &captured);
  Tensor x = vec({1, 2, 3, 4});
  Tape tape(false);
  tape.start();
  tape.watch(x);
  std::vector<Tensor> inputs = {x};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  Gradient g = gradient(ops, tape, {ops.call(body, inputs)}, {x})[0];
  REQUIRE(g.is_slices());
  auto rows = ints_of(g.slices.indices);
  std::sort(rows.begin(), rows.end());
  CHECK(rows == std::vector<int64_t>{1, 1, 3});
  CHECK(ints_of(g.slices.dense_shape) == std::vector<int64_t>{4});
}

TEST_CASE("nested calls are differentiated through their own pairs") {
  Ops ops;
  auto inner = ops.trace({kScalar}, [&](auto& x) {
    print(ops);
    return std::vector{ops(kSin, {ops(kExp, {x[0]})})};
  });
  auto outer = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {ops.call(inner, {x[0]}), x[0]})};
  });
  PrintedFile file;
  double t = 0.3, e = std::exp(t), s = std::sin(e), c = std::cos(e);
  auto d = derivatives(ops, outer, t, 2);
  CHECK(d[0] == doctest::Approx(s + t * c * e));
  CHECK(d[1] == doctest::Approx(2 * c * e + t * (c * e - s * e * e)));
  CHECK(file.text() == "printed\n");
  bool calls_forward = false;
  for (const Node* node : pair_of(outer)->forward()->graph()->nodes()) {
    if (node->op().name() != "StatefulPartitionedCall") continue;
    calls_forward = node->attrs().as<CallAttrs>().f == pair_of(inner)->forward();
  }
  CHECK(calls_forward);
}

TEST_CASE("a tape inside a trace is differentiated with the trace") {
  Ops ops;
  auto inner = ops.trace({kScalar}, [&](auto& x) { return std::vector{ops(kSin, {x[0]})}; });
  auto derivative = ops.trace({kScalar}, [&](auto& x) {
    Tape tape(false);
    tape.start();
    tape.watch(x[0]);
    Tensor y = ops(kMul, {ops.call(inner, {x[0]}), x[0]});
    return std::vector{gradient(ops, tape, {y}, {x[0]})[0].dense};
  });
  double t = 0.7;
  CHECK(ops.call(derivative, {num(t)}).item<double>() ==
        doctest::Approx(std::sin(t) + t * std::cos(t)));
  auto d = derivatives(ops, derivative, t, 2);
  CHECK(d[0] == doctest::Approx(2 * std::cos(t) - t * std::sin(t)));
  CHECK(d[1] == doctest::Approx(-3 * std::sin(t) - t * std::cos(t)));
}

TEST_CASE("constants are copied and shapes handed over as shapes") {
  Ops ops;
  auto body = ops.trace({kVector}, [&](auto& x) {
    Emitter emit(*Frame::current().graph_builder());
    return std::vector{ops.sum(ops(kMul, {x[0], emit.constant(num(3))}))};
  });
  auto half = pair_of(body)->backward({true});
  REQUIRE(half.ok());
  const Graph& backward = *(*half)->body->graph();
  CHECK(std::ranges::count_if(backward.nodes(), [](const Node* node) {
          return node->op().name() == "Const" && node->output(0).dtype == DType::kFloat64 &&
                 node->attrs().as<ConstAttrs>().value.item<double>() == 3;
        }) == 1);
  // A zero for the constant, so that a gradient of this gradient is zero, and not none.
  REQUIRE((*half)->side_values.size() == 2);
  CHECK(backward.inputs()[2]->output(0).shape == Shape());
  const Node* side = backward.inputs()[1];
  CHECK(side->output(0).dtype == DType::kInt32);
  // The symbol of the size is one and the same in the gradient's shape.
  REQUIRE(side->output(0).sizes);
  OutputRef dx = backward.outputs()[(*half)->gradients[0].dense];
  CHECK(dx.node->output(dx.index).shape[0] == (*side->output(0).sizes)[0]);
  CHECK(dx.node->output(dx.index).shape[0].is_term());
}

TEST_CASE("static and symbolic shapes agree between side values and gradients") {
  Ops ops;
  auto body = ops.trace({kVector}, [&](auto& x) {
    return std::vector{ops(kMul, {ops(kExp, {x[0]}), x[0]})};
  });
  auto half = pair_of(body)->backward({true});
  REQUIRE(half.ok());
  const Graph& backward = *(*half)->body->graph();
  Dim n = backward.inputs()[0]->output(0).shape[0];
  CHECK(n.is_term());
  for (const Node* input : backward.inputs()) CHECK(input->output(0).shape[0] == n);
  OutputRef dx = backward.outputs()[0];
  CHECK(dx.node->output(dx.index).shape == Shape{n});
}

TEST_CASE("composites that stay nodes are differentiated by their parts") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops.raw().apply(*kSquareSin, std::vector{x[0]}, NoAttrs()).value()[0]};
  });
  REQUIRE(count(*body->graph(), "TestSquareSin") == 1);
  CHECK(derivatives(ops, body, 0.4, 1)[0] == doctest::Approx(std::sin(0.8)));
  CHECK(count(*pair_of(body)->forward()->graph(), "TestSquareSin") == 0);
  CHECK(count(*body->graph(), "TestSquareSin") == 1);  // the body does not change
}

TEST_CASE("a gradient of one of two outputs works whatever the other's shape") {
  Ops ops;
  auto body = ops.trace({kVector}, [&](auto& x) {
    Tensor axis = ops.constant(Tensor::scalar<int32_t>(0));
    auto halves = ops.raw().apply(*kSplit, std::vector{axis, x[0]}, SplitAttrs{2}).value();
    return std::vector{ops(kSin, {halves[0]}), ops(kExp, {halves[1]})};
  });
  Tensor x = vec({0.5, 1});
  Tape tape(true);
  tape.start();
  tape.watch(x);
  auto y = ops.call_all(body, {x});
  tape.stop();
  auto first = values_of(gradient(ops, tape, {y[0]}, {x})[0].dense);
  auto second = values_of(gradient(ops, tape, {y[1]}, {x})[0].dense);
  CHECK(first[0] == doctest::Approx(std::cos(0.5)));
  CHECK(first[1] == 0);
  CHECK(second[0] == 0);
  CHECK(second[1] == doctest::Approx(std::exp(1)));
}

TEST_CASE("an op without gradient in a body is an error only for who asks") {
  Ops ops;
  auto body = ops.trace({kScalar, kScalar}, [&](auto& x) {
    return std::vector{ops(kMod, {x[0], ops.constant(num(2))}), ops(kSin, {x[1]})};
  });
  Tensor x = num(1), w = num(2);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  tape.watch(w);
  auto y = ops.call_all(body, {x, w});
  tape.stop();
  CHECK(number(gradient(ops, tape, {y[1]}, {w})[0]) == doctest::Approx(std::cos(2)));
  std::vector<Tensor> targets = {y[0]}, sources = {x};
  auto result = tape.gradient(targets, sources, {}, ops.raw());
  REQUIRE(!result.ok());
  CHECK(result.status().kind() == ErrorKind::kLookupError);
  CHECK(result.status().message() ==
        "No gradient defined for operation 'Mod' (op type: Mod). See "
        "docs/errors/no-gradient.md");
}

TEST_CASE("an op that stops the flow stops it in a body") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {x[0], ops(kStopGradient, {x[0]})})};
  });
  CHECK(derivatives(ops, body, 3, 1)[0] == 3);
}

TEST_CASE("a body that returns its input passes gradients through") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) { return std::vector{x[0]}; });
  Tensor x = num(3);
  Tape tape(false);
  tape.start();
  tape.watch(x);
  Tensor y = ops(kMul, {ops.call(body, {x}), x});
  CHECK(number(gradient(ops, tape, {y}, {x})[0]) == 6);
}

TEST_CASE("a persistent tape differentiates its own gradient of a call") {
  Ops ops;
  auto body = ops.trace({kScalar}, [&](auto& x) {
    return std::vector{ops(kMul, {ops(kMul, {x[0], x[0]}), x[0]})};
  });
  Tensor x = num(3);
  Tape tape(true);
  tape.start();
  tape.watch(x);
  Tensor y = ops.call(body, {x});
  Tensor first = gradient(ops, tape, {y}, {x})[0].dense;
  Tensor second = gradient(ops, tape, {first}, {x})[0].dense;
  CHECK(first.item<double>() == 27);
  CHECK(second.item<double>() == 18);
}

TEST_CASE("neither bodies nor pairs keep each other alive") {
  Ops ops;
  struct Probe : Location {
    explicit Probe(bool* d) : dead(d) {}
    ~Probe() override { *dead = true; }
    std::vector<SourceFrame> frames() const override { return {}; }
    bool* dead;
  };
  bool dead = false;
  {
    auto body = ops.trace({kScalar}, [&](auto& x) { return std::vector{ops(kSin, {x[0]})}; });
    GraphBuilder builder(make_ref<Graph>("g"));
    {
      Frame frame(&builder);
      Tensor x = builder.add_placeholder(DType::kFloat64, Shape(), "x");
      Tensor y = ops.call(body, {x});
      builder.graph()->set_outputs({symbolic(y).output()});
      builder.graph()->add({.op = kIdentity.op,
                            .attrs = {},
                            .name = "probe",
                            .inputs = std::vector{symbolic(y).output()},
                            .outputs = {},
                            .location = make_ref<Probe>(&dead)});
    }
    auto outer = Body::create("__inference_g_1", builder.graph_ref());
    derivatives(ops, outer, 0.5, 2);
    CHECK(!dead);
  }
  CHECK(dead);
}

TEST_CASE("the backward half of a read of a list gets the length of the list, not the list") {
  Ops ops;
  auto body = ops.trace({{DType::kFloat64, Shape{3}}, {DType::kInt32, Shape()}}, [&](auto& x) {
    Tensor any = ops.constant(Tensor::scalar<int32_t>(-1));
    Tensor list = ops(kTensorListFromTensor, {x[0], any});
    list = ops(kTensorListSetItem, {list, x[1], ops.constant(num(4))});
    return std::vector{ops(kTensorListGetItem, {list, x[1], any}, {DType::kFloat64})};
  });
  Ref<GradientPair> pair = pair_of(body);
  for (OutputRef output : pair->forward()->graph()->outputs()) {
    CHECK(output.node->output(output.index).dtype != DType::kVariant);
  }
}

}  // namespace
}  // namespace graven::engine::test
