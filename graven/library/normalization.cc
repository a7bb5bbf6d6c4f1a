#include <algorithm>
#include <optional>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/random_sources.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

struct BatchNormalizationParameters {
  Tensor x, mean, variance, offset, scale;
  Number variance_epsilon;
  static constexpr auto fields() {
    using P = BatchNormalizationParameters;
    return std::tuple(
        required_field("x", &P::x, "T", "Any shape, to which the others broadcast."),
        required_field("mean", &P::mean, "mutual S", "Of a dtype that those behind it share."),
        required_field("variance", &P::variance, "mutual S", "Not negative."),
        required_field("offset", &P::offset, "S or None", "None means 0."),
        required_field("scale", &P::scale, "S or None", "None means 1."),
        required_field("variance_epsilon", &P::variance_epsilon,
                       "Keeps the root of the variance away from 0."));
  }
};

Outputs batch_normalization(FunctionContext& c, const BatchNormalizationParameters& p) {
  Formula variance = c(p.variance), mean = c(p.mean);
  if (!p.variance_epsilon.number && !p.variance_epsilon.tensor) {
    return c.fail(type_error("batch_normalization: variance_epsilon must be a number, not None"));
  }
  Formula inverse = call(kRsqrt, variance + c(c.tensor_of(p.variance_epsilon, variance.dtype())));
  if (p.scale) inverse = inverse * c(p.scale);
  Formula middle = p.offset ? c(p.offset) - mean * inverse : -mean * inverse;
  Formula scaled = c(p.x) * c.cast(inverse, p.x.dtype());
  return c(kAddV2, {scaled, c.cast(middle, p.x.dtype())}, {}, c.name());
}

struct DropoutParameters {
  Tensor x;
  Number rate;
  OpenSizes noise_shape;
  std::optional<int64_t> seed;
  static constexpr auto fields() {
    using P = DropoutParameters;
    return std::tuple(
        required_field("x", &P::x, "T", "Any shape."),
        required_field("rate", &P::rate,
                       "The probability that an element is dropped, in [0, 1), which is checked of "
                       "a number; or a scalar of the dtype of x."),
        field("noise_shape", &P::noise_shape,
              "The shape of the choice, which broadcasts to x; None means that of x, or of one of "
              "its axes."),
        field("seed", &P::seed,
              "With a seed, the same program drops the same elements; see set_seed."));
  }
};

// The shape of the mask: noise_shape, with the sizes of x where it has None.
Tensor noise_sizes(FunctionContext& c, const Tensor& x, const OpenSizes& shape) {
  if (shape.is_none()) {
    const auto sizes = c.sizes_if_known(x);
    return sizes ? c.vector({sizes->data(), sizes->size()}, "shape") : c(kShape, {x});
  }
  if (!shape.numbers || std::ranges::find(*shape.numbers, -1) == shape.numbers->end()) {
    return c.tensor_of(shape, "shape");
  }
  const auto& given = *shape.numbers;
  const auto rank = c.rank_if_known(x);
  if (rank != static_cast<int>(given.size())) {
    return c.fail(value_error("noise_shape has None, so it must have a size for each axis of x"));
  }
  const SizeList sizes = c.sizes(x);
  SizeList wanted;
  for (size_t i = 0; i < given.size(); ++i) {
    wanted.push_back(given[i] == -1 ? sizes[i] : Size(given[i]));
  }
  return vector_of(c, wanted);
}

// Drops the elements for which `draw` gives a number of [0, 1) below the rate.
Tensor drop(FunctionContext& c, const Tensor& input, const Number& given, const OpenSizes& shape,
            FunctionRef<Tensor(const Tensor& sizes)> draw) {
  const DType dtype = input.dtype();
  const std::optional<double>& number = given.number;
  const Tensor& tensor = given.tensor;
  if (number ? !(*number >= 0 && *number < 1) : !tensor) {
    return c.fail(
        value_error("`rate` must be a scalar tensor or a float in the range [0, 1)."
                    " Received: rate=",
                    number ? str_cat(*number) : "None"));
  }
  if (!is_floating(dtype)) {
    return c.fail(
        value_error("`x.dtype` must be a floating point tensor as `x` will be scaled. "
                    "Received: x_dtype=",
                    dtype_name(dtype)));
  }
  if (tensor && (tensor.dtype() != dtype || c.rank_if_known(tensor).value_or(0) != 0)) {
    return c.fail(value_error("`rate` must be a scalar of x.dtype=", dtype_name(dtype), ", got ",
                              dtype_name(tensor.dtype()), " of shape ", tensor.shape().to_text()));
  }
  if (number == 0) return input;
  Formula x = c(input), rate = c(c.tensor_of(given, dtype));
  Formula scaled = number ? x * constant_like(x, 1 / (1 - *number)) : x / (1.0 - rate);
  const Tensor drawn = draw(noise_sizes(c, x, shape));
  Tensor y = c(kSelectV2, {c(kGreaterEqual, {drawn, rate}), scaled, c.zero(dtype)}, {}, c.name());
  // Inference does not know that a shape at run time broadcasts to that of x.
  set_known_shape(c, y, input.shape());
  return y;
}

Outputs dropout(FunctionContext& c, const DropoutParameters& p) {
  // Numbers are drawn even if none is dropped, so that later ops draw the same for any rate.
  const auto [seed, seed2] = op_seeds(c, p.seed);
  const SeededDTypeAttrs attrs = {.seed = seed, .seed2 = seed2, .dtype = p.x.dtype()};
  return drop(c, p.x, p.rate, p.noise_shape,
              [&](const Tensor& sizes) { return c(kRandomUniform, {sizes}, attrs); });
}

struct StatelessDropoutParameters {
  Tensor x;
  Number rate;
  Sizes seed;
  std::optional<std::string> rng_alg;
  OpenSizes noise_shape;
  static constexpr auto fields() {
    using P = StatelessDropoutParameters;
    return std::tuple(
        required_field("x", &P::x, "T", "Any shape."),
        required_field("rate", &P::rate, "The probability that an element is dropped, in [0, 1)."),
        required_field("seed", &P::seed, "Two integers, int32 or int64."),
        field("rng_alg", &P::rng_alg, "\"philox\" or \"auto_select\", which None means."),
        field("noise_shape", &P::noise_shape,
              "The shape of the choice, which broadcasts to x; None means that of x."));
  }
};

Outputs stateless_dropout(FunctionContext& c, const StatelessDropoutParameters& p) {
  return drop(c, p.x, p.rate, p.noise_shape, [&](const Tensor& sizes) {
    const Tensor seed = stateless_seed(c, p.seed, p.rng_alg.value_or("auto_select"));
    return c(kStatelessRandomUniform, {sizes, seed}, {p.x.dtype()});
  });
}

}  // namespace

void define_normalization(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.batch_normalization",
      .scope = "batchnorm",
      .types = {{"T", kFloatTypes}},
      .summary = "(x - mean) / sqrt(variance + variance_epsilon) * scale + offset.",
      .returns = "A tensor of x's dtype and shape.",
      .body = batch_normalization,
  });
  functions.define({
      .names = "nn.dropout",
      .scope = "dropout",
      .types = {{"T", kFloatTypes}},
      .summary = "Sets elements to 0 at random, and divides the others by 1 - rate, so that their "
                 "mean stays.",
      .returns = "A tensor of x's shape; x itself if the rate is the number 0.",
      .raises = {{"ValueError", "The rate is out of range or no scalar, or x is not floating."}},
      .body = dropout,
  });
  functions.define({
      .names = "nn.experimental.stateless_dropout",
      .scope = "stateless_dropout",
      .types = {{"T", kFloatTypes}},
      .summary = "dropout whose choice a seed decides: the same at each call.",
      .returns = "A tensor of x's shape; x itself if the rate is the number 0.",
      .raises = {{"ValueError", "The rate is out of range or no scalar, or x is not floating."},
                 {"InvalidArgumentError", "The seed is not two integers."}},
      .body = stateless_dropout,
  });
}

}  // namespace graven::engine
