// Gradients of functions element by element, of reductions and of scans.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/autodiff/tape.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"
#include "op_gradients.h"

namespace graven::engine {

TEST_CASE("gradients of unary functions") {
  struct Row {
    const OpHandle<NoAttrs>& op;
    double low, high;
    bool takes_complex = true;
  };
  const Row rows[] = {
      {kNeg, -1, 1},
      {kSquare, -1, 1},
      {kSqrt, 0.5, 2},
      {kRsqrt, 0.5, 2},
      {kReciprocal, 0.5, 2},
      {kInv, 0.5, 2},
      {kExp, -1, 1},
      {kExpm1, -1, 1},
      {kLog, 0.5, 2},
      {kLog1p, -0.4, 1},
      {kSigmoid, -2, 2},
      {kSin, -2, 2},
      {kCos, -2, 2},
      {kTan, -1, 1},
      {kAsin, -0.7, 0.7},
      {kAcos, -0.7, 0.7},
      {kAtan, -0.8, 0.8},
      {kSinh, -1, 1},
      {kCosh, -1, 1},
      {kTanh, -1, 1},
      {kAsinh, 0.2, 0.8},
      {kAcosh, 1.3, 2},
      {kAtanh, -0.7, 0.7},
      {kConj, 0.5, 1},
      {kAbs, 0.2, 1, false},
      {kAbs, -1, -0.2, false},
      {kErf, -1, 1, false},
      {kErfc, -1, 1, false},
      {kErfinv, -0.7, 0.7, false},
      {kNdtri, 0.2, 0.8, false},
      {kLgamma, 0.5, 3, false},
      {kDigamma, 0.5, 3, false},
      {kSign, 0.2, 1},
      {kIdentity, -1, 1},
  };
  for (const Row& row : rows) {
    if (&row.op != &kConj) check(row.op, {random_tensor(kReals, {3}, row.low, row.high)});
    if (row.takes_complex) check(row.op, {random_tensor(kComplexes, {3}, row.low, row.high)});
  }
  for (const auto* op :
       {&kSqrtGrad, &kRsqrtGrad, &kReciprocalGrad, &kInvGrad, &kSigmoidGrad, &kTanhGrad}) {
    for (DType dtype : {kReals, kComplexes}) {
      check(*op, {random_tensor(dtype, {3}, 0.5, 2), random_tensor(dtype, {3}, 0.5, 2)});
    }
  }
}

TEST_CASE("functions that change in steps have no gradient") {
  for (const auto* op : {&kFloor, &kCeil, &kRint, &kRound}) {
    Tensor x = random_tensor(kReals, {3}, 0.1, 0.4), weights = random_tensor(kReals, {3}, 0, 1);
    Case c{**op, Attrs(AttrsRef()), {x}};
    CHECK(!c.gradient({x}, weights)[0]);
  }
}

TEST_CASE("gradients of binary functions, broadcast") {
  struct Row {
    const OpHandle<NoAttrs>& op;
    double low, high;
    bool takes_complex = false;
  };
  const Row rows[] = {
      {kAddV2, -1, 1, true},    {kAdd, -1, 1, true},      {kSub, -1, 1, true},
      {kMul, -1, 1, true},      {kMulNoNan, -1, 1, true}, {kSquaredDifference, -1, 1},
      {kRealDiv, 0.5, 2, true}, {kDiv, 0.5, 2, true},     {kDivNoNan, 0.5, 2, true},
      {kXdivy, 0.5, 2, true},   {kXlogy, 0.5, 2, true},   {kXlog1py, 0.5, 2, true},
      {kMaximum, -1, 1},        {kMinimum, -1, 1},        {kPow, 0.5, 2, true},
      {kAtan2, 0.5, 2},
  };
  const std::pair<Shape, Shape> shapes[] = {
      {{2, 1}, {3}}, {{2, 3}, {2, 3}}, {{}, {2, 2}}, {{1, 2, 1}, {2, 1, 2}}, {{0, 2}, {2}}};
  for (const Row& row : rows) {
    for (const auto& [a, b] : shapes) {
      check(row.op, {random_tensor(kReals, a, row.low, row.high),
                     random_tensor(kReals, b, row.low, row.high)});
      if (!row.takes_complex) continue;
      check(row.op, {random_tensor(kComplexes, a, row.low, row.high),
                     random_tensor(kComplexes, b, row.low, row.high)});
    }
  }
  // Away from the steps of x / y.
  check(kFloorMod, {random_tensor(kReals, {2, 1}, 7.1, 7.4), random_tensor(kReals, {2}, 2.1, 2.2)});
  check(kClipByValue, {random_tensor(kReals, {5}, -1, 1), random_tensor(kReals, {}, -0.3, -0.2),
                       random_tensor(kReals, {}, 0.2, 0.3)});
}

// Whether x or y was broadcast shows only when the graph runs.
TEST_CASE("a traced gradient finds at run time what was broadcast") {
  Ref<Graph> graph(new Graph("f"));
  GraphBuilder builder(graph);
  {
    Frame frame(&builder);
    Tensor x = builder.add_placeholder(kReals, {Dim::unknown()}, "x");
    Tensor y = builder.add_placeholder(kReals, {Dim::unknown()}, "y");
    Tape tape(false);
    tape.start();
    tape.watch(x);
    tape.watch(y);
    auto z = apply(*kMul, std::vector<Tensor>{x, y}, {});
    REQUIRE(z.ok());
    std::vector<Tensor> sources = {x, y};
    auto dx = tape.gradient({&(*z)[0], 1}, sources, {}, current_builder());
    REQUIRE_MESSAGE(dx.ok(), dx.status().message());
    auto ref = [](const Tensor& t) { return symbolic(t).output(); };
    graph->set_outputs({ref((*dx)[0].dense), ref((*dx)[1].dense)});
  }
  auto program = plan_program(graph);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  auto run = [&](const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<Tensor> inputs = {Tensor::vector<double>(x), Tensor::vector<double>(y)};
    Tensors outputs;
    Status status = (*program)->run(inputs, outputs);
    REQUIRE_MESSAGE(status.ok(), status.message());
    return outputs;
  };
  Tensors dx = run({2}, {3, 4, 5});
  CHECK(dx[0].shape() == Shape({1}));
  CHECK(dx[0].item<double>() == 12);
  CHECK(dx[1].shape() == Shape({3}));
  CHECK(dx[1].data<double>()[2] == 2);
  dx = run({1, 2}, {3, 4});
  CHECK(dx[0].data<double>()[1] == 4);
  CHECK(dx[1].data<double>()[1] == 2);
}

TEST_CASE("gradients of functions with a series, in the argument that has one") {
  Tensor order = Tensor::vector<double>(std::vector<double>{1, 2, 3});
  Tensor x = random_tensor(kReals, {3}, 1.5, 3), weights = random_tensor(kReals, {3}, 0.5, 1);
  for (const auto* op : {&kZeta, &kPolygamma}) {
    Tensor first = op == &kZeta ? random_tensor(kReals, {3}, 2, 3) : order;
    Case c{**op, Attrs(AttrsRef()), {first, x}};
    std::vector<Tensor> dx = c.gradient({first, x}, weights);
    CHECK(!dx[0]);
    for (int i = 0; i < 3; ++i) {
      Tensor above = copy(x), below = copy(x);
      parts(above)[i] += 1e-5;
      parts(below)[i] -= 1e-5;
      double difference = weighted_sum(weights, c.value({first, above})) -
                          weighted_sum(weights, c.value({first, below}));
      CHECK(parts(dx[1])[i] == doctest::Approx(difference / 2e-5).epsilon(1e-6));
    }
  }
}

TEST_CASE("gradients of complex numbers and their parts") {
  RealPartAttrs part = {.Tout = DType::kFloat64};
  for (const auto* op : {&kReal, &kImag, &kAngle, &kComplexAbs}) {
    check(*op, {random_tensor(kComplexes, {3}, 0.5, 1)}, part);
  }
  check(kComplex, {random_tensor(kReals, {2, 1}, -1, 1), random_tensor(kReals, {3}, -1, 1)},
        {.Tout = DType::kComplex128});
}

TEST_CASE("gradients of choices") {
  Tensor condition = *Tensor::allocate(DType::kBool, {2, 1});
  condition.mutable_data<bool>()[0] = true;
  condition.mutable_data<bool>()[1] = false;
  check(kSelectV2,
        {condition, random_tensor(kReals, {3}, -1, 1), random_tensor(kReals, {2, 3}, -1, 1)});
  check(kSelect, {condition.with_shape({2}), random_tensor(kReals, {2, 3}, -1, 1),
                  random_tensor(kReals, {2, 3}, -1, 1)});
}

TEST_CASE("gradients of sums, over any axes, with and without keeping them") {
  Tensor x = random_tensor(kReals, {2, 3, 2}, -1, 1);
  for (bool keep_dims : {false, true}) {
    for (const std::vector<int32_t>& axes :
         {std::vector<int32_t>{}, {0}, {-1, 0}, {1}, {0, 1, 2}}) {
      check(kSum, {x, ints(axes)}, {.keep_dims = keep_dims});
    }
    check(kSum, {x, Tensor::scalar(int32_t{1})}, {.keep_dims = keep_dims});
  }
}

TEST_CASE("gradients of reductions, over any axes, with and without keeping them") {
  Tensor x = random_tensor(kReals, {2, 3, 2}, 0.5, 1.5);
  Tensor z = random_tensor(kComplexes, {2, 3}, 0.5, 1.5);
  for (bool keep_dims : {false, true}) {
    for (const auto* op : {&kMean, &kProd, &kMax, &kMin, &kEuclideanNorm}) {
      for (const std::vector<int32_t>& axes : {std::vector<int32_t>{-1, 0}, {1}, {0, 1, 2}}) {
        check(*op, {x, ints(axes)}, {.keep_dims = keep_dims});
      }
    }
    check(kMean, {z, ints({0})}, {.keep_dims = keep_dims});
    check(kProd, {z, ints({1})}, {.keep_dims = keep_dims});
  }
}

TEST_CASE("the gradient of a product with zeros, and of extrema that are equal") {
  Tensor x = *Tensor::allocate(kReals, {3, 3});
  std::ranges::copy(std::vector<double>{0, 2, 3, 0, 5, 0, 1, 4, 4},
                    x.mutable_data<double>().begin());
  Tensor ones = *Tensor::allocate(kReals, {3});
  std::ranges::fill(ones.mutable_data<double>(), 1.0);
  auto gradient = [&](const OpHandle<ReductionAttrs>& op) {
    Case c{*op, Attrs(ReductionAttrs()), {x, ints({1})}};
    Tensor dx = c.gradient({x}, ones)[0];
    return std::vector<double>(parts(dx).begin(), parts(dx).end());
  };
  CHECK(gradient(kProd) == std::vector<double>{6, 0, 0, 0, 0, 0, 16, 4, 4});
  CHECK(gradient(kMax) == std::vector<double>{0, 0, 1, 0, 1, 0, 0, 0.5, 0.5});
  CHECK(gradient(kMin) == std::vector<double>{1, 0, 0, 0.5, 0, 0.5, 1, 0, 0});
}

TEST_CASE("gradients of running sums, products and logarithms of sums") {
  Tensor x = random_tensor(kReals, {3, 4}, 0.5, 1.5);
  for (int i = 0; i < 4; ++i) {
    const ScanAttrs attrs = {.exclusive = (i & 1) != 0, .reverse = (i & 2) != 0};
    check(kCumsum, {x, Tensor::scalar(int32_t{1})}, attrs);
    check(kCumprod, {x, Tensor::scalar(int32_t{0})}, attrs);
    check(kCumulativeLogsumexp, {x, Tensor::scalar(int32_t{-1})}, {.reverse = attrs.reverse});
  }
  check(kCumprod, {random_tensor(kComplexes, {3}, 0.5, 1), Tensor::scalar(int32_t{0})});
  check(kL2Loss, {x});
}

}  // namespace graven::engine
