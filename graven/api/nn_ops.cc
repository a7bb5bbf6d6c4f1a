#include "graven/api/nn_ops.h"

#include "graven/api/apply.h"
#include "graven/api/axes.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/api/random_ops.h"
#include "graven/api/variable.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/seeds.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven::nn {
namespace {

using internal::apply;
using internal::at;
using internal::Composite;
using internal::LineScope;

bool is_short(DType dtype) { return dtype == DType::kHalf || dtype == DType::kBFloat16; }

// Where the channels are.
int channels_at(std::string_view data_format, const Here& location) {
  if (data_format != "NHWC" && data_format != "NCHW") {
    throw_error(engine::value_error("`data_format` must be 'NHWC' or 'NCHW'. Received: "
                                    "data_format=",
                                    data_format),
                location);
  }
  return data_format == "NHWC" ? 3 : 1;
}

// Four numbers in the order of the data format.
std::vector<int64_t> four(const Window& window, int channels_at, const char* what,
                          const Here& location) {
  std::vector<int64_t> sizes(window.sizes.begin(), window.sizes.end());
  if (sizes.size() == 1) sizes.push_back(sizes[0]);
  if (sizes.size() == 2) {
    sizes.insert(sizes.begin(), 1);
    sizes.insert(sizes.begin() + channels_at, 1);
  }
  if (sizes.size() != 4) {
    throw_error(engine::value_error("`", what, "` should be 1, 2 or 4 numbers, got ", sizes.size()),
                location);
  }
  return sizes;
}

// What convolutions of images have in common.
template <typename A>
A window_attrs(const Window& strides, const Padding& padding, std::string_view data_format,
               const Window& dilations, const Here& location) {
  int channels = channels_at(data_format, location);
  A attrs;
  attrs.strides = four(strides, channels, "strides", location);
  attrs.padding = padding.kind;
  attrs.explicit_paddings = {padding.sizes.begin(), padding.sizes.end()};
  attrs.data_format = data_format;
  attrs.dilations = four(dilations, channels, "dilations", location);
  return attrs;
}

// Sequences as images of height 1.
struct Row {
  bool is_last;  // channels
  int height_at;
  const Here& location;

  Row(std::string_view data_format, const Here& location)
      : is_last(data_format == "NWC"), height_at(is_last ? 1 : 2), location(location) {
    if (is_last || data_format == "NCW") return;
    throw_error(engine::value_error("`data_format` must be one of 'NWC' or 'NCW'. Received: "
                                    "data_format=",
                                    data_format),
                location);
  }

  std::string_view image_format() const { return is_last ? "NHWC" : "NCHW"; }

  // With a height of 1.
  Window window(const Window& window, const char* what) const {
    std::vector<int64_t> sizes(window.sizes.begin(), window.sizes.end());
    if (sizes.size() == 1) {
      sizes.insert(sizes.begin(), is_last ? 1 : 2, 1);
      if (is_last) sizes.push_back(1);
    }
    if (sizes.size() != 3) {
      throw_error(engine::value_error(what, " must hold 1 or 3 numbers, got ", sizes.size()),
                  location);
    }
    sizes.insert(sizes.begin() + height_at, 1);
    return Window(sizes);
  }

  // Explicit ones are of three dimensions.
  Padding padding(const Padding& given) const {
    if (given.sizes.empty()) return given;
    std::vector<int64_t> sizes(given.sizes.begin(), given.sizes.end());
    sizes.insert(sizes.begin() + std::min<ptrdiff_t>(2 * height_at, std::ssize(sizes)), 2, 0);
    return Padding(std::move(sizes));
  }
};

// The op along an axis, which is swapped with the last one.
Tensor along_axis(const engine::OpHandle<engine::NoAttrs>& op, const Operand& logits, int axis) {
  LineScope line(logits.location());
  Tensor x = logits.as_tensor();
  if (internal::is_last(x, axis)) return apply(op, {x});
  Axes order = internal::swapped_with_last(x, axis, logits.location());
  return transpose(apply(op, {transpose(x, order)}), order);
}

void check_image(const char* function, const Tensor& input, const Here& location) {
  if (!input.shape().has_rank() || input.rank() == 4) return;
  throw_error(engine::Status(Code::kUnimplemented,
                             engine::str_cat("nn.", function,
                                             ": Graven pools images only, not "
                                             "tensors of rank ",
                                             input.rank()),
                             ErrorKind::kNotImplementedError),
              location);
}

void check_same_shape(const Tensor& logits, const Tensor& labels, const Here& location) {
  if (engine::are_compatible(labels.shape(), logits.shape())) return;
  throw_error(engine::value_error("`logits` and `labels` must have the same shape, received (",
                                  logits.shape().to_text(), " vs ", labels.shape().to_text(), ")."),
              location);
}

Tensor last_size(const Tensor& sizes) { return strided_slice(sizes, {-1}, {0}, {.end_mask = 1}); }

}  // namespace

// --- Convolution and pooling.

Tensor conv1d(const Operand& input, const Operand& filters, const Window& stride,
              const Padding& padding, std::string_view data_format, const Window& dilations) {
  Composite composite("conv1d", input.location());
  Row row(data_format, input.location());
  Tensor images = conv2d(expand_dims(input, row.height_at), expand_dims(filters, 0),
                         row.window(stride, "stride"), padding, std::string(row.image_format()),
                         row.window(dilations, "dilations"));
  return squeeze(images, {row.height_at});
}

Tensor conv2d_transpose(const Operand& input, const Operand& filters, const Sizes& output_shape,
                        const Window& strides, const Padding& padding, std::string_view data_format,
                        const Window& dilations) {
  const Here& location = input.location();
  return apply(
      engine::kConv2DBackpropInput,
      {at(output_shape.as_tensor(location), location), filters, input},
      window_attrs<engine::ConvolutionAttrs>(strides, padding, data_format, dilations, location),
      "conv2d_transpose");
}

Tensor depthwise_conv2d(const Operand& input, const Operand& filter, const Window& strides,
                        const Padding& padding, std::string_view data_format,
                        const Window& dilations) {
  return apply(engine::kDepthwiseConv2dNative, {input, filter},
               window_attrs<engine::DepthwiseConvolutionAttrs>(strides, padding, data_format,
                                                               dilations, input.location()),
               "depthwise");
}

Tensor max_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                  const Padding& padding, std::string_view data_format) {
  int channels = channels_at(data_format, input.location());
  engine::MaxPoolAttrs attrs;
  attrs.ksize = four(ksize, channels, "ksize", input.location());
  attrs.strides = four(strides, channels, "strides", input.location());
  attrs.padding = padding.kind;
  attrs.explicit_paddings = {padding.sizes.begin(), padding.sizes.end()};
  attrs.data_format = data_format;
  return apply(engine::kMaxPool, {input}, attrs, "MaxPool2d");
}

Tensor avg_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                  std::string_view padding, std::string_view data_format) {
  int channels = channels_at(data_format, input.location());
  engine::PoolAttrs attrs;
  attrs.ksize = four(ksize, channels, "ksize", input.location());
  attrs.strides = four(strides, channels, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  return apply(engine::kAvgPool, {input}, attrs, "AvgPool2D");
}

Tensor max_pool1d(const Operand& input, const Window& ksize, const Window& strides,
                  const Padding& padding, std::string_view data_format) {
  Composite composite("MaxPool1d", input.location());
  Row row(data_format, input.location());
  Tensor images =
      max_pool2d(expand_dims(input, row.height_at), row.window(ksize, "ksize"),
                 row.window(strides, "strides"), row.padding(padding), row.image_format());
  return squeeze(images, {row.height_at});
}

Tensor avg_pool1d(const Operand& input, const Window& ksize, const Window& strides,
                  std::string_view padding, std::string_view data_format) {
  Composite composite("AvgPool1D", input.location());
  Row row(data_format, input.location());
  Tensor images = avg_pool2d(expand_dims(input, row.height_at), row.window(ksize, "ksize"),
                             row.window(strides, "strides"), padding, row.image_format());
  return squeeze(images, {row.height_at});
}

Tensor max_pool(const Operand& input, const Window& ksize, const Window& strides,
                const Padding& padding, std::string_view data_format) {
  Tensor x = input.as_tensor();
  check_image("max_pool", x, input.location());
  return max_pool2d(at(x, input.location()), ksize, strides, padding, data_format);
}

Tensor avg_pool(const Operand& input, const Window& ksize, const Window& strides,
                std::string_view padding, std::string_view data_format) {
  Tensor x = input.as_tensor();
  check_image("avg_pool", x, input.location());
  return avg_pool2d(at(x, input.location()), ksize, strides, padding, data_format);
}

Tensor bias_add(const Operand& value, const Operand& bias, std::string_view data_format) {
  return apply(engine::kBiasAdd, {value, bias}, {.data_format = std::string(data_format)});
}

// --- Activations.

Tensor relu(const Operand& features) { return apply(engine::kRelu, {features}); }

Tensor gelu(const Operand& features, bool approximate) {
  Composite composite("Gelu", features.location());
  Tensor x = features.as_tensor();
  if (!engine::is_floating(x.dtype())) {
    throw_error(engine::value_error("`features.dtype` must be a floating point tensor. Received: ",
                                    engine::dtype_name(x.dtype())),
                features.location());
  }
  if (approximate) {
    constexpr double kRootOfTwoOverPi = 0.7978845608028654;
    Tensor inner = kRootOfTwoOverPi * (x + 0.044715 * apply(engine::kPow, {x, 3}));
    return 0.5 * x * (1.0 + apply(engine::kTanh, {inner}));
  }
  Tensor root = cast(1.4142135623730951, x.dtype());
  return 0.5 * x * (1.0 + apply(engine::kErf, {x / root}));
}

Tensor silu(const Operand& features, double beta) {
  LineScope line(features.location());
  Tensor x = features.as_tensor();
  return x * apply(engine::kSigmoid, {beta == 1 ? x : beta * x});
}

Tensor swish(const Operand& features, double beta) { return silu(features, beta); }

Tensor softmax(const Operand& logits, int axis) {
  return along_axis(engine::kSoftmax, logits, axis);
}

Tensor log_softmax(const Operand& logits, int axis) {
  return along_axis(engine::kLogSoftmax, logits, axis);
}

// --- Losses.

Tensor softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits, int axis) {
  Composite composite("softmax_cross_entropy_with_logits", logits.location());
  Tensor x = logits.as_tensor(), p = labels.as_tensor(x.dtype());
  Tensor wide = is_short(x.dtype()) ? cast(x, DType::kFloat32) : x;
  p = cast(p, wide.dtype());
  if (!internal::is_last(wide, axis)) {
    Axes order = internal::moved_to_end(wide, axis, logits.location());
    wide = transpose(wide, order);
    p = transpose(p, order);
  }
  if (wide.shape().has_rank() && wide.rank() == 2) {
    return cast(apply(engine::kSoftmaxCrossEntropyWithLogits, {wide, p}), x.dtype());
  }
  Tensor sizes = shape(wide);
  Tensor flat = concat({Tensor{-1}, last_size(sizes)}, 0);
  Tensor loss =
      apply(engine::kSoftmaxCrossEntropyWithLogits, {reshape(wide, flat), reshape(p, flat)});
  return cast(reshape(loss, strided_slice(sizes, {0}, {-1})), x.dtype());
}

Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits) {
  const Here& location = logits.location();
  Composite composite("SparseSoftmaxCrossEntropyWithLogits", location);
  Tensor x = logits.as_tensor(), y = labels.as_tensor();
  Tensor wide = is_short(x.dtype()) ? cast(x, DType::kFloat32) : x;
  bool has_rank = x.shape().has_rank();
  if (has_rank && x.rank() == 0) {
    throw_error(engine::value_error("`logits` cannot be a scalar."), location);
  }
  if (has_rank && y.shape().has_rank()) {
    Shape batch = x.shape();
    batch.erase(batch.rank() - 1);
    if (y.rank() != batch.rank()) {
      throw_error(
          engine::value_error("`labels.shape.rank` must equal `logits.shape.rank - 1`. "
                              "Received: labels.shape=",
                              y.shape().to_text(), " of rank ", y.rank(),
                              " and logits.shape=", x.shape().to_text(), " of rank ", x.rank()),
          location);
    }
    if (!engine::are_compatible(batch, y.shape())) {
      throw_error(
          engine::value_error("`labels.shape` must equal `logits.shape` except for the "
                              "last dimension. Received: labels.shape=",
                              y.shape().to_text(), " and logits.shape=", x.shape().to_text()),
          location);
    }
  }
  if (has_rank && x.rank() == 2) {
    return cast(apply(engine::kSparseSoftmaxCrossEntropyWithLogits, {wide, y}), x.dtype());
  }
  Tensor flat = concat({Tensor{-1}, last_size(shape(wide))}, 0);
  Tensor loss =
      apply(engine::kSparseSoftmaxCrossEntropyWithLogits, {reshape(wide, flat), reshape(y, {-1})});
  return cast(reshape(loss, shape(y)), x.dtype());
}

Tensor sigmoid_cross_entropy_with_logits(const Operand& labels, const Operand& logits) {
  Composite composite("logistic_loss", logits.location());
  Tensor x = logits.as_tensor(), p = labels.as_tensor(x.dtype());
  check_same_shape(x, p, logits.location());
  // max(x, 0) - x p + log(1 + exp(-|x|)), with conditions that also have gradients at 0.
  Tensor zeros = zeros_like(x), is_positive = x >= zeros;
  Tensor positive = where(is_positive, x, zeros), minus_size = where(is_positive, -x, x);
  Tensor rest = apply(engine::kLog1p, {apply(engine::kExp, {minus_size})});
  return positive - x * p + rest;
}

Tensor weighted_cross_entropy_with_logits(const Operand& labels, const Operand& logits,
                                          const Operand& pos_weight) {
  Composite composite("logistic_loss", logits.location());
  Tensor x = logits.as_tensor(), p = labels.as_tensor(x.dtype());
  check_same_shape(x, p, logits.location());
  // Less one before it takes the dtype, as in Python.
  Tensor weight = pos_weight.is_number() ? 1 + (pos_weight.number() - 1) * p
                                         : 1 + (pos_weight.as_tensor() - 1) * p;
  Tensor rest = apply(engine::kLog1p, {apply(engine::kExp, {-apply(engine::kAbs, {x})})});
  return (1 - p) * x + weight * (rest + relu(-x));
}

Tensor log_poisson_loss(const Operand& targets, const Operand& log_input) {
  Composite composite("log_poisson_loss", log_input.location());
  Tensor x = log_input.as_tensor();
  return apply(engine::kExp, {x}) - x * targets.as_tensor(x.dtype());
}

// --- Normalisation.

Tensor batch_normalization(const Operand& x, const Operand& mean, const Operand& variance,
                           const Operand& offset, const Operand& scale, double variance_epsilon) {
  Composite composite("batchnorm", x.location());
  Tensor tensor = x.as_tensor(), spread = variance.as_tensor(), middle = mean.as_tensor();
  Tensor inverse = apply(engine::kRsqrt, {spread + variance_epsilon});
  if (!scale.is_none()) inverse = inverse * scale;
  Tensor added = offset.is_none() ? -middle * inverse : offset - middle * inverse;
  return tensor * cast(inverse, tensor.dtype()) + cast(added, tensor.dtype());
}

Tensor dropout(const Operand& x, const Operand& rate, const std::optional<Sizes>& noise_shape,
               std::optional<int64_t> seed) {
  const Here& location = x.location();
  if (rate.is_number() && !(rate.number() >= 0 && rate.number() < 1)) {
    throw_error(engine::value_error("`rate` must be a scalar tensor or a float in the range [0, "
                                    "1). Received: rate=",
                                    rate.number()),
                location);
  }
  Composite composite("dropout", location);
  Tensor tensor = x.as_tensor();
  if (!engine::is_floating(tensor.dtype())) {
    throw_error(engine::value_error("`x.dtype` must be a floating point tensor as `x` will be "
                                    "scaled. Received: x.dtype=",
                                    engine::dtype_name(tensor.dtype())),
                location);
  }
  if (rate.is_number() && rate.number() == 0) {
    (void)engine::seeds_of_op(seed);  // later ops draw what they draw after any rate
    return tensor;
  }
  Tensor sizes = noise_shape ? noise_shape->as_tensor(location) : shape(tensor);
  Tensor drawn = random::uniform(sizes, 0, 1, tensor.dtype(), seed, location);
  if (rate.is_number()) {
    double scale = 1 / (1 - rate.number());
    return where(drawn >= rate.number(), tensor * scale, zeros_like(tensor));
  }
  Tensor wanted = rate.as_tensor(tensor.dtype());
  Tensor scale = 1 / (1 - wanted);
  return where(drawn >= wanted, tensor * scale, zeros_like(tensor));
}

Tensor embedding_lookup(const Operand& params, const Operand& ids) { return gather(params, ids); }

Tensor embedding_lookup(const Variable& params, const Operand& ids) { return gather(params, ids); }

Tensor zero_fraction(const Operand& value) {
  Composite composite("zero_fraction", value.location());
  Tensor x = value.as_tensor();
  const Operand zero = x.dtype() == DType::kString ? Operand("")
                       : x.dtype() == DType::kBool ? Operand(false)
                                                   : Operand(0);
  return reduce_mean(cast(equal(x, zero), DType::kFloat32));
}

}  // namespace graven::nn
