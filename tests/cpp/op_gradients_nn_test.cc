// Gradients of activations, losses, convolutions, pooling, normalisation and images.
#include <doctest/doctest.h>

#include <vector>

#include "graven/autodiff/tape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/space_ops.h"
#include "graven/runtime/eager_builder.h"
#include "op_gradients.h"

namespace graven::engine {

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

}  // namespace graven::engine
