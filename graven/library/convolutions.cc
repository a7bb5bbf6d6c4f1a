#include <optional>
#include <string>
#include <vector>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/windows.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven::engine {
namespace {

struct Conv2dParameters {
  Tensor input, filters;
  Window strides;
  Padding padding;
  std::string data_format = "NHWC";
  Window dilations;
  static constexpr auto fields() {
    using P = Conv2dParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Images, [batch..., height, width, in]."),
        required_field("filters", &P::filters, "T", "[height, width, in / groups, out]."),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding, kPaddingDoc),
        field("data_format", &P::data_format, "\"NHWC\" or \"NCHW\"."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs conv2d(FunctionContext& c, const Conv2dParameters& p) {
  const auto attrs =
      convolution_attrs<ConvolutionAttrs>(c, p.strides, p.padding, p.data_format, p.dilations);
  return with_one_batch_axis(c, p.input, 3, [&](const Tensor& images, std::string_view name) {
    return c(kConv2D, {images, p.filters}, attrs, name);
  });
}

void define_conv2d(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.conv2d",
      .scope = "Conv2D",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves images with filters, which are not mirrored.",
      .returns = "The images, [batch..., height, width, out].",
      .raises = {{"InvalidArgumentError", "The sizes do not fit, or data_format is another."},
                 {"ValueError", "A list has another length."}},
      .source = "OpDef \"Conv2D\"",
      .body = conv2d,
  });
}

struct Conv1dParameters {
  Tensor input, filters;
  Window stride;
  std::string padding, data_format = "NWC";
  Window dilations;
  static constexpr auto fields() {
    using P = Conv1dParameters;
    return std::tuple(required_field("input", &P::input, "T", "Sequences, [batch..., width, in]."),
                      required_field("filters", &P::filters, "T", "[width, in / groups, out]."),
                      required_field("stride", &P::stride, kWindowDoc),
                      required_field("padding", &P::padding, "\"SAME\" or \"VALID\"."),
                      field("data_format", &P::data_format, "\"NWC\" or \"NCW\"."),
                      field("dilations", &P::dilations, "Like stride; None means 1."));
  }
};

// Sequences are images of one row.
Tensor convolve_sequences(FunctionContext& c, const Tensor& input, const Tensor& filters,
                          const Window& strides, const Padding& padding, bool channels_second,
                          const Window& dilations) {
  auto attrs = convolution_attrs<ConvolutionAttrs>(c, strides, {.kind = padding.kind},
                                                   channels_second ? "NCHW" : "NHWC", dilations, 1);
  attrs.strides.insert(attrs.strides.begin(), 1);
  attrs.dilations.insert(attrs.dilations.begin(), 1);
  const int64_t row = channels_second ? -2 : -3;
  const Tensor x = c(kExpandDims, {input, c.scalar(row)});
  const Tensor rows = c(kExpandDims, {filters, c.scalar(0)});
  const Tensor y = with_one_batch_axis(c, x, 3, [&](const Tensor& images, std::string_view name) {
    return c(kConv2D, {images, rows}, attrs, name);
  });
  return c(kSqueeze, {y}, {.squeeze_dims = {row}});
}

Outputs conv1d(FunctionContext& c, const Conv1dParameters& p) {
  const bool is_last = p.data_format == "NWC" || p.data_format == "NHWC";
  if (!is_last && p.data_format != "NCW" && p.data_format != "NCHW") {
    return c.fail(
        value_error("`data_format` must be 'NWC' or 'NCW'. Received: data_format=", p.data_format));
  }
  return convolve_sequences(c, p.input, p.filters, p.stride, {.kind = p.padding}, !is_last,
                            p.dilations);
}

void define_conv1d(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.conv1d",
      .scope = "conv1d",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves sequences with filters, which are not mirrored.",
      .returns = "The sequences, [batch..., width, out].",
      .raises = {{"ValueError", "data_format is another, or a list has another length."},
                 {"InvalidArgumentError", "The sizes do not fit."}},
      .source = "OpDef \"Conv2D\"",
      .body = conv1d,
  });
}

struct Conv3dParameters {
  Tensor input, filters;
  Window strides;
  std::string padding, data_format = "NDHWC";
  Window dilations;
  static constexpr auto fields() {
    using P = Conv3dParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Volumes, [batch..., depth, height, width, in]."),
        required_field("filters", &P::filters, "T", "[depth, height, width, in, out]."),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding, "\"SAME\" or \"VALID\"."),
        field("data_format", &P::data_format, "\"NDHWC\" or \"NCDHW\"."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs conv3d(FunctionContext& c, const Conv3dParameters& p) {
  const auto attrs = convolution_attrs<VolumeConvolutionAttrs>(c, p.strides, {.kind = p.padding},
                                                               p.data_format, p.dilations, 3);
  return with_one_batch_axis(c, p.input, 4, [&](const Tensor& volumes, std::string_view name) {
    return c(kConv3D, {volumes, p.filters}, attrs, name);
  });
}

constexpr Raised kSizesDiffer = {"InvalidArgumentError",
                                 "The sizes do not fit, or data_format is another."};

constexpr Raised kOtherLength = {"ValueError", "A list has another length."};

void define_conv3d(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.conv3d",
      .scope = "Conv3D",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves volumes with filters, which are not mirrored.",
      .returns = "The volumes, [batch..., depth, height, width, out].",
      .raises = {kSizesDiffer, kOtherLength},
      .source = "OpDef \"Conv3D\"",
      .body = conv3d,
  });
}

struct ConvolutionParameters {
  Tensor input, filters;
  Window strides;
  Padding padding = {.kind = "VALID"};
  std::optional<std::string> data_format;
  Window dilations;
  static constexpr auto fields() {
    using P = ConvolutionParameters;
    return std::tuple(
        required_field("input", &P::input, "T",
                       "[batch..., one to three spatial axes, in], for which filters decide."),
        required_field("filters", &P::filters, "T", "[spatial axes..., in / groups, out]."),
        field("strides", &P::strides, kWindowDoc), field("padding", &P::padding, kPaddingDoc),
        field(
            "data_format", &P::data_format,
            "\"NC...\": channels are before the spatial axes; None and \"N...C\": they are last."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs convolution(FunctionContext& c, const ConvolutionParameters& p) {
  const std::string_view format = p.data_format ? *p.data_format : std::string_view("N...C");
  const bool second = format.starts_with("NC");
  if (!second && !format.ends_with("C")) {
    return c.fail(value_error("`data_format` must be of the form `N...C` or `NC...`. Received: ",
                              "data_format=", format));
  }
  const auto rank = c.rank_if_known(p.filters), input_rank = c.rank_if_known(p.input);
  const int n = rank ? *rank - 2 : input_rank ? *input_rank - 2 : 2;
  if (n < 1 || n > 3) {
    return c.fail(
        value_error("The number of spatial axes must be 1, 2 or 3. Received: filters.shape=",
                    p.filters.shape().to_text(), " and input.shape=", p.input.shape().to_text()));
  }
  if (n == 1) {
    return convolve_sequences(c, p.input, p.filters, p.strides, p.padding, second, p.dilations);
  }
  if (n == 2) {
    return conv2d(
        c, {p.input, p.filters, p.strides, p.padding, second ? "NCHW" : "NHWC", p.dilations});
  }
  return conv3d(
      c, {p.input, p.filters, p.strides, p.padding.kind, second ? "NCDHW" : "NDHWC", p.dilations});
}

void define_convolution(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.convolution",
      .scope = "convolution",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves sequences, images or volumes with filters, which are not mirrored.",
      .returns = "The results, [batch..., spatial axes..., out].",
      .raises = {{"ValueError", "A list has another length, or data_format is another."},
                 {"InvalidArgumentError", "The sizes do not fit."}},
      .source = "OpDefs \"Conv2D\" and \"Conv3D\"",
      .body = convolution,
  });
}

struct AtrousConv2dParameters {
  Tensor value, filters;
  Window rate;
  Padding padding;
  static constexpr auto fields() {
    using P = AtrousConv2dParameters;
    return std::tuple(
        required_field("value", &P::value, "T", "Images, [batch, height, width, in]."),
        required_field("filters", &P::filters, "T", "[height, width, in, out]."),
        required_field("rate", &P::rate, "The distance of neighbours in a window."),
        required_field("padding", &P::padding, "\"SAME\" or \"VALID\"."));
  }
};

Outputs atrous_conv2d(FunctionContext& c, const AtrousConv2dParameters& p) {
  for (int64_t rate : p.rate.sizes) {
    if (rate < 1) {
      return c.fail(value_error("all values of `dilation_rate` must be positive, got ", rate));
    }
  }
  return conv2d(c, {p.value, p.filters, {}, p.padding, "NHWC", p.rate});
}

struct SeparableConv2dParameters {
  Tensor input, depthwise_filter, pointwise_filter;
  Window strides;
  Padding padding;
  std::optional<std::string> data_format;
  Window dilations;
  static constexpr auto fields() {
    using P = SeparableConv2dParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Images, [batch, height, width, in]."),
        required_field("depthwise_filter", &P::depthwise_filter, "T",
                       "[height, width, in, multiplier]."),
        required_field("pointwise_filter", &P::pointwise_filter, "T",
                       "[1, 1, in * multiplier, out]."),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding, kPaddingDoc),
        field("data_format", &P::data_format, "\"NHWC\", which None means, or \"NCHW\"."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs separable_conv2d(FunctionContext& c, const SeparableConv2dParameters& p) {
  const auto rank = c.rank_if_known(p.pointwise_filter);
  const auto is_one = [&](int axis) {
    return c.size_if_known(p.pointwise_filter, axis).value_or(1) == 1;
  };
  if (rank && (*rank != 4 || !is_one(0) || !is_one(1))) {
    return c.fail(value_error("pointwise_filter must have the shape [1, 1, in, out], got ",
                              p.pointwise_filter.shape().to_text()));
  }
  const std::string format = p.data_format.value_or("NHWC");
  const auto attrs =
      convolution_attrs<DepthwiseConvolutionAttrs>(c, p.strides, p.padding, format, p.dilations);
  const Tensor y = c(kDepthwiseConv2dNative, {p.input, p.depthwise_filter}, attrs, "depthwise");
  const auto points = convolution_attrs<ConvolutionAttrs>(c, {}, {.kind = "VALID"}, format, {});
  return c(kConv2D, {y, p.pointwise_filter}, points, c.name());
}

void define_atrous_conv2d_and_separable_conv2d(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.atrous_conv2d",
      .scope = "convolution",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves images with filters whose elements stand `rate` pixels apart.",
      .returns = "The images, [batch, height, width, out].",
      .raises = {kSizesDiffer},
      .source = "OpDef \"Conv2D\"",
      .body = atrous_conv2d,
  });
  functions.define({
      .names = "nn.separable_conv2d",
      .scope = "separable_conv2d",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves each channel of images with filters of its own, then mixes channels.",
      .returns = "The images, [batch, height, width, out].",
      .raises = {{"InvalidArgumentError", "The sizes do not fit, or data_format is another."},
                 {"ValueError", "A list has another length, or pointwise_filter another shape."}},
      .source = "OpDefs \"DepthwiseConv2dNative\" and \"Conv2D\"",
      .body = separable_conv2d,
  });
}

struct DepthwiseConv2dParameters {
  Tensor input, filter;
  Window strides;
  Padding padding;
  std::optional<std::string> data_format;
  Window dilations;
  static constexpr auto fields() {
    using P = DepthwiseConv2dParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Images, [batch, height, width, in]."),
        required_field("filter", &P::filter, "T", "[height, width, in, multiplier]."),
        required_field("strides", &P::strides, kWindowDoc),
        required_field("padding", &P::padding, kPaddingDoc),
        field("data_format", &P::data_format, "\"NHWC\", which None means, or \"NCHW\"."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs depthwise_conv2d(FunctionContext& c, const DepthwiseConv2dParameters& p) {
  const auto attrs = convolution_attrs<DepthwiseConvolutionAttrs>(
      c, p.strides, p.padding, p.data_format.value_or("NHWC"), p.dilations);
  return c(kDepthwiseConv2dNative, {p.input, p.filter}, attrs, c.name());
}

struct BiasAddParameters {
  Tensor value, bias;
  std::optional<std::string> data_format;
  static constexpr auto fields() {
    using P = BiasAddParameters;
    return std::tuple(
        required_field("value", &P::value, "T", "At least two dimensions."),
        required_field("bias", &P::bias, "T", "One element for each channel."),
        field("data_format", &P::data_format,
              "\"N...C\", which None means: the last axis is that of the channels; or \"NC...\"."));
  }
};

Outputs bias_add(FunctionContext& c, const BiasAddParameters& p) {
  const std::string_view format = p.data_format ? *p.data_format : std::string_view("NHWC");
  const bool is_second = format.starts_with("NC");
  if (!is_second && !(format.starts_with("N") && format.ends_with("C"))) {
    return c.fail(value_error("`data_format` must be of the form `N...C` or `NC...`. Received: ",
                              "data_format=", format));
  }
  return c(kBiasAdd, {p.value, p.bias}, {.data_format = is_second ? "NCHW" : "NHWC"}, c.name());
}

void define_depthwise_conv2d_and_bias_add(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.depthwise_conv2d",
      .scope = "depthwise",
      .types = {{"T", kFloatTypes}},
      .summary = "Convolves each channel of images with filters of its own.",
      .returns = "The images, [batch, height, width, in * multiplier].",
      .raises = {{"InvalidArgumentError", "The sizes do not fit, or data_format is another."},
                 {"ValueError", "A list has another length."}},
      .source = "OpDef \"DepthwiseConv2dNative\"",
      .body = depthwise_conv2d,
  });
  functions.define({
      .names = "nn.bias_add",
      .scope = "BiasAdd",
      .types = {{"T", kNumberTypes}},
      .summary = "Adds a vector along the channels.",
      .returns = "The sums, of value's shape.",
      .raises = {{"ValueError", "There is no such format."},
                 {"InvalidArgumentError", "The sizes differ."}},
      .source = "OpDef \"BiasAdd\"",
      .body = bias_add,
  });
}

}  // namespace

void define_convolutions(FunctionRegistry& functions) {
  define_conv2d(functions);
  define_conv1d(functions);
  define_conv3d(functions);
  define_convolution(functions);
  define_atrous_conv2d_and_separable_conv2d(functions);
  define_depthwise_conv2d_and_bias_add(functions);
}

}  // namespace graven::engine
