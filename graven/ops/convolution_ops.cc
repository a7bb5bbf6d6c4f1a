#include "graven/ops/convolution_ops.h"

#include <algorithm>
#include <type_traits>

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/kernels/convolution.h"
#include "graven/kernels/panels.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/windows.h"

namespace graven::engine {
namespace {

// Dense and depthwise convolutions differ in the shapes of their filters: [height, width, in
// channels of a group, out channels], or [height, width, in channels, multiplier]. In memory a
// depthwise filter is that of as many groups as channels, [height, width, 1, in channels *
// multiplier].

template <typename A>
Result<Windows> windows_of(const A& attrs) {
  WindowAttributes a = {.strides = attrs.strides,
                        .padding = attrs.padding,
                        .data_format = attrs.data_format,
                        .dilations = attrs.dilations};
  if constexpr (std::is_same_v<A, VolumeConvolutionAttrs>) {
    a.axes = 3;
    if (attrs.padding == "EXPLICIT") {
      return invalid_argument("padding must be \"SAME\" or \"VALID\", got \"EXPLICIT\"");
    }
  } else {
    a.explicit_paddings = attrs.explicit_paddings;
  }
  return checked_windows(a);
}

Status check_rank(std::string_view what, const Shape& shape, const Windows& windows) {
  const int rank = windows.axes + 2;
  if (!shape.has_rank() || shape.rank() == rank) return {};
  return invalid_argument(what, " must be ", rank, "-dimensional: ", shape.to_message());
}

// Channels of the output of a convolution.
template <typename A>
Result<Dim> out_channels(InferContext& c, Dim in, const Shape& filter) {
  const int last = filter.rank() - 1;
  const Dim of_filter = filter[last - 1], out = filter[last];
  if (!std::is_same_v<A, ConvolutionAttrs>) {
    auto channels = c.merge(in, of_filter);
    if (!channels.ok()) {
      return invalid_argument("input and filter must have the same depth: ", in.number(), " vs ",
                              of_filter.number());
    }
    return std::is_same_v<A, DepthwiseConvolutionAttrs> ? c.multiply(*channels, out) : out;
  }
  if (!in.is_number() || !of_filter.is_number()) return out;
  const int64_t of_group = of_filter.number();
  if (of_group == 0 || in.number() % of_group != 0) {
    return invalid_argument(
        c.is_graph() ? "Depth of input is not a multiple of the depth of the filter: " : "",
        "input depth must be evenly divisible by filter depth: ", in.number(), " vs ", of_group);
  }
  const int64_t groups = in.number() / of_group;
  if (out.is_number() && groups > 0 && out.number() % groups != 0) {
    return invalid_argument("output depth must be evenly divisible by number of groups: ",
                            out.number(), " vs ", groups);
  }
  return out;
}

// The shape of the output for an image and a filter, all with channels last.
template <typename A>
Result<Shape> output_shape(InferContext& c, const Windows& windows, const Shape& image,
                           const Shape& filter) {
  Shape out = unknown_sizes(windows.axes + 2);
  if (image.has_rank()) out.set(0, image[0]);
  if (!filter.has_rank()) return out;
  ASSIGN_OR_RETURN(
      Dim channels,
      out_channels<A>(c, image.has_rank() ? image[windows.axes + 1] : Dim::unknown(), filter));
  out.set(windows.axes + 1, channels);
  for (int axis = 0; axis < windows.axes; ++axis) {
    Dim in = image.has_rank() ? image[1 + axis] : Dim::unknown();
    ASSIGN_OR_RETURN(Dim count, count_windows(c, windows, axis, in, filter[axis]));
    out.set(1 + axis, count);
  }
  return out;
}

// Out_backprop must have the shape that the output had.
template <typename A>
Status check_out_backprop(InferContext& c, const Windows& windows, const Shape& image,
                          const Shape& filter) {
  ASSIGN_OR_RETURN(Shape out, output_shape<A>(c, windows, image, filter));
  const Shape expected = in_format(out, windows.channels_second);
  if (c.shape(2).has_rank() && !merge_shapes(expected, c.shape(2)).ok()) {
    return invalid_argument("Size of out_backprop doesn't match computed: actual = ",
                            c.shape(2).to_message(), ", computed = ", expected.to_message());
  }
  return {};
}

// Memory for a result with channels last: the output itself, or a tensor to be transposed into it.
Result<Tensor> result_memory(const Tensor& output, bool channels_second) {
  if (!channels_second) return output;
  return Tensor::allocate(output.dtype(), channels_last(output.shape(), true));
}

Result<Tensor> image_of(const Tensor& image, bool channels_second) {
  if (!channels_second) return image;
  return to_channels_last(image);
}

// The end of a kernel whose result has the layout of a format: transposes it if need be, and then
// tells of it, as nobody was told before.
void finish(KernelContext& c, const Tensor& result, bool channels_second) {
  if (!channels_second) return;
  from_channels_last(result, c.output(0));
  const int64_t columns = c.output(0).shape().size(c.output(0).rank() - 1);
  if (columns > 0) report_rows(c.done(), c.output(0).num_elements() / columns, columns);
}

// --- Gradients. A convolution is linear in image and filter, and each of the three ops gives one
// of image, filter and output from the other two.

template <typename A>
struct Family {
  const OpHandle<A>&forward, &input_gradient, &filter_gradient;
};

template <typename A>
Family<A> family() {
  if constexpr (std::is_same_v<A, ConvolutionAttrs>) {
    return {kConv2D, kConv2DBackpropInput, kConv2DBackpropFilter};
  } else if constexpr (std::is_same_v<A, VolumeConvolutionAttrs>) {
    return {kConv3D, kConv3DBackpropInputV2, kConv3DBackpropFilterV2};
  } else {
    return {kDepthwiseConv2dNative, kDepthwiseConv2dNativeBackpropInput,
            kDepthwiseConv2dNativeBackpropFilter};
  }
}

// Each element of the images that come out, or whose gradient comes in, is a sum over the filter
// but for its axis of out channels; over height and width alone if channels stay apart.
template <typename Attributes>
double cost_of_sums(const Shape& images, const Shape& filter) {
  constexpr double kProductsPerNanosecond = 20;
  constexpr int kLeftOut = std::is_same_v<Attributes, DepthwiseConvolutionAttrs> ? -2 : -1;
  return guessed_elements(images) * guessed_elements(filter) /
         std::max(guessed_elements(filter, kLeftOut), 1.0) / kProductsPerNanosecond;
}

// --- Dense.

template <typename A>
Status convolution_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  RETURN_IF_ERROR(check_rank("input", c.shape(0), windows));
  RETURN_IF_ERROR(check_rank("filter", c.shape(1), windows));
  ASSIGN_OR_RETURN(
      Shape out,
      output_shape<A>(c, windows, channels_last(c.shape(0), windows.channels_second), c.shape(1)));
  c.set_shape(0, in_format(out, windows.channels_second));
  return {};
}

// The arguments of the kernels; image and out have channels last.
template <typename A>
Convolution convolution_of(const Windows& windows, DType dtype, const Shape& image,
                           const Shape& filter, const Shape& out) {
  const int y = windows.axes - 2, x = y + 1;  // spatial axes
  const auto pads = [&](int axis) {
    return pads_of(windows, axis, image.size(1 + axis), filter.size(axis), out.size(1 + axis));
  };
  const int64_t in_channels = image.size(2 + x), of_filter = filter.size(1 + x);
  int64_t groups = in_channels;
  if (!std::is_same_v<A, DepthwiseConvolutionAttrs>) {
    groups = of_filter == 0 ? 1 : in_channels / of_filter;
  }
  Convolution made{.dtype = dtype,
                   .batch = image.size(0),
                   .in_height = image.size(1 + y),
                   .in_width = image.size(1 + x),
                   .in_channels = in_channels,
                   .filter_height = filter.size(y),
                   .filter_width = filter.size(x),
                   .out_channels = out.size(2 + x),
                   .out_height = out.size(1 + y),
                   .out_width = out.size(1 + x),
                   .stride_height = windows.strides[y],
                   .stride_width = windows.strides[x],
                   .dilation_height = windows.dilations[y],
                   .dilation_width = windows.dilations[x],
                   .pad_top = pads(y).before,
                   .pad_bottom = pads(y).after,
                   .pad_left = pads(x).before,
                   .pad_right = pads(x).after,
                   .groups = std::max<int64_t>(groups, 1)};
  if (windows.axes == 3) {
    made.in_depth = image.size(1);
    made.filter_depth = filter.size(0);
    made.out_depth = out.size(1);
    made.stride_depth = windows.strides[0];
    made.dilation_depth = windows.dilations[0];
    made.pad_front = pads(0).before;
    made.pad_back = pads(0).after;
  }
  return made;
}

template <typename A>
Status convolution_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  const bool second = windows.channels_second;
  ASSIGN_OR_RETURN(Tensor image, image_of(c.input(0), second));
  ASSIGN_OR_RETURN(Tensor out, result_memory(c.output(0), second));
  const Tensor& filter = c.input(1);
  RETURN_IF_ERROR(convolution_forward(
      convolution_of<A>(windows, out.dtype(), image.shape(), filter.shape(), out.shape()),
      image.raw_data(), filter.raw_data(), out.mutable_raw_data(), second ? nullptr : c.done()));
  finish(c, out, second);
  return {};
}

template <typename A>
void convolution_gradient(GradientContext& c) {
  const A& attrs = c.attrs<A>();
  Tensor dy = c.dy();
  if (c.wants(0)) {
    c.set_dx(0, c(family<A>().input_gradient, {c.shape_of_x(0), c.x(1), dy}, attrs));
  }
  if (c.wants(1)) {
    c.set_dx(1, c(family<A>().filter_gradient, {c.x(0), c.shape_of_x(1), dy}, attrs));
  }
}

template <typename Attributes>
double convolution_cost(const CostContext& c) {
  return cost_of_sums<Attributes>(c.output(0), c.input(1));
}

using Dense = ConvolutionAttrs;

constexpr DTypeSet kWithInt32 = kFloatTypes | DTypeSet{DType::kInt32};

void define_conv2_d(OpRegistry& ops) {
  ops.define(kConv2D,
             {
                 .name = "Conv2D",
                 .summary = "The convolution of images with filters [height, width, in channels, "
                            "out channels].",
                 .details = "If the channels of the images are a multiple of those of the filter, "
                            "they are cut into groups, each of which makes its part of the out "
                            "channels.",
                 .inputs = {"input: T", "filter: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kWithInt32}},
                 .infer = convolution_shape<Dense>,
                 .gradient = convolution_gradient<Dense>,
                 .batch = batch_by_folding<0>,
                 .body = kernel(convolution_kernel<Dense>),
                 .panels = true,
                 .cost = convolution_cost<Dense>,
             });
}

// The shape that an input's values say.
Result<Shape> said_shape(InferContext& c, int input, std::string_view name) {
  if (c.shape(input).has_rank() && c.shape(input).rank() != 1) {
    return invalid_argument(name, " must be 1-dimensional, got shape ",
                            c.shape(input).to_message());
  }
  auto sizes = c.sizes(input);
  if (!sizes) return Shape::unknown_rank();
  if (Tensor value = c.value(input)) {
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const int64_t size = integer_at(value, i);
      if (size < 0) return invalid_argument(name, " must be nonnegative, got ", size);
    }
  }
  return Shape(std::span<const Dim>(*sizes));
}

template <typename A>
Status input_gradient_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  ASSIGN_OR_RETURN(Shape said, said_shape(c, 0, "input_sizes"));
  const Shape &filter = c.shape(1), &dy = c.shape(2);
  RETURN_IF_ERROR(check_rank("filter", filter, windows));
  RETURN_IF_ERROR(check_rank("out_backprop", dy, windows));
  const int rank = windows.axes + 2;
  Shape image = unknown_sizes(rank);
  if (said.has_rank() && said.rank() == 2 && windows.axes == 2) {  // height and width alone
    image = {dy.has_rank() ? dy[0] : Dim::unknown(), said[0], said[1],
             filter.has_rank() ? filter[2] : Dim::unknown()};
  } else if (said.has_rank()) {
    if (said.rank() != rank) {
      return invalid_argument("input_sizes must have ", rank, windows.axes == 2 ? " or 2" : "",
                              " elements, got ", said.rank());
    }
    image = channels_last(said, windows.channels_second);
  }
  if (image[0].is_unknown() && dy.has_rank()) image.set(0, dy[0]);
  RETURN_IF_ERROR(check_out_backprop<A>(c, windows, image, filter));
  c.set_shape(0, in_format(image, windows.channels_second));
  return {};
}

template <typename A>
Status input_gradient_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  const bool second = windows.channels_second;
  ASSIGN_OR_RETURN(Tensor dy, image_of(c.input(2), second));
  ASSIGN_OR_RETURN(Tensor dx, result_memory(c.output(0), second));
  const Tensor& filter = c.input(1);
  RETURN_IF_ERROR(convolution_input_gradient(
      convolution_of<A>(windows, dx.dtype(), dx.shape(), filter.shape(), dy.shape()),
      filter.raw_data(), dy.raw_data(), dx.mutable_raw_data(), second ? nullptr : c.done()));
  finish(c, dx, second);
  return {};
}

template <typename A>
void input_gradient_gradient(GradientContext& c) {
  const A& attrs = c.attrs<A>();
  Tensor dz = c.dy();
  if (c.wants(1)) {
    c.set_dx(1, c(family<A>().filter_gradient, {dz, c.shape_of_x(1), c.x(2)}, attrs));
  }
  if (c.wants(2)) c.set_dx(2, c(family<A>().forward, {dz, c.x(1)}, attrs));
}

template <typename Attributes>
double input_gradient_cost(const CostContext& c) {
  return cost_of_sums<Attributes>(c.input(2), c.input(1));
}

void define_conv2_d_backprop_input(OpRegistry& ops) {
  ops.define(kConv2DBackpropInput,
             {
                 .name = "Conv2DBackpropInput",
                 .summary = "The gradient of Conv2D with respect to its images, of the given "
                            "sizes: a transposed convolution.",
                 .inputs = {"input_sizes: int32", "filter: T", "out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kWithInt32}},
                 .infer = input_gradient_shape<Dense>,
                 .gradient = input_gradient_gradient<Dense>,
                 .batch = batch_by_folding_sizes<0, 2>,
                 .body = kernel(input_gradient_kernel<Dense>),
                 .values_for_inference = {0},
                 .panels = true,
                 .cost = input_gradient_cost<Dense>,
             });
}

template <typename A>
Status filter_gradient_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  RETURN_IF_ERROR(check_rank("input", c.shape(0), windows));
  RETURN_IF_ERROR(check_rank("out_backprop", c.shape(2), windows));
  ASSIGN_OR_RETURN(Shape filter, said_shape(c, 1, "filter_sizes"));
  const int rank = windows.axes + 2;
  if (!filter.has_rank()) filter = unknown_sizes(rank);
  if (filter.rank() != rank) {
    return invalid_argument("filter_sizes must have ", rank, " elements, got ", filter.rank());
  }
  RETURN_IF_ERROR(check_out_backprop<A>(
      c, windows, channels_last(c.shape(0), windows.channels_second), filter));
  c.set_shape(0, filter);
  return {};
}

template <typename A>
Status filter_gradient_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  ASSIGN_OR_RETURN(Tensor image, image_of(c.input(0), windows.channels_second));
  ASSIGN_OR_RETURN(Tensor dy, image_of(c.input(2), windows.channels_second));
  const Tensor& filter = c.output(0);
  return convolution_filter_gradient(
      convolution_of<A>(windows, dy.dtype(), image.shape(), filter.shape(), dy.shape()),
      image.raw_data(), dy.raw_data(), filter.mutable_raw_data());
}

template <typename A>
void filter_gradient_gradient(GradientContext& c) {
  const A& attrs = c.attrs<A>();
  Tensor dz = c.dy();
  if (c.wants(0)) {
    c.set_dx(0, c(family<A>().input_gradient, {c.shape_of_x(0), dz, c.x(2)}, attrs));
  }
  if (c.wants(2)) c.set_dx(2, c(family<A>().forward, {c.x(0), dz}, attrs));
}

template <typename Attributes>
double filter_gradient_cost(const CostContext& c) {
  return cost_of_sums<Attributes>(c.input(2), c.output(0));
}

void define_conv2_d_backprop_filter(OpRegistry& ops) {
  ops.define(kConv2DBackpropFilter,
             {
                 .name = "Conv2DBackpropFilter",
                 .summary = "The gradient of Conv2D with respect to its filter, of the given "
                            "sizes.",
                 .inputs = {"input: T", "filter_sizes: int32", "out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = filter_gradient_shape<Dense>,
                 .gradient = filter_gradient_gradient<Dense>,
                 .body = kernel(filter_gradient_kernel<Dense>),
                 .values_for_inference = {1},
                 .cost = filter_gradient_cost<Dense>,
             });
}

// --- Volumes.

using Volume = VolumeConvolutionAttrs;

void define_conv3_d_and_kin(OpRegistry& ops) {
  ops.define(kConv3D, {
                          .name = "Conv3D",
                          .summary = "The convolution of volumes with filters [depth, height, "
                                     "width, in channels, out channels].",
                          .inputs = {"input: T", "filter: T"},
                          .outputs = {"output: T"},
                          .types = {{"T", kFloatTypes}},
                          .infer = convolution_shape<Volume>,
                          .gradient = convolution_gradient<Volume>,
                          .batch = batch_by_folding<0>,
                          .body = kernel(convolution_kernel<Volume>),
                          .panels = true,
                          .cost = convolution_cost<Volume>,
                      });
  ops.define(kConv3DBackpropInputV2,
             {
                 .name = "Conv3DBackpropInputV2",
                 .summary = "The gradient of Conv3D with respect to its volumes, of the given "
                            "sizes: a transposed convolution.",
                 .inputs = {"input_sizes: Tshape", "filter: T", "out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}, {"Tshape", kIndexTypes}},
                 .infer = input_gradient_shape<Volume>,
                 .gradient = input_gradient_gradient<Volume>,
                 .batch = batch_by_folding_sizes<0, 2>,
                 .body = kernel(input_gradient_kernel<Volume>),
                 .values_for_inference = {0},
                 .panels = true,
                 .cost = input_gradient_cost<Volume>,
             });
  ops.define(kConv3DBackpropFilterV2,
             {
                 .name = "Conv3DBackpropFilterV2",
                 .summary = "The gradient of Conv3D with respect to its filter, of the given "
                            "sizes.",
                 .inputs = {"input: T", "filter_sizes: int32", "out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = filter_gradient_shape<Volume>,
                 .gradient = filter_gradient_gradient<Volume>,
                 .body = kernel(filter_gradient_kernel<Volume>),
                 .values_for_inference = {1},
                 .cost = filter_gradient_cost<Volume>,
             });
}

// --- Depthwise.

using Depthwise = DepthwiseConvolutionAttrs;

void define_depthwise_conv2d_native_and_kin(OpRegistry& ops) {
  ops.define(kDepthwiseConv2dNative,
             {
                 .name = "DepthwiseConv2dNative",
                 .summary = "The convolution of each channel by itself with filters [height, "
                            "width, in channels, multiplier].",
                 .inputs = {"input: T", "filter: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = convolution_shape<Depthwise>,
                 .gradient = convolution_gradient<Depthwise>,
                 .batch = batch_by_folding<0>,
                 .body = kernel(convolution_kernel<Depthwise>),
                 .panels = true,
                 .cost = convolution_cost<Depthwise>,
             });
  ops.define(kDepthwiseConv2dNativeBackpropInput,
             {
                 .name = "DepthwiseConv2dNativeBackpropInput",
                 .summary = "The gradient of DepthwiseConv2dNative with respect to its images, of "
                            "the given sizes.",
                 .inputs = {"input_sizes: int32", "filter: T", "out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = input_gradient_shape<Depthwise>,
                 .gradient = input_gradient_gradient<Depthwise>,
                 .batch = batch_by_folding_sizes<0, 2>,
                 .body = kernel(input_gradient_kernel<Depthwise>),
                 .values_for_inference = {0},
                 .panels = true,
                 .cost = input_gradient_cost<Depthwise>,
             });
  ops.define(kDepthwiseConv2dNativeBackpropFilter,
             {
                 .name = "DepthwiseConv2dNativeBackpropFilter",
                 .summary = "The gradient of DepthwiseConv2dNative with respect to its filter, of "
                            "the given sizes.",
                 .inputs = {"input: T", "filter_sizes: int32", "out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = filter_gradient_shape<Depthwise>,
                 .gradient = filter_gradient_gradient<Depthwise>,
                 .body = kernel(filter_gradient_kernel<Depthwise>),
                 .values_for_inference = {1},
                 .cost = filter_gradient_cost<Depthwise>,
             });
}

}  // namespace

void define_convolution_ops(OpRegistry& ops) {
  define_conv2_d(ops);
  define_conv2_d_backprop_input(ops);
  define_conv2_d_backprop_filter(ops);
  define_conv3_d_and_kin(ops);
  define_depthwise_conv2d_native_and_kin(ops);
}

}  // namespace graven::engine
