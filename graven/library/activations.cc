#include <optional>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven::engine {
namespace {

struct SoftmaxParameters {
  Tensor logits;
  std::optional<int64_t> axis;
  static constexpr auto fields() {
    using P = SoftmaxParameters;
    return std::tuple(required_field("logits", &P::logits, "T", "At least one dimension."),
                      field("axis", &P::axis, "The axis; None means the last."));
  }
};

// Applies an op of the last axis along any axis.
Outputs along_axis(FunctionContext& c, const OpHandle<NoAttrs>& op, const SoftmaxParameters& p) {
  const int64_t axis = p.axis.value_or(-1);
  if (is_last(c, p.logits, axis)) return c(op, {p.logits}, {}, c.name());
  const auto rank = c.rank_if_known(p.logits);
  if (rank && (axis < -*rank || axis >= *rank)) {
    return c.fail(
        invalid_argument("`dim` must be in the range [", -*rank, ", ", *rank, ") where ", *rank,
                         " is the number of dimensions in the input. Received: ", "dim=", axis));
  }
  const Tensor order = swapped_with_last(c, p.logits, axis);
  const Tensor y = c(op, {c(kTranspose, {p.logits, order})});
  return c(kTranspose, {y, order}, {}, c.name());
}

constexpr Raised kNoSuchAxis = {"InvalidArgumentError", "There is no such axis."};

struct LeakyReluParameters {
  Tensor features;
  double alpha = 0.2;
  static constexpr auto fields() {
    using P = LeakyReluParameters;
    return std::tuple(
        required_field("features", &P::features, "T", "Any shape; integers become float32."),
        field("alpha", &P::alpha, "The slope for negative numbers."));
  }
};

Outputs leaky_relu(FunctionContext& c, const LeakyReluParameters& p) {
  const Tensor& x = p.features;
  return c(kLeakyRelu, {is_integer(x.dtype()) ? c.cast(x, DType::kFloat32).tensor() : x},
           {.alpha = static_cast<float>(p.alpha)}, c.name());
}

void define_softmax_and_kin(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.softmax, math.softmax",
      .scope = "Softmax",
      .types = {{"T", kFloatTypes}},
      .summary = "exp(x) / sum(exp(x)) along an axis, without overflow.",
      .returns = "A tensor of the same shape, which sums to 1 along the axis.",
      .raises = {kNoSuchAxis},
      .source = "OpDef \"Softmax\"",
      .body = [](FunctionContext& c,
                 const SoftmaxParameters& p) { return along_axis(c, kSoftmax, p); },
  });
  functions.define({
      .names = "nn.log_softmax, math.log_softmax",
      .scope = "LogSoftmax",
      .types = {{"T", kFloatTypes}},
      .summary = "x - log(sum(exp(x))) along an axis, without overflow.",
      .returns = "A tensor of the same shape.",
      .raises = {kNoSuchAxis},
      .source = "OpDef \"LogSoftmax\"",
      .body = [](FunctionContext& c,
                 const SoftmaxParameters& p) { return along_axis(c, kLogSoftmax, p); },
  });
  functions.define({
      .names = "nn.leaky_relu",
      .scope = "LeakyRelu",
      .types = {{"T", kRealTypes}},
      .summary = "x where it is positive, alpha * x elsewhere.",
      .returns = "A tensor of the same shape.",
      .source = "OpDef \"LeakyRelu\"",
      .body = leaky_relu,
  });
}

struct GeluParameters {
  Tensor features;
  bool approximate = false;
  static constexpr auto fields() {
    using P = GeluParameters;
    return std::tuple(required_field("features", &P::features, "T", "Any shape."),
                      field("approximate", &P::approximate, "Use tanh, which is faster."));
  }
};

Outputs gelu(FunctionContext& c, const GeluParameters& p) {
  if (!is_floating(p.features.dtype())) {
    return c.fail(value_error("`features.dtype` must be a floating point tensor. Received: ",
                              "features.dtype=", dtype_name(p.features.dtype())));
  }
  Formula x = c(p.features), half = 0.5 * x;
  if (p.approximate) {
    constexpr double kRootOfTwoOverPi = 0.7978845608028654;
    Formula cube = call(kPow, x, constant_like(x, 3));
    Formula inner = kRootOfTwoOverPi * (x + 0.044715 * cube);
    return c(kMul, {half, call(kTanh, inner) + 1.0}, {}, c.name());
  }
  // 1 + erf(x / sqrt(2)), which does not cancel where x is negative.
  constexpr double kRootOfHalf = 0.7071067811865476;
  Formula minus = -x;
  return c(kMul, {half, call(kErfc, minus * constant_like(x, kRootOfHalf))}, {}, c.name());
}

struct CreluParameters {
  Tensor features, axis;
  static constexpr auto fields() {
    using P = CreluParameters;
    return std::tuple(required_field("features", &P::features, "T", "At least one dimension."),
                      field("axis", &P::axis, "int32", -1, "The axis that both are joined along."));
  }
};

Outputs crelu(FunctionContext& c, const CreluParameters& p) {
  const Tensor minus = c(kNeg, {p.features});
  const Tensor axis = p.axis ? p.axis : c.scalar(-1, DType::kInt32, "axis");
  const Tensor both = c(kConcatV2, {p.features, minus, axis}, {}, c.name());
  return c(kRelu, {both});
}

void define_gelu_and_crelu(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.gelu",
      .scope = "Gelu",
      .types = {{"T", kFloatTypes}},
      .summary = "x times the probability that a standard normal number is below x.",
      .returns = "A tensor of the same shape.",
      .raises = {{"ValueError", "The dtype is not floating."}},
      .source = "Hendrycks and Gimpel, arXiv:1606.08415",
      .body = gelu,
  });
  functions.define({
      .names = "nn.crelu",
      .scope = "CRelu",
      .types = {{"T", kRealTypes}},
      .summary = "max(x, 0) and max(-x, 0), joined along an axis.",
      .returns = "A tensor twice as large along the axis.",
      .raises = {{"InvalidArgumentError", "There is no such axis."}},
      .source = "Shang, Sohn, Almeida, Lee, arXiv:1603.05201",
      .body = crelu,
  });
}

struct SiluParameters {
  Tensor features;
  Number beta = {1.0};
  static constexpr auto fields() {
    using P = SiluParameters;
    return std::tuple(required_field("features", &P::features, "T", "Any shape."),
                      field("beta", &P::beta, "The slope inside, a scalar."));
  }
};

Outputs silu(FunctionContext& c, const SiluParameters& p) {
  Formula x = c(p.features);
  if (p.beta.number == 1) return x * call(kSigmoid, x);
  Formula beta = c.cast(c.tensor_of(p.beta, x.dtype()), x.dtype());
  return x * call(kSigmoid, beta * x);
}

void define_silu(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.silu, nn.swish",
      .types = {{"T", kFloatTypes}},
      .summary = "x * sigmoid(beta * x), element by element.",
      .returns = "A tensor of the same shape.",
      .body = silu,
  });
}

}  // namespace

void define_activations(FunctionRegistry& functions) {
  define_softmax_and_kin(functions);
  define_gelu_and_crelu(functions);
  define_silu(functions);
}

}  // namespace graven::engine
