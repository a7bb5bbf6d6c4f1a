// Gradients of ops against differences of their values, first and second order. A complex number
// counts as its two parts; the gradient is dL/d(real) + i dL/d(imag), as TensorFlow has it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "graven/autodiff/tape.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/diagonal_ops.h"
#include "graven/ops/einsum_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/partition_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/segment_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/space_ops.h"
#include "graven/ops/structural_ops.h"
#include "graven/ops/variable_ops.h"
#include "graven/runtime/eager_builder.h"
#include "graven/runtime/program.h"
#include "graven/runtime/variable.h"

namespace graven::engine {
namespace {

std::mt19937_64 generator(7);

Tensor random_tensor(DType dtype, const Shape& shape, double low, double high) {
  Tensor made = *Tensor::allocate(dtype, shape);
  std::uniform_real_distribution<double> uniform(low, high);
  auto* to = static_cast<double*>(made.mutable_raw_data());
  int64_t parts = made.num_elements() * (is_complex(dtype) ? 2 : 1);
  for (int64_t i = 0; i < parts; ++i) to[i] = uniform(generator);
  return made;
}
Tensor ints(const std::vector<int32_t>& values) { return Tensor::vector<int32_t>(values); }

// All parts of a float64 or complex128 tensor.
std::span<double> parts(const Tensor& x) {
  return {static_cast<double*>(x.mutable_raw_data()),
          static_cast<size_t>(x.num_elements() * (is_complex(x.dtype()) ? 2 : 1))};
}
Tensor copy(const Tensor& x) {
  Tensor made = *Tensor::allocate(x.dtype(), x.shape());
  std::copy_n(parts(x).begin(), parts(x).size(), parts(made).begin());
  return made;
}

// The whole tensor of which slices are given.
Tensor dense(const IndexedSlices& slices) {
  Tensor rows = Tensor::scalar(slices.dense_shape.data<int32_t>()[0]);
  auto sum = apply(*kUnsortedSegmentSum, std::vector<Tensor>{slices.values, slices.indices, rows},
                   AttrsRef());
  REQUIRE_MESSAGE(sum.ok(), sum.status().message());
  return (*sum)[0];
}

bool is_wanted(const Tensor& x) {
  return x.dtype() == DType::kFloat64 || x.dtype() == DType::kComplex128;
}

// What is differentiated: an op with attributes, applied to inputs of which the float64 and
// complex128 ones vary.
struct Case {
  const Op& op;
  Attrs attrs;
  std::vector<Tensor> inputs;

  std::vector<Tensor> varied() const {
    std::vector<Tensor> x;
    for (const Tensor& input : inputs) {
      if (is_wanted(input)) x.push_back(input);
    }
    return x;
  }
  Tensor value(const std::vector<Tensor>& x) const {
    std::vector<Tensor> all = inputs;
    size_t next = 0;
    for (Tensor& input : all) {
      if (is_wanted(input)) input = x[next++];
    }
    auto y = apply(op, all, attrs);
    REQUIRE_MESSAGE(y.ok(), op.name(), ": ", y.status().message());
    return (*y)[0];
  }
  // The gradients of sum(weights * value), by the tape.
  std::vector<Tensor> gradient(const std::vector<Tensor>& x, const Tensor& weights) const {
    Tape tape(/*persistent=*/false);
    tape.start();
    for (const Tensor& input : x) tape.watch(input);
    Tensor y = value(x);
    auto result = tape.gradient({&y, 1}, x, {&weights, 1}, current_builder());
    REQUIRE_MESSAGE(result.ok(), op.name(), ": ", result.status().message());
    std::vector<Tensor> dx;
    for (size_t i = 0; i < x.size(); ++i) {
      const Gradient& gradient = (*result)[i];
      dx.push_back(gradient.is_slices() ? dense(gradient.slices) : gradient.dense);
      if (dx.back()) REQUIRE(dx.back().shape() == x[i].shape());
    }
    return dx;
  }
};

double weighted_sum(const Tensor& weights, const Tensor& y) {
  double sum = 0;
  for (size_t i = 0; i < parts(y).size(); ++i) sum += parts(weights)[i] * parts(y)[i];
  return sum;
}

// The gradient by differences of `loss`, compared with dx; an absent dx stands for zeros.
template <typename Loss>
void compare(const Case& c, const std::vector<Tensor>& dx, const Loss& loss,
             std::string_view what) {
  constexpr double kStep = 1e-5;
  std::vector<Tensor> x = c.varied();
  for (size_t k = 0; k < x.size(); ++k) {
    for (size_t i = 0; i < parts(x[k]).size(); ++i) {
      std::vector<Tensor> moved = x;
      moved[k] = copy(x[k]);
      parts(moved[k])[i] += kStep;
      double above = loss(moved);
      moved[k] = copy(x[k]);
      parts(moved[k])[i] -= kStep;
      double expected = (above - loss(moved)) / (2 * kStep);
      double got = dx[k] ? parts(dx[k])[i] : 0;
      INFO(what, " of ", c.op.name(), " in input ", k, ", part ", i, ", at ", parts(x[k])[i]);
      CHECK(got == doctest::Approx(expected).epsilon(2e-6));
    }
  }
}

template <typename A>
void check(const OpHandle<A>& op, std::vector<Tensor> inputs,
           const std::type_identity_t<A>& attrs = {}) {
  Case c{*op, Attrs(AttrsRef(attrs)), std::move(inputs)};
  std::vector<Tensor> x = c.varied();
  Tensor y = c.value(x);
  Tensor weights = random_tensor(y.dtype(), y.shape(), 0.5, 1.5);
  std::vector<Tensor> dx = c.gradient(x, weights);
  compare(
      c, dx, [&](const std::vector<Tensor>& at) { return weighted_sum(weights, c.value(at)); },
      "the gradient");

  // The second order: the gradients of the gradients.
  std::vector<Tensor> seeds;
  for (const Tensor& input : x) {
    seeds.push_back(random_tensor(input.dtype(), input.shape(), 0.5, 1.5));
  }
  Tape outer(/*persistent=*/true);
  outer.start();
  for (const Tensor& input : x) outer.watch(input);
  std::vector<Tensor> first = c.gradient(x, weights), targets, target_seeds;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!first[i]) continue;
    targets.push_back(first[i]);
    target_seeds.push_back(seeds[i]);
  }
  auto second = outer.gradient(targets, x, target_seeds, current_builder());
  outer.stop();
  REQUIRE_MESSAGE(second.ok(), op.op->name(), ": ", second.status().message());
  std::vector<Tensor> ddx;
  for (const Gradient& gradient : *second) {
    ddx.push_back(gradient.is_slices() ? dense(gradient.slices) : gradient.dense);
  }
  compare(
      c, ddx,
      [&](const std::vector<Tensor>& at) {
        std::vector<Tensor> moved = c.gradient(at, weights);
        double sum = 0;
        for (size_t i = 0; i < moved.size(); ++i) {
          if (moved[i]) sum += weighted_sum(seeds[i], moved[i]);
        }
        return sum;
      },
      "the second gradient");
}

constexpr DType kReals = DType::kFloat64, kComplexes = DType::kComplex128;

}  // namespace

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

TEST_CASE("gradients of structural ops") {
  Tensor x = random_tensor(kReals, {2, 3}, -1, 1);
  check(kAddN, {x, random_tensor(kReals, {2, 3}, -1, 1), copy(x)});
  check(kReshape, {x, ints({3, -1})});
  check(kBroadcastTo, {random_tensor(kReals, {2, 1}, -1, 1), ints({4, 2, 3})});
  check(kFill, {ints({2, 2}), random_tensor(kReals, {}, -1, 1)});
  check(kCast, {x}, {.DstT = DType::kComplex128});
  check(kCast, {random_tensor(kComplexes, {2}, -1, 1)}, {.DstT = DType::kFloat64});
  check(kEnsureShape, {x}, {.shape = Shape({2, 3})});
}

TEST_CASE("gradients of segments, partitions and sequences") {
  Tensor x = random_tensor(kReals, {4, 3}, 0.5, 1.5), z = random_tensor(kComplexes, {4}, 0.5, 1);
  const Tensor sorted = ints({0, 0, 1, 1}), ids = ints({1, 0, -1, 1}),
               two = ints({2}).with_shape({});
  for (const auto* op : {&kSegmentSum, &kSegmentMean, &kSegmentProd, &kSegmentMin, &kSegmentMax}) {
    check(*op, {x, sorted});
  }
  for (const auto* op : {&kSegmentSum, &kSegmentMean, &kSegmentProd}) check(*op, {z, sorted});
  for (const auto* op :
       {&kUnsortedSegmentSum, &kUnsortedSegmentProd, &kUnsortedSegmentMin, &kUnsortedSegmentMax}) {
    check(*op, {x, ids, two});
  }
  check(kUnsortedSegmentProd, {z, ids, two});
  check(kDynamicPartition, {x, sorted}, {.num_partitions = 2});
  for (const auto* op : {&kDynamicStitch, &kParallelDynamicStitch}) {
    check(*op, {ints({5, 2, 0, 1}), ints({4, 3, 6, 7}), x, random_tensor(kReals, {4, 3}, 0, 1)});
  }
  check(kReverseSequence, {x, ints({2, 0, 3, 1})}, {.seq_dim = 1});
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

TEST_CASE("gradients of matrix products, transposed in any way") {
  for (DType dtype : {kReals, kComplexes}) {
    for (int i = 0; i < 4; ++i) {
      MatMulAttrs attrs = {.transpose_a = (i & 1) != 0, .transpose_b = (i & 2) != 0};
      check(kMatMul,
            {random_tensor(dtype, attrs.transpose_a ? Shape{2, 3} : Shape{3, 2}, -1, 1),
             random_tensor(dtype, attrs.transpose_b ? Shape{4, 2} : Shape{2, 4}, -1, 1)},
            attrs);
    }
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

TEST_CASE("gradients of batched matrix products, that broadcast or not") {
  for (DType dtype : {kReals, kComplexes}) {
    for (int i = 0; i < 4; ++i) {
      BatchMatMulAttrs attrs = {.adj_x = (i & 1) != 0, .adj_y = (i & 2) != 0};
      check(kBatchMatMulV2,
            {random_tensor(dtype, attrs.adj_x ? Shape{2, 1, 2, 3} : Shape{2, 1, 3, 2}, -1, 1),
             random_tensor(dtype, attrs.adj_y ? Shape{3, 1, 2} : Shape{3, 2, 1}, -1, 1)},
            attrs);
    }
  }
}

TEST_CASE("gradients of activations and biases") {
  Tensor x = random_tensor(kReals, {3, 4}, -2, 2), dy = random_tensor(kReals, {3, 4}, -1, 1);
  for (const auto* op : {&kRelu, &kRelu6, &kElu, &kSelu, &kSoftplus, &kSoftsign}) check(*op, {x});
  for (const auto* op :
       {&kReluGrad, &kRelu6Grad, &kEluGrad, &kSeluGrad, &kSoftplusGrad, &kSoftsignGrad}) {
    check(*op, {dy, x});
  }
  check(kLeakyRelu, {x}, {.alpha = 0.3f});
  check(kLeakyReluGrad, {dy, x}, {.alpha = 0.3f});
  check(kBiasAdd, {x, random_tensor(kReals, {4}, -1, 1)});
  check(kBiasAddV1, {x, random_tensor(kReals, {4}, -1, 1)});
  Tensor images = random_tensor(kReals, {2, 3, 2, 2}, -1, 1);
  check(kBiasAdd, {images, random_tensor(kReals, {3}, -1, 1)}, {.data_format = "NCHW"});
  check(kBiasAddGrad, {images});
  check(kBiasAddGrad, {images}, {.data_format = "NCHW"});
}

TEST_CASE("gradients of functions of images") {
  check(kRGBToHSV, {random_tensor(kReals, {4, 3}, 0.5, 1)});
  Tensor images = random_tensor(kReals, {2, 3, 4, 2}, -1, 1);
  for (bool is_centered : {false, true}) {
    const ResizeAttrs attrs = {.half_pixel_centers = is_centered};
    check(kResizeNearestNeighbor, {images, ints({5, 3})}, attrs);
    check(kResizeNearestNeighborGrad, {images, ints({2, 5})}, attrs);
  }
  check(
      kExtractImagePatches, {images},
      {.ksizes = {1, 2, 2, 1}, .strides = {1, 1, 2, 1}, .rates = {1, 2, 1, 1}, .padding = "SAME"});
}

TEST_CASE("gradients of softmax and cross entropies") {
  Tensor x = random_tensor(kReals, {2, 4}, -2, 2);
  check(kSoftmax, {x});
  check(kLogSoftmax, {x});
  check(kSparseSoftmaxCrossEntropyWithLogits, {x, ints({3, 1})});
  // The gradient of the logits is that for labels whose sum is 1.
  for (const Shape& shape : {Shape{2, 4}, Shape{1, 4}}) {
    Tensor labels =
        (*apply(*kSoftmax, std::vector<Tensor>{random_tensor(kReals, shape, 0, 1)}, {}))[0];
    check(kSoftmaxCrossEntropyWithLogits, {x, labels});
  }
}

TEST_CASE("gradients of convolutions") {
  const ConvolutionAttrs rows[] = {
      {.strides = {1, 1, 1, 1}, .padding = "VALID"},
      {.strides = {1, 2, 2, 1}, .padding = "SAME"},
      {.strides = {1, 1, 1, 1}, .padding = "SAME", .dilations = {1, 2, 1, 1}},
      {.strides = {1, 2, 1, 1},
       .padding = "EXPLICIT",
       .explicit_paddings = {0, 0, 1, 0, 0, 2, 0, 0}},
  };
  Tensor x = random_tensor(kReals, {1, 4, 3, 2}, -1, 1);
  for (const ConvolutionAttrs& attrs : rows) {
    check(kConv2D, {x, random_tensor(kReals, {2, 2, 2, 2}, -1, 1)}, attrs);
    check(kConv2D, {x, random_tensor(kReals, {2, 2, 1, 2}, -1, 1)}, attrs);
    Tensor filter = random_tensor(kReals, {2, 2, 2, 1}, -1, 1);
    Tensor y = (*apply(*kConv2D, std::vector<Tensor>{x, filter}, attrs))[0];
    Tensor dy = random_tensor(kReals, y.shape(), -1, 1);
    check(kConv2DBackpropInput, {ints({1, 4, 3, 2}), filter, dy}, attrs);
    check(kConv2DBackpropFilter, {x, ints({2, 2, 2, 1}), dy}, attrs);
    const DepthwiseConvolutionAttrs depthwise = {
        attrs.strides, attrs.padding, attrs.explicit_paddings, attrs.data_format, attrs.dilations};
    check(kDepthwiseConv2dNative, {x, filter}, depthwise);
  }
}

TEST_CASE("gradients of convolutions of volumes") {
  const VolumeConvolutionAttrs rows[] = {
      {.strides = {1, 1, 1, 1, 1}, .padding = "VALID"},
      {.strides = {1, 2, 1, 2, 1}, .padding = "SAME"},
      {.strides = {1, 1, 1, 1, 1}, .padding = "SAME", .dilations = {1, 2, 1, 1, 1}},
  };
  Tensor x = random_tensor(kReals, {1, 3, 3, 2, 2}, -1, 1);
  for (const VolumeConvolutionAttrs& attrs : rows) {
    Tensor filter = random_tensor(kReals, {2, 1, 2, 2, 1}, -1, 1);
    check(kConv3D, {x, filter}, attrs);
    Tensor y = (*apply(*kConv3D, std::vector<Tensor>{x, filter}, attrs))[0];
    Tensor dy = random_tensor(kReals, y.shape(), -1, 1);
    check(kConv3DBackpropInputV2, {ints({1, 3, 3, 2, 2}), filter, dy}, attrs);
    check(kConv3DBackpropFilterV2, {x, ints({2, 1, 2, 2, 1}), dy}, attrs);
  }
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

TEST_CASE("gradients of sums of products in Einstein's notation") {
  for (DType dtype : {kReals, kComplexes}) {
    const auto random = [&](const Shape& shape) { return random_tensor(dtype, shape, 0.5, 1.5); };
    for (const char* equation : {"ij,jk->ik", "ij,jk->ki", "ij,jk->j", "ij,jk->"}) {
      check(kEinsum, {random({2, 3}), random({3, 2})}, {equation});
    }
    check(kEinsum, {random({2, 2, 3}), random({3, 2, 2})}, {"bij,jkb->bik"});
    check(kEinsum, {random({2, 1, 2, 3}), random({3, 3})}, {"...ij,j...->...i"});
    check(kEinsum, {random({3, 1}), random({2, 2, 3})}, {"i...,b...i->...b"});
    check(kEinsum, {random({2, 2, 3}), random({3, 2})}, {"iij,jk->ik"});
    check(kEinsum, {random({2, 3, 2, 2})}, {"iaii->ai"});
    check(kEinsum, {random({2, 3})}, {"ij->j"});
  }
}

TEST_CASE("gradients of diagonals, bands and cross products") {
  for (DType dtype : {kReals, kComplexes}) {
    const auto random = [&](const Shape& shape) { return random_tensor(dtype, shape, 0.5, 1.5); };
    for (const char* align : {"RIGHT_LEFT", "LEFT_RIGHT"}) {
      check(kMatrixSetDiagV3, {random({2, 3, 4}), random({2, 4, 3}), ints({-1, 2})}, {align});
    }
    check(kMatrixBandPart,
          {random({3, 4}), Tensor::scalar(int64_t{1}), Tensor::scalar(int64_t{0})});
    check(kDiag, {random({2, 2})});
    check(kDiagPart, {random({2, 2, 2, 2})});
  }
  check(kCross, {random_tensor(kReals, {2, 3}, -1, 1), random_tensor(kReals, {2, 3}, -1, 1)});
}

// FusedBatchNormV3 exists in float32 only, where differences of values are too coarse: its
// gradients are compared with those of the same formula written out in float64.
TEST_CASE("gradients of batch normalisation are those of its formula, to the second order") {
  const double epsilon = 0.1;
  auto one = [](const Op& op, std::vector<Tensor> inputs, AttrsRef attrs = {}) {
    auto y = apply(op, inputs, attrs);
    REQUIRE_MESSAGE(y.ok(), op.name(), ": ", y.status().message());
    return (*y)[0];
  };
  auto to = [&](const Tensor& x, DType dtype) { return one(*kCast, {x}, CastAttrs{dtype}); };
  Tensor mean = random_tensor(kReals, {2}, -1, 1), variance = random_tensor(kReals, {2}, 1, 2);
  for (bool second : {false, true}) {
    for (bool is_training : {false, true}) {
      INFO("channels second: ", second, ", training: ", is_training);
      const Shape shape = second ? Shape{2, 2, 3, 2} : Shape{2, 3, 2, 2};
      const std::vector<int32_t> others =
          second ? std::vector<int32_t>{0, 2, 3} : std::vector<int32_t>{0, 1, 2};
      auto channels = [&](const Tensor& x) {
        return one(*kReshape, {x, second ? ints({1, -1, 1, 1}) : ints({1, 1, 1, -1})});
      };
      auto mean_of = [&](const Tensor& x) {
        return one(*kMean, {x, ints(others)}, ReductionAttrs{.keep_dims = true});
      };
      auto formula = [&](const std::vector<Tensor>& v) {
        Tensor from_mean = one(*kSub, {v[0], is_training ? mean_of(v[0]) : channels(mean)});
        Tensor spread = is_training ? mean_of(one(*kSquare, {from_mean})) : channels(variance);
        Tensor inverse = one(*kRsqrt, {one(*kAddV2, {spread, Tensor::scalar(epsilon)})});
        Tensor scaled = one(*kMul, {one(*kMul, {from_mean, inverse}), channels(v[1])});
        return one(*kAddV2, {scaled, channels(v[2])});
      };
      auto fused = [&](const std::vector<Tensor>& v) {
        const DType f = DType::kFloat32;
        return one(*kFusedBatchNormV3,
                   {to(v[0], f), to(v[1], f), to(v[2], f), to(mean, f), to(variance, f)},
                   BatchNormAttrs{.epsilon = 0.1f,
                                  .data_format = second ? "NCHW" : "NHWC",
                                  .is_training = is_training});
      };
      const std::vector<Tensor> x = {random_tensor(kReals, shape, -1, 1),
                                     random_tensor(kReals, {2}, 0.5, 2),
                                     random_tensor(kReals, {2}, -1, 1)};
      const std::vector<Tensor> seeds = {random_tensor(kReals, shape, -1, 1),
                                         random_tensor(kReals, {2}, -1, 1),
                                         random_tensor(kReals, {2}, -1, 1)};
      Tensor weights = random_tensor(kReals, shape, -1, 1);
      // The first and second gradients in x, scale and offset, and the second one in the weights.
      auto gradients = [&](auto f) {
        Tape outer(/*persistent=*/false);
        outer.start();
        for (const Tensor& input : x) outer.watch(input);
        outer.watch(weights);
        Tape inner(/*persistent=*/false);
        inner.start();
        for (const Tensor& input : x) inner.watch(input);
        Tensor y = f(x), seed = to(weights, y.dtype());
        auto first = inner.gradient({&y, 1}, x, {&seed, 1}, current_builder());
        REQUIRE_MESSAGE(first.ok(), first.status().message());
        std::vector<Tensor> all, sources = x;
        for (const Gradient& dx : *first) all.push_back(dx.dense);
        sources.push_back(weights);
        auto both = outer.gradient(all, sources, seeds, current_builder());
        REQUIRE_MESSAGE(both.ok(), both.status().message());
        for (const Gradient& dx : *both) all.push_back(dx.dense);
        return all;
      };
      std::vector<Tensor> expected = gradients(formula), got = gradients(fused);
      for (size_t i = 0; i < got.size(); ++i) {
        INFO("gradient ", i);
        REQUIRE(static_cast<bool>(got[i]) == static_cast<bool>(expected[i]));
        if (!got[i]) continue;
        for (size_t k = 0; k < parts(got[i]).size(); ++k) {
          CHECK(parts(got[i])[k] == doctest::Approx(parts(expected[i])[k]).epsilon(1e-4));
        }
      }
    }
  }
}

TEST_CASE("gradients of pooling") {
  Tensor x = random_tensor(kReals, {1, 4, 5, 2}, -1, 1);
  for (const char* padding : {"SAME", "VALID"}) {
    const MaxPoolAttrs attrs = {.ksize = {1, 2, 3, 1}, .strides = {1, 2, 1, 1}, .padding = padding};
    const PoolAttrs pool = {attrs.ksize, attrs.strides, attrs.padding, attrs.data_format};
    check(kMaxPool, {x}, attrs);
    check(kAvgPool, {x}, pool);
    Tensor y = (*apply(*kAvgPool, std::vector<Tensor>{x}, pool))[0];
    check(kAvgPoolGrad, {ints({1, 4, 5, 2}), random_tensor(kReals, y.shape(), -1, 1)}, pool);
  }
}

TEST_CASE("gradients of averages over volumes, and of pixels that move to other axes") {
  Tensor volume = random_tensor(kReals, {1, 3, 2, 3, 1}, -1, 1);
  const VolumePoolAttrs pool = {
      .ksize = {1, 2, 2, 1, 1}, .strides = {1, 2, 1, 1, 1}, .padding = "SAME"};
  check(kAvgPool3D, {volume}, pool);
  Tensor image = random_tensor(kReals, {2, 2, 2, 4}, -1, 1);
  check(kSpaceToDepth, {image}, {.block_size = 2});
  check(kDepthToSpace, {image}, {.block_size = 2});
  const Tensor margins = ints({1, 0, 0, 1}).with_shape({2, 2});
  check(kSpaceToBatchND, {image, ints({3, 1}), margins});
  check(kBatchToSpaceND, {image, ints({2, 1}), margins});
}

TEST_CASE("a gathered variable has sliced gradients") {
  Ref<Resource> resource(new Variable(kReals, {3, 2}, "v"));
  Tensor handle = Tensor::of_resource(resource);
  auto done =
      apply(*kAssignVariable, std::vector<Tensor>{handle, random_tensor(kReals, {3, 2}, 0, 1)},
            AssignVariableAttrs{.dtype = kReals});
  REQUIRE_MESSAGE(done.ok(), done.status().message());
  Tape tape(false);
  tape.start();
  tape.watch(handle);
  auto rows = apply(*kResourceGather, std::vector<Tensor>{handle, ints({2, 0, 2})},
                    ResourceGatherAttrs{.dtype = kReals});
  REQUIRE_MESSAGE(rows.ok(), rows.status().message());
  auto gradients = tape.gradient({&(*rows)[0], 1}, {&handle, 1}, {}, current_builder());
  REQUIRE_MESSAGE(gradients.ok(), gradients.status().message());
  const Gradient& gradient = (*gradients)[0];
  REQUIRE(gradient.is_slices());
  CHECK(gradient.slices.values.shape() == Shape({3, 2}));
  CHECK(gradient.slices.indices.data<int32_t>()[1] == 0);
  CHECK(gradient.slices.dense_shape.data<int32_t>()[0] == 3);
}

TEST_CASE("slices gathered from a variable give their gradients back to their places") {
  Ref<Resource> resource(new Variable(kReals, {2, 2, 2}, "v"));
  Tensor handle = Tensor::of_resource(resource);
  Tensor value = random_tensor(kReals, {2, 2, 2}, 0, 1);
  REQUIRE(apply(*kAssignVariable, std::vector<Tensor>{handle, value},
                AssignVariableAttrs{.dtype = kReals})
              .ok());
  auto gradient = [&](const Tensor& indices, const Tensor& dy) {
    Tape tape(false);
    tape.start();
    tape.watch(handle);
    auto slices = apply(*kResourceGatherNd, std::vector<Tensor>{handle, indices},
                        ReadVariableAttrs{.dtype = kReals});
    REQUIRE_MESSAGE(slices.ok(), slices.status().message());
    auto result = tape.gradient({&(*slices)[0], 1}, {&handle, 1}, {&dy, 1}, current_builder());
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    return (*result)[0];
  };
  Tensor dy = random_tensor(kReals, {3, 2}, 0, 1);
  Gradient dense = gradient(ints({1, 0, 0, 1, 1, 0}).with_shape({3, 2}), dy);
  REQUIRE(dense.dense);
  REQUIRE(dense.dense.shape() == Shape({2, 2, 2}));
  std::span<const double> g = parts(dense.dense), d = parts(dy);
  const double expected[] = {0, 0, d[2], d[3], d[0] + d[4], d[1] + d[5], 0, 0};
  for (int i = 0; i < 8; ++i) CHECK(g[i] == doctest::Approx(expected[i]));
  Gradient rows = gradient(ints({1, 1}).with_shape({2, 1}), random_tensor(kReals, {2, 2, 2}, 0, 1));
  REQUIRE(rows.is_slices());
  CHECK(rows.slices.values.shape() == Shape({2, 2, 2}));
  CHECK(rows.slices.indices.shape() == Shape({2}));
}

TEST_CASE("gradients of joins and cuts") {
  Tensor x = random_tensor(kReals, {2, 3}, -1, 1), y = random_tensor(kReals, {2, 3}, -1, 1);
  for (int32_t axis : {0, 1, -1}) {
    check(kConcatV2, {x, y, Tensor::scalar(axis)});
    check(kPack, {x, y}, {.axis = axis});
  }
  check(kConcatV2, {x, random_tensor(kReals, {2, 1}, -1, 1), Tensor::scalar(int32_t{1})});
  check(kUnpack, {x}, {.num = 3, .axis = 1});
  check(kSplit, {Tensor::scalar(int32_t{1}), x}, {.num_split = 3});
  check(kSplitV, {x, ints({1, 2}), Tensor::scalar(int32_t{-1})}, {.num_split = 2});
}

TEST_CASE("gradients of slices, with all masks, backwards and with new axes") {
  Tensor x = random_tensor(kReals, {3, 4, 5}, -1, 1);
  check(kSlice, {x, ints({1, 0, 2}), ints({2, -1, 3})});
  struct Row {
    std::vector<int32_t> begin, end, strides;
    StridedSliceAttrs attrs;
  };
  const Row rows[] = {
      {{1}, {3}, {1}, {}},
      {{2, 3, 4}, {0, 0, 0}, {-1, -2, -3}, {}},
      {{0, 0}, {0, 0}, {1, 2}, {.begin_mask = 3, .end_mask = 3}},
      {{0, 0}, {0, 0}, {1, -1}, {.begin_mask = 2, .end_mask = 2, .ellipsis_mask = 1}},
      {{0, 1, 0}, {0, 2, 0}, {1, 1, 1}, {.ellipsis_mask = 4, .new_axis_mask = 1}},
      {{-1, 0, 2}, {0, 0, 0}, {1, 1, 1}, {.ellipsis_mask = 2, .shrink_axis_mask = 5}},
  };
  for (const Row& row : rows) {
    Tensor begin = ints(row.begin), end = ints(row.end), strides = ints(row.strides);
    check(kStridedSlice, {x, begin, end, strides}, row.attrs);
    auto y = apply(*kStridedSlice, std::vector<Tensor>{x, begin, end, strides}, row.attrs);
    REQUIRE(y.ok());
    check(kStridedSliceGrad, {ints({3, 4, 5}), begin, end, strides, (*y)[0]}, row.attrs);
    check(kTensorStridedSliceUpdate, {x, begin, end, strides, (*y)[0]}, row.attrs);
  }
}

TEST_CASE("gradients of gathers and scatters, rows that repeat included") {
  Tensor x = random_tensor(kReals, {2, 3, 2}, -1, 1);
  for (int32_t axis : {0, 1, -1}) {
    check(kGatherV2, {x, ints({1, 0, 1, 1}).with_shape({2, 2}), Tensor::scalar(axis)});
  }
  Tensor batched = ints({1, 0, 1, 1}).with_shape({2, 2});
  check(kGatherV2, {x, batched, Tensor::scalar(int32_t{1})}, {.batch_dims = 1});
  check(kGatherV2, {x, batched, Tensor::scalar(int32_t{2})}, {.batch_dims = 1});
  check(kGather, {x, Tensor::scalar(int32_t{1})});
  Tensor places = ints({1, 2, 0, 0, 1, 2}).with_shape({3, 2});
  check(kGatherNd, {x, places});
  check(kGatherNd, {x, ints({1, 1}).with_shape({2, 1})});
  Tensor updates = random_tensor(kReals, {3, 2}, -1, 1);
  check(kScatterNd, {places, updates, ints({2, 3, 2})});
  check(kTensorScatterAdd, {x, places, updates});
  check(kTensorScatterSub, {x, places, updates});
  Tensor distinct = ints({1, 2, 0, 0, 1, 1}).with_shape({3, 2});
  check(kTensorScatterUpdate, {x, distinct, updates});
  check(kTensorScatterMin, {x, distinct, updates});
  check(kTensorScatterMax, {x, distinct, updates});
}

TEST_CASE("gradients of movements") {
  Tensor x = random_tensor(kReals, {2, 3, 4}, -1, 1);
  check(kTranspose, {x, ints({2, 0, 1})});
  check(kConjugateTranspose, {random_tensor(kComplexes, {2, 3}, -1, 1), ints({1, 0})});
  check(kSqueeze, {random_tensor(kReals, {2, 1, 2, 1}, -1, 1)}, {.squeeze_dims = {-1}});
  check(kExpandDims, {x, Tensor::scalar(int32_t{-2})});
  Tensor y = random_tensor(kReals, {2, 3}, -1, 1);
  Tensor paddings = ints({0, 1, 2, 1}).with_shape({2, 2});
  check(kPad, {y, paddings});
  for (const char* mode : {"REFLECT", "SYMMETRIC"}) {
    check(kMirrorPad, {y, paddings}, {.mode = mode});
    check(kMirrorPadGrad, {random_tensor(kReals, {3, 6}, -1, 1), paddings}, {.mode = mode});
  }
  check(kTile, {y, ints({2, 3})});
  check(kReverseV2, {y, ints({1})});
  check(kRoll, {y, ints({1, 2}), ints({1, 0})});
}

TEST_CASE("a traced gather finds the axis and the sizes of its gradient when it runs") {
  Tensor params = random_tensor(kReals, {2, 3, 2}, -1, 1);
  Tensor indices = ints({2, 0, 2, 1}).with_shape({2, 2});
  Ref<Graph> graph(new Graph("f"));
  GraphBuilder builder(graph);
  {
    Frame frame(&builder);
    auto any = [](int rank) {
      Shape shape;
      for (int i = 0; i < rank; ++i) shape.push_back(Dim::unknown());
      return shape;
    };
    Tensor x = builder.add_placeholder(kReals, any(3), "x");
    Tensor at = builder.add_placeholder(DType::kInt32, any(2), "at");
    Tensor axis = builder.add_placeholder(DType::kInt32, {}, "axis");
    Tape tape(false);
    tape.start();
    tape.watch(x);
    auto y = apply(*kGatherV2, std::vector<Tensor>{x, at, axis}, GatherV2Attrs{.batch_dims = 1});
    REQUIRE_MESSAGE(y.ok(), y.status().message());
    auto dx = tape.gradient({&(*y)[0], 1}, {&x, 1}, {}, current_builder());
    REQUIRE_MESSAGE(dx.ok(), dx.status().message());
    graph->set_outputs({symbolic((*dx)[0].dense).output()});
  }
  auto program = plan_program(graph);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Tensors out;
  std::vector<Tensor> inputs = {params, indices, Tensor::scalar(int32_t{-2})};
  Status status = (*program)->run(inputs, out);
  REQUIRE_MESSAGE(status.ok(), status.message());
  REQUIRE(out[0].shape() == params.shape());
  const double expected[] = {1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1};
  for (int i = 0; i < 12; ++i) CHECK(parts(out[0])[i] == expected[i]);
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

}  // namespace graven::engine
