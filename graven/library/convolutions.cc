#include <string>
#include <vector>

#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/windows.h"
#include "graven/ops/convolution_ops.h"

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
  const DataFormat format = data_format(p.data_format, 2);
  const ConvolutionAttrs attrs = {.strides = window_sizes(c, p.strides, format, "strides"),
                                  .padding = p.padding.kind,
                                  .explicit_paddings = explicit_paddings(p.padding),
                                  .data_format = p.data_format,
                                  .dilations = window_sizes(c, p.dilations, format, "dilations")};
  return with_one_batch_axis(c, p.input, 3, [&](const Tensor& images, std::string_view name) {
    return c(kConv2D, {images, p.filters}, attrs, name);
  });
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
}

}  // namespace graven::engine
