#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/convolution.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/windows.h"

namespace graven::engine {
namespace {

Result<Windows> windows_of(const MaxPoolAttrs& attrs) {
  return checked_windows({.strides = attrs.strides,
                          .padding = attrs.padding,
                          .data_format = attrs.data_format,
                          .explicit_paddings = attrs.explicit_paddings,
                          .is_pooling = true,
                          .ksize = attrs.ksize});
}

Result<Windows> windows_of(const PoolAttrs& attrs) {
  if (attrs.padding == "EXPLICIT") {
    return invalid_argument("padding must be \"SAME\" or \"VALID\", got \"EXPLICIT\"");
  }
  return checked_windows({.strides = attrs.strides,
                          .padding = attrs.padding,
                          .data_format = attrs.data_format,
                          .is_pooling = true,
                          .ksize = attrs.ksize});
}

using Images = InlineVector<Tensor, 4>;

// --- Shapes.

Result<Shape> pooled_shape(InferContext& c, const Windows& windows, const Shape& image) {
  if (image.has_rank() && image.rank() != 4) {
    return invalid_argument("the input must be 4-dimensional, got shape ", image.to_message());
  }
  Shape in = channels_last(image, windows.channels_second);
  if (!in.has_rank()) in = {Dim::unknown(), Dim::unknown(), Dim::unknown(), Dim::unknown()};
  Shape out = in;
  if (windows.depth != 1) {
    if (in[3].is_number() && in[3].number() % windows.depth != 0) {
      return unimplemented(
          "Depthwise max pooling requires the depth window to evenly divide the input depth.");
    }
    out.set(3, c.floor_div(in[3], windows.depth));
    return in_format(out, windows.channels_second);
  }
  for (int axis = 0; axis < 2; ++axis) {
    ASSIGN_OR_RETURN(Dim count, count_windows(c, windows, axis, in[1 + axis], windows.sizes[axis]));
    out.set(1 + axis, count);
  }
  return in_format(out, windows.channels_second);
}

Status max_pool_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<MaxPoolAttrs>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  c.set_shape(0, out);
  return {};
}

// --- Kernels.

// What they are told, of shapes with channels last. A window over channels is one that slides
// along the width of images of one pixel row, which has a channel in each column.
Pooling pooling_of(const Windows& windows, DType dtype, const Shape& image, const Shape& out) {
  if (windows.depth != 1) {
    return {.dtype = dtype,
            .batch = image.size(0) * image.size(1) * image.size(2),
            .in_height = 1,
            .in_width = image.size(3),
            .channels = 1,
            .window_height = 1,
            .window_width = windows.depth,
            .out_height = 1,
            .out_width = out.size(3),
            .stride_width = windows.depth};
  }
  return {.dtype = dtype,
          .batch = image.size(0),
          .in_height = image.size(1),
          .in_width = image.size(2),
          .channels = image.size(3),
          .window_height = windows.sizes[0],
          .window_width = windows.sizes[1],
          .out_height = out.size(1),
          .out_width = out.size(2),
          .stride_height = windows.strides[0],
          .stride_width = windows.strides[1],
          .pad_top = pads_of(windows, 0, image.size(1), windows.sizes[0], out.size(1)).before,
          .pad_left = pads_of(windows, 1, image.size(2), windows.sizes[1], out.size(2)).before};
}

// Calls pool(pooling, inputs, output) with tensors whose channels are last. The shapes of the
// pooled images and of the result of pooling are given as the op has them.
template <typename F>
Status run_pooling(KernelContext& c, const Windows& windows, const Shape& image,
                   const Shape& pooled, std::initializer_list<int> inputs, F pool) {
  const bool second = windows.channels_second;
  const Tensor& output = c.output(0);
  InlineVector<Tensor, 4> images;
  for (int input : inputs) {
    images.push_back(c.input(input));
    if (!second) continue;
    ASSIGN_OR_RETURN(images.back(), to_channels_last(c.input(input)));
  }
  Tensor result = output;
  if (second) {
    ASSIGN_OR_RETURN(result, Tensor::allocate(output.dtype(), channels_last(output.shape(), true)));
  }
  const Pooling pooling = pooling_of(windows, output.dtype(), channels_last(image, second),
                                     channels_last(pooled, second));
  RETURN_IF_ERROR(pool(pooling, images, result.mutable_raw_data()));
  if (second) from_channels_last(result, output);
  return {};
}

// A window that lies in the padding as a whole has no largest element.
Status check_paddings(const Windows& windows) {
  static constexpr const char* kSides[2][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
  for (const int axis : {0, 1}) {
    const int64_t sizes[] = {windows.pad_before[axis], windows.pad_after[axis]};
    for (const int side : {0, 1}) {
      if (sizes[side] < windows.sizes[axis]) continue;
      return invalid_argument(kSides[axis][side], " padding ", sizes[side],
                              " needs to be smaller than the window size ", windows.sizes[axis]);
    }
  }
  return {};
}

Status max_pool_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<MaxPoolAttrs>()));
  RETURN_IF_ERROR(check_paddings(windows));
  return run_pooling(
      c, windows, c.input(0).shape(), c.output(0).shape(), {0},
      [](const Pooling& p, const Images& x, void* to) { return max_pool(p, x[0].raw_data(), to); });
}

constexpr DTypeSet kMaxTypes =
    kFloatTypes | kSignedIntTypes | DTypeSet{DType::kUInt8, DType::kUInt16};

void define_max_pool(OpRegistry& ops) {
  ops.define(
      kMaxPool,
      {
          .name = "MaxPool",
          .summary = "The largest element of each window. Padding takes no part.",
          .inputs = {"input: T"},
          .outputs = {"output: T"},
          .types = {{"T", kMaxTypes}},
          .infer = max_pool_shape,
          .gradient =
              [](GradientContext& c) {
                c.set_dx(0, c(kMaxPoolGrad, {c.x(0), c.y(0), c.dy()}, c.attrs<MaxPoolAttrs>()));
              },
          .body = kernel(max_pool_kernel),
      });
}

Status check_shape(std::string_view what, const Shape& expected, const Shape& got) {
  if (merge_shapes(expected, got).ok()) return {};
  return invalid_argument("Expected ", what, " shape to be ", expected.to_message(), ", but got ",
                          got.to_message());
}

Status max_pool_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<MaxPoolAttrs>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  RETURN_IF_ERROR(check_shape("orig_output", out, c.shape(1)));
  RETURN_IF_ERROR(check_shape("grad", out, c.shape(2)));
  const Dim unknown = Dim::unknown();
  c.set_shape(0, c.shape(0).has_rank() ? c.shape(0) : Shape({unknown, unknown, unknown, unknown}));
  return {};
}

Status max_pool_grad_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<MaxPoolAttrs>()));
  return run_pooling(c, windows, c.input(0).shape(), c.input(1).shape(), {0, 1, 2},
                     [](const Pooling& p, const Images& x, void* to) {
                       return max_pool_gradient(p, x[0].raw_data(), x[1].raw_data(),
                                                x[2].raw_data(), to);
                     });
}

// Which element was largest does not change with small changes.
void no_gradient_for_images(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c(kZerosLike, {c.x(0)}));
  if (c.wants(1)) c.set_dx(1, c(kZerosLike, {c.x(1)}));
}

void max_pool_grad_gradient(GradientContext& c) {
  const auto& a = c.attrs<MaxPoolAttrs>();
  no_gradient_for_images(c);
  if (!c.wants(2)) return;
  if (a.padding == "EXPLICIT") {
    return c.fail(unimplemented("[MaxPoolGrad] has no gradient for explicit padding"));
  }
  c.set_dx(2, c(kMaxPoolGradGrad, {c.x(0), c.x(1), c.dy()},
                {a.ksize, a.strides, a.padding, a.data_format}));
}

void define_max_pool_grad(OpRegistry& ops) {
  ops.define(kMaxPoolGrad,
             {
                 .name = "MaxPoolGrad",
                 .summary = "The gradient of MaxPool: what comes in for a window goes to the first "
                            "of its largest elements.",
                 .inputs = {"orig_input: T", "orig_output: T", "grad: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kRealTypes}},
                 .infer = max_pool_grad_shape,
                 .gradient = max_pool_grad_gradient,
                 .body = kernel(max_pool_grad_kernel),
             });
}

Status max_pool_grad_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<PoolAttrs>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  RETURN_IF_ERROR(check_shape("orig_output", out, c.shape(1)));
  RETURN_IF_ERROR(check_shape("grad", c.shape(0), c.shape(2)));
  c.set_shape(0, out);
  return {};
}

Status max_pool_grad_grad_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<PoolAttrs>()));
  return run_pooling(c, windows, c.input(0).shape(), c.input(1).shape(), {0, 1, 2},
                     [](const Pooling& p, const Images& x, void* to) {
                       return max_pool_gradient_gradient(p, x[0].raw_data(), x[1].raw_data(),
                                                         x[2].raw_data(), to);
                     });
}

void max_pool_grad_grad_gradient(GradientContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  no_gradient_for_images(c);
  if (!c.wants(2)) return;
  c.set_dx(2, c(kMaxPoolGrad, {c.x(0), c.x(1), c.dy()},
                {a.ksize, a.strides, a.padding, {}, a.data_format}));
}

void define_max_pool_grad_grad(OpRegistry& ops) {
  ops.define(kMaxPoolGradGrad,
             {
                 .name = "MaxPoolGradGrad",
                 .summary = "The gradient of MaxPoolGrad with respect to grad: the elements of "
                            "grad where the images have the first largest of each window.",
                 .inputs = {"orig_input: T", "orig_output: T", "grad: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kRealTypes}},
                 .infer = max_pool_grad_grad_shape,
                 .gradient = max_pool_grad_grad_gradient,
                 .body = kernel(max_pool_grad_grad_kernel),
             });
}

Result<Windows> average_windows_of(const PoolAttrs& attrs) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(attrs));
  if (windows.depth != 1) {
    return unimplemented("Pooling is not yet supported on the depth dimension.");
  }
  return windows;
}

Status average_pool_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<PoolAttrs>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  c.set_shape(0, out);
  return {};
}

Status average_pool_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<PoolAttrs>()));
  return run_pooling(c, windows, c.input(0).shape(), c.output(0).shape(), {0},
                     [](const Pooling& p, const Images& x, void* to) {
                       return average_pool(p, x[0].raw_data(), to);
                     });
}

void define_avg_pool(OpRegistry& ops) {
  ops.define(
      kAvgPool,
      {
          .name = "AvgPool",
          .summary = "The mean of each window. Padding is not counted.",
          .inputs = {"value: T"},
          .outputs = {"output: T"},
          .types = {{"T", kFloatTypes}},
          .infer = average_pool_shape,
          .gradient =
              [](GradientContext& c) {
                c.set_dx(0, c(kAvgPoolGrad, {c.shape_of_x(0), c.dy()}, c.attrs<PoolAttrs>()));
              },
          .body = kernel(average_pool_kernel),
      });
}

Status average_pool_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<PoolAttrs>()));
  Shape image = {Dim::unknown(), Dim::unknown(), Dim::unknown(), Dim::unknown()};
  if (c.shape(0).has_rank() && c.shape(0).rank() != 1) {
    return invalid_argument("orig_input_shape must be 1-dimensional, got shape ",
                            c.shape(0).to_message());
  }
  if (auto sizes = c.sizes(0)) {
    if (sizes->size() != 4) {
      return invalid_argument("orig_input_shape must be 1-dimensional and 4 elements, got ",
                              sizes->size());
    }
    image = Shape(std::span<const Dim>(*sizes));
    Tensor value = c.value(0);
    for (int i = 0; value && i < 4; ++i) {
      if (image[i].is_number()) continue;
      return invalid_argument("orig_input_shape must be nonnegative, got ",
                              value.data<int32_t>()[i]);
    }
  }
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, image));
  RETURN_IF_ERROR(check_shape("grad", out, c.shape(1)));
  c.set_shape(0, image);
  return {};
}

Status average_pool_grad_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<PoolAttrs>()));
  return run_pooling(c, windows, c.output(0).shape(), c.input(1).shape(), {1},
                     [](const Pooling& p, const Images& dy, void* to) {
                       return average_pool_gradient(p, dy[0].raw_data(), to);
                     });
}

void define_avg_pool_grad(OpRegistry& ops) {
  ops.define(kAvgPoolGrad, {
                               .name = "AvgPoolGrad",
                               .summary = "The gradient of AvgPool for images of the given shape.",
                               .inputs = {"orig_input_shape: int32", "grad: T"},
                               .outputs = {"output: T"},
                               .types = {{"T", kFloatTypes}},
                               .infer = average_pool_grad_shape,
                               .gradient =
                                   [](GradientContext& c) {
                                     if (c.wants(1))
                                       c.set_dx(1, c(kAvgPool, {c.dy()}, c.attrs<PoolAttrs>()));
                                   },
                               .body = kernel(average_pool_grad_kernel),
                               .values_for_inference = {0},
                           });
}

}  // namespace

void define_pooling_ops(OpRegistry& ops) {
  define_max_pool(ops);
  define_max_pool_grad(ops);
  define_max_pool_grad_grad(ops);
  define_avg_pool(ops);
  define_avg_pool_grad(ops);
}

}  // namespace graven::engine
