#pragma once
#include <cstdint>

#include "graven/ir/op.h"

namespace graven::engine {

// --- local_response_ops.cc.
struct LocalResponseAttrs {
  int64_t depth_radius = 5;
  float bias = 1, alpha = 1, beta = 0.5f;
  static constexpr auto fields() {
    using A = LocalResponseAttrs;
    return std::tuple(field("depth_radius", &A::depth_radius), field("bias", &A::bias),
                      field("alpha", &A::alpha), field("beta", &A::beta));
  }
};
GRAVEN_API inline OpHandle<LocalResponseAttrs> kLRN;      // input -> output
GRAVEN_API inline OpHandle<LocalResponseAttrs> kLRNGrad;  // input_grads, input_image, output_image
                                                          // -> output

// --- fake_quant_ops.cc: float32 alone.
struct FakeQuantArgsAttrs {
  float min = -6, max = 6;
  int64_t num_bits = 8;
  bool narrow_range = false;
  static constexpr auto fields() {
    using A = FakeQuantArgsAttrs;
    return std::tuple(field("min", &A::min), field("max", &A::max), field("num_bits", &A::num_bits),
                      field("narrow_range", &A::narrow_range));
  }
};
GRAVEN_API inline OpHandle<FakeQuantArgsAttrs> kFakeQuantWithMinMaxArgs;  // inputs -> outputs
// gradients, inputs -> backprops
GRAVEN_API inline OpHandle<FakeQuantArgsAttrs> kFakeQuantWithMinMaxArgsGradient;

struct FakeQuantAttrs {
  int64_t num_bits = 8;
  bool narrow_range = false;
  static constexpr auto fields() {
    return std::tuple(field("num_bits", &FakeQuantAttrs::num_bits),
                      field("narrow_range", &FakeQuantAttrs::narrow_range));
  }
};
// inputs, min, max -> outputs
GRAVEN_API inline OpHandle<FakeQuantAttrs> kFakeQuantWithMinMaxVars,
    kFakeQuantWithMinMaxVarsPerChannel;
// gradients, inputs, min, max -> backprops_wrt_input, backprop_wrt_min, backprop_wrt_max
GRAVEN_API inline OpHandle<FakeQuantAttrs> kFakeQuantWithMinMaxVarsGradient,
    kFakeQuantWithMinMaxVarsPerChannelGradient;

}  // namespace graven::engine
