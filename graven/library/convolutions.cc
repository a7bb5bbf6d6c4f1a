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

template <typename Attrs>
Attrs convolution_attrs(FunctionContext& c, const Window& strides, const Padding& padding,
                        const std::string& text, const Window& dilations) {
  const DataFormat format = data_format(text, 2);
  Attrs attrs;
  attrs.strides = window_sizes(c, strides, format, "strides");
  attrs.padding = padding.kind;
  attrs.explicit_paddings = explicit_paddings(padding);
  attrs.data_format = text;
  attrs.dilations = window_sizes(c, dilations, format, "dilations");
  return attrs;
}

Outputs conv2d(FunctionContext& c, const Conv2dParameters& p) {
  const auto attrs =
      convolution_attrs<ConvolutionAttrs>(c, p.strides, p.padding, p.data_format, p.dilations);
  return with_one_batch_axis(c, p.input, 3, [&](const Tensor& images, std::string_view name) {
    return c(kConv2D, {images, p.filters}, attrs, name);
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
Outputs conv1d(FunctionContext& c, const Conv1dParameters& p) {
  const bool is_last = p.data_format == "NWC" || p.data_format == "NHWC";
  if (!is_last && p.data_format != "NCW" && p.data_format != "NCHW") {
    return c.fail(
        value_error("`data_format` must be 'NWC' or 'NCW'. Received: data_format=", p.data_format));
  }
  const DataFormat format = data_format(p.data_format, 1);
  ConvolutionAttrs attrs = {.strides = window_sizes(c, p.stride, format, "stride"),
                            .padding = p.padding,
                            .data_format = is_last ? "NHWC" : "NCHW",
                            .dilations = window_sizes(c, p.dilations, format, "dilations")};
  attrs.strides.insert(attrs.strides.begin(), 1);
  attrs.dilations.insert(attrs.dilations.begin(), 1);
  const int64_t row = is_last ? -3 : -2;
  const Tensor filters = c(kExpandDims, {p.filters, c.scalar(0)});
  const Tensor x = c(kExpandDims, {p.input, c.scalar(row)});
  const Tensor y = with_one_batch_axis(c, x, 3, [&](const Tensor& images, std::string_view name) {
    return c(kConv2D, {images, filters}, attrs, name);
  });
  return c(kSqueeze, {y}, {.squeeze_dims = {row}});
}

struct TransposedConv2dParameters {
  Tensor input, filters;
  Sizes output_shape;
  Window strides;
  Padding padding = {.kind = "SAME"};
  std::string data_format = "NHWC";
  Window dilations;
  static constexpr auto fields() {
    using P = TransposedConv2dParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Images, [batch, height, width, in]."),
        required_field("filters", &P::filters, "T", "[height, width, out, in]."),
        required_field("output_shape", &P::output_shape, "The sizes of the result."),
        required_field("strides", &P::strides, kWindowDoc),
        field("padding", &P::padding, kPaddingDoc),
        field("data_format", &P::data_format, "\"NHWC\" or \"NCHW\"."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs conv2d_transpose(FunctionContext& c, const TransposedConv2dParameters& p) {
  const auto attrs =
      convolution_attrs<ConvolutionAttrs>(c, p.strides, p.padding, p.data_format, p.dilations);
  const Tensor sizes = c.tensor_of(p.output_shape, "output_shape");
  return c(kConv2DBackpropInput, {sizes, p.filters, p.input}, attrs, c.name());
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

}  // namespace

void define_convolutions(FunctionRegistry& functions) {
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
  functions.define({
      .names = "nn.conv2d_transpose",
      .scope = "conv2d_transpose",
      .types = {{"T", kFloatTypes}},
      .summary = "The gradient of conv2d for its input, as a function: spreads images to larger "
                 "ones by filters.",
      .returns = "The images, of output_shape.",
      .raises = {{"InvalidArgumentError", "The sizes do not fit, or data_format is another."},
                 {"ValueError", "A list has another length."}},
      .source = "OpDef \"Conv2DBackpropInput\"",
      .body = conv2d_transpose,
  });
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

}  // namespace graven::engine
