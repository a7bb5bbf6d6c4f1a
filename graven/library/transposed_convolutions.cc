#include <optional>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/windows.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sizes.h"

// Gradients of convolutions in their input, as functions. Filters are [spatial axes..., out, in].

namespace graven::engine {
namespace {

// Over n spatial axes; n = 0: as many as output_shape has.
template <int n>
struct TransposedParameters {
  Tensor input, filters;
  Sizes output_shape;
  Window strides;
  std::conditional_t<n == 2 || n == 0, Padding, std::string> padding = {"SAME"};
  std::conditional_t<n == 0, std::optional<std::string>, std::string> data_format =
      default_format();
  Window dilations;
  static auto default_format() {
    if constexpr (n == 0) {
      return std::optional<std::string>();
    } else {
      return std::string(n == 1 ? "NWC" : n == 2 ? "NHWC" : "NDHWC");
    }
  }
  static constexpr auto fields() {
    using P = TransposedParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "[batch, spatial axes..., in]."),
        required_field("filters", &P::filters, "T", "[spatial axes..., out, in]."),
        required_field("output_shape", &P::output_shape, "The sizes of the result."),
        required_field("strides", &P::strides, kWindowDoc),
        field("padding", &P::padding, n == 2 || n == 0 ? kPaddingDoc : "\"SAME\" or \"VALID\"."),
        field("data_format", &P::data_format,
              n == 0   ? "\"NC...\": channels are second; None and \"N...C\": they are last."
              : n == 1 ? "\"NWC\" or \"NCW\"."
              : n == 2 ? "\"NHWC\" or \"NCHW\"."
                       : "\"NDHWC\" or \"NCDHW\"."),
        field("dilations", &P::dilations, "Like strides; None means 1."));
  }
};

Outputs conv2d_transpose(FunctionContext& c, const TransposedParameters<2>& p) {
  const auto attrs =
      convolution_attrs<ConvolutionAttrs>(c, p.strides, p.padding, p.data_format, p.dilations);
  const Tensor sizes = c.tensor_of(p.output_shape, "output_shape");
  return c(kConv2DBackpropInput, {sizes, p.filters, p.input}, attrs, c.name());
}

Outputs conv3d_transpose(FunctionContext& c, const TransposedParameters<3>& p) {
  const auto attrs = convolution_attrs<VolumeConvolutionAttrs>(c, p.strides, {.kind = p.padding},
                                                               p.data_format, p.dilations, 3);
  const Tensor sizes = c.tensor_of(p.output_shape, "output_shape");
  return c(kConv3DBackpropInputV2, {sizes, p.filters, p.input}, attrs, c.name());
}

// Sequences are images of one row.
Outputs conv1d_transpose(FunctionContext& c, const TransposedParameters<1>& p) {
  if (p.data_format != "NWC" && p.data_format != "NCW") {
    return c.fail(
        value_error("`data_format` must be 'NWC' or 'NCW'. Received: data_format=", p.data_format));
  }
  const bool second = p.data_format == "NCW";
  auto attrs = convolution_attrs<ConvolutionAttrs>(c, p.strides, {.kind = p.padding},
                                                   second ? "NCHW" : "NHWC", p.dilations, 1);
  attrs.strides.insert(attrs.strides.begin(), 1);
  attrs.dilations.insert(attrs.dilations.begin(), 1);
  const int64_t row = second ? 2 : 1, ones[] = {1}, at[] = {row};
  Sizes sizes = p.output_shape;
  if (sizes.numbers && static_cast<int64_t>(sizes.numbers->size()) >= row) {
    sizes.numbers->insert(sizes.numbers->begin() + row, 1);
  }
  Tensor shape = c.tensor_of(sizes, "output_shape");
  if (sizes.tensor) {
    const Tensor place = c.vector(at), given = as_int32(c, shape);
    const Tensor begin = elements_between(c, given, c.vector(std::array<int64_t, 1>{0}), place);
    shape = joined(c, joined(c, begin, c.vector(ones)), elements_between(c, given, place));
  }
  const Tensor x = c(kExpandDims, {p.input, c.scalar(row)});
  const Tensor filters = c(kExpandDims, {p.filters, c.scalar(0)});
  const Tensor y = c(kConv2DBackpropInput, {shape, filters, x}, attrs, c.name());
  return c(kSqueeze, {y}, {.squeeze_dims = {row}});
}

Outputs conv_transpose(FunctionContext& c, const TransposedParameters<0>& p) {
  const auto& [numbers, is_scalar, tensor] = static_cast<const Integers&>(p.output_shape);
  const auto length = tensor                  ? c.static_size(tensor, 0)
                      : numbers && !is_scalar ? std::optional(static_cast<int64_t>(numbers->size()))
                                              : std::nullopt;
  if (!length || *length < 3 || *length > 5) {
    return c.fail(value_error("`output_shape` must be of length 3, 4 or 5, got ",
                              length ? str_cat(*length) : "no list"));
  }
  const bool second = p.data_format && p.data_format->starts_with("NC");
  if (*length == 3) {
    return conv1d_transpose(c, {p.input, p.filters, p.output_shape, p.strides, p.padding.kind,
                                second ? "NCW" : "NWC", p.dilations});
  }
  if (*length == 4) {
    return conv2d_transpose(c, {p.input, p.filters, p.output_shape, p.strides, p.padding,
                                second ? "NCHW" : "NHWC", p.dilations});
  }
  return conv3d_transpose(c, {p.input, p.filters, p.output_shape, p.strides, p.padding.kind,
                              second ? "NCDHW" : "NDHWC", p.dilations});
}

struct AtrousParameters {
  Tensor value, filters;
  Sizes output_shape;
  int64_t rate = 1;
  std::string padding;
  static constexpr auto fields() {
    using P = AtrousParameters;
    return std::tuple(
        required_field("value", &P::value, "T", "Images, [batch, height, width, in]."),
        required_field("filters", &P::filters, "T", "[height, width, out, in]."),
        required_field("output_shape", &P::output_shape, "The sizes of the result."),
        required_field("rate", &P::rate, "The distance of neighbours in a window."),
        required_field("padding", &P::padding, "\"SAME\" or \"VALID\"."));
  }
};

Outputs atrous_conv2d_transpose(FunctionContext& c, const AtrousParameters& p) {
  if (p.rate < 1) return c.fail(value_error("`rate` cannot be less than one, got ", p.rate));
  if (p.padding != "SAME" && p.padding != "VALID") {
    return c.fail(
        value_error("`padding` must be either 'VALID' or 'SAME'. Received: padding=", p.padding));
  }
  return conv2d_transpose(
      c, {p.value, p.filters, p.output_shape, {}, {.kind = p.padding}, "NHWC", {{p.rate}}});
}

template <typename Body>
void define(FunctionRegistry& functions, std::string_view name, std::string_view summary,
            std::string_view op, Body body) {
  functions.define({
      .names = str_cat("nn.", name),
      .scope = std::string(name),
      .types = {{"T", kFloatTypes}},
      .summary = std::string(summary),
      .returns = "The result, of output_shape.",
      .raises = {{"InvalidArgumentError", "The sizes do not fit, or data_format is another."},
                 {"ValueError", "An argument is out of range, or a list has another length."}},
      .source = str_cat("OpDef \"", op, "\""),
      .body = body,
  });
}

}  // namespace

void define_transposed_convolutions(FunctionRegistry& functions) {
  define(functions, "conv1d_transpose",
         "The gradient of conv1d for its input, as a function: spreads sequences to longer ones by "
         "filters.",
         "Conv2DBackpropInput", conv1d_transpose);
  define(functions, "conv2d_transpose",
         "The gradient of conv2d for its input, as a function: spreads images to larger ones by "
         "filters.",
         "Conv2DBackpropInput", conv2d_transpose);
  define(functions, "conv3d_transpose",
         "The gradient of conv3d for its input, as a function: spreads volumes to larger ones by "
         "filters.",
         "Conv3DBackpropInputV2", conv3d_transpose);
  define(functions, "conv_transpose",
         "The gradient of convolution for its input, as a function; output_shape says of how many "
         "dimensions.",
         "Conv2DBackpropInput", conv_transpose);
  define(functions, "atrous_conv2d_transpose",
         "The gradient of atrous_conv2d for its input, as a function.", "Conv2DBackpropInput",
         atrous_conv2d_transpose);
}

}  // namespace graven::engine
