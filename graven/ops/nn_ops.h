#pragma once
#include <string>

#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Ops of neural networks that are neither convolutions nor pooling.

// --- activation_ops.cc: features -> activations, element by element.
GRAVEN_API inline OpHandle<NoAttrs> kRelu, kRelu6, kElu, kSelu, kSoftplus, kSoftsign;
// gradients, features -> backprops.
GRAVEN_API inline OpHandle<NoAttrs> kReluGrad, kRelu6Grad, kSoftplusGrad, kSoftsignGrad;
// gradients, outputs -> backprops.
GRAVEN_API inline OpHandle<NoAttrs> kEluGrad, kSeluGrad;

struct LeakyReluAttrs {
  float alpha = 0.2f;
  static constexpr auto fields() { return std::tuple(field("alpha", &LeakyReluAttrs::alpha)); }
};
GRAVEN_API inline OpHandle<LeakyReluAttrs> kLeakyRelu;      // features -> activations
GRAVEN_API inline OpHandle<LeakyReluAttrs> kLeakyReluGrad;  // gradients, features -> backprops

// --- bias_ops.cc.
struct BiasAddAttrs {
  std::string data_format = "NHWC";  // or "NCHW": channels are the second axis
  static constexpr auto fields() {
    return std::tuple(field("data_format", &BiasAddAttrs::data_format));
  }
};
GRAVEN_API inline OpHandle<BiasAddAttrs> kBiasAdd;      // value, bias -> output
GRAVEN_API inline OpHandle<NoAttrs> kBiasAddV1;         // value, bias -> output
GRAVEN_API inline OpHandle<BiasAddAttrs> kBiasAddGrad;  // out_backprop -> output

// --- softmax_ops.cc.
GRAVEN_API inline OpHandle<NoAttrs> kSoftmax, kLogSoftmax;           // logits -> softmax
GRAVEN_API inline OpHandle<NoAttrs> kSoftmaxCrossEntropyWithLogits,  // features, labels -> loss,
    kSparseSoftmaxCrossEntropyWithLogits;                            // backprop
GRAVEN_API inline OpHandle<ShapeAttrs> kCheckLabels;  // labels, logits_shape -> column, classes

// --- loss_ops.cc.
GRAVEN_API inline OpHandle<NoAttrs> kL2Loss;    // t -> output
GRAVEN_API inline OpHandle<NoAttrs> kInTopKV2;  // predictions, targets, k -> precision

// --- batch_norm_ops.cc.
struct BatchNormAttrs {
  float epsilon = 1e-4f;
  float exponential_avg_factor = 1;
  std::string data_format = "NHWC";  // or "NCHW", "NDHWC", "NCDHW"
  bool is_training = true;
  static constexpr auto fields() {
    return std::tuple(field("epsilon", &BatchNormAttrs::epsilon),
                      field("exponential_avg_factor", &BatchNormAttrs::exponential_avg_factor),
                      field("data_format", &BatchNormAttrs::data_format),
                      field("is_training", &BatchNormAttrs::is_training));
  }
};
// x, scale, offset, mean, variance -> y, batch_mean, batch_variance, reserve_space_1, 2, 3
GRAVEN_API inline OpHandle<BatchNormAttrs> kFusedBatchNormV3;

struct BatchNormGradAttrs {
  float epsilon = 1e-4f;
  std::string data_format = "NHWC";
  bool is_training = true;
  static constexpr auto fields() {
    return std::tuple(field("epsilon", &BatchNormGradAttrs::epsilon),
                      field("data_format", &BatchNormGradAttrs::data_format),
                      field("is_training", &BatchNormGradAttrs::is_training));
  }
};
// y_backprop, x, scale, reserve_space_1, 2, 3 -> x_backprop, scale_backprop, offset_backprop,
// reserve_space_4, 5
GRAVEN_API inline OpHandle<BatchNormGradAttrs> kFusedBatchNormGradV3;

}  // namespace graven::engine
