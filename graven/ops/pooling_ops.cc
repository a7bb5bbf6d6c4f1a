#include <type_traits>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/pooling_windows.h"
#include "graven/ops/register_ops.h"

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

// Of PoolAttrs and VolumePoolAttrs.
template <typename A>
Result<Windows> windows_of(const A& attrs) {
  if (attrs.padding == "EXPLICIT") {
    return invalid_argument("padding must be \"SAME\" or \"VALID\", got \"EXPLICIT\"");
  }
  return checked_windows({.strides = attrs.strides,
                          .padding = attrs.padding,
                          .data_format = attrs.data_format,
                          .is_pooling = true,
                          .ksize = attrs.ksize,
                          .axes = std::is_same_v<A, VolumePoolAttrs> ? 3 : 2});
}

using Images = InlineVector<Tensor, 4>;

// --- Shapes.

template <typename A>
Status pool_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  c.set_shape(0, out);
  return {};
}

// --- Kernels.

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

template <typename A>
Status max_pool_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  RETURN_IF_ERROR(check_paddings(windows));
  return run_pooling(
      c, windows, c.input(0).shape(), c.output(0).shape(), {0},
      [](const Pooling& p, const Images& x, void* to) { return max_pool(p, x[0].raw_data(), to); });
}

// The gradient of an op by another one that takes the attributes of the first.
template <typename A, const OpHandle<A>& op>
void gradient_by(GradientContext& c) {
  c.set_dx(0, c(op, {c.x(0), c.y(0), c.dy()}, c.attrs<A>()));
}

constexpr DTypeSet kMaxTypes =
    kFloatTypes | kSignedIntTypes | DTypeSet{DType::kUInt8, DType::kUInt16};
constexpr DTypeSet kVolumeTypes = {DType::kHalf, DType::kBFloat16, DType::kFloat32};

void define_max_pool(OpRegistry& ops) {
  ops.define(kMaxPool, {
                           .name = "MaxPool",
                           .summary = "The largest element of each window. Padding takes no part.",
                           .inputs = {"input: T"},
                           .outputs = {"output: T"},
                           .types = {{"T", kMaxTypes}},
                           .infer = pool_shape<MaxPoolAttrs>,
                           .gradient = gradient_by<MaxPoolAttrs, kMaxPoolGrad>,
                           .batch = batch_by_folding<0>,
                           .body = kernel(max_pool_kernel<MaxPoolAttrs>),
                       });
  ops.define(kMaxPool3D,
             {
                 .name = "MaxPool3D",
                 .summary = "The largest element of each window of volumes. Padding takes no part.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kVolumeTypes}},
                 .infer = pool_shape<VolumePoolAttrs>,
                 .gradient = gradient_by<VolumePoolAttrs, kMaxPool3DGrad>,
                 .batch = batch_by_folding<0>,
                 .body = kernel(max_pool_kernel<VolumePoolAttrs>),
             });
}

template <typename A>
Status max_pool_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  RETURN_IF_ERROR(check_shape("orig_output", out, c.shape(1)));
  RETURN_IF_ERROR(check_shape("grad", out, c.shape(2)));
  c.set_shape(0, c.shape(0).has_rank() ? c.shape(0) : unknown_sizes(windows.axes + 2));
  return {};
}

using GradientKernel = Status (*)(const Pooling&, const void* input, const void* output,
                                  const void* gradient, void* to);

template <typename A, GradientKernel gradient>
Status max_pool_grad_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  return run_pooling(c, windows, c.input(0).shape(), c.input(1).shape(), {0, 1, 2},
                     [](const Pooling& p, const Images& x, void* to) {
                       return gradient(p, x[0].raw_data(), x[1].raw_data(), x[2].raw_data(), to);
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

// The same for ops of volumes, which are linear in `grad`.
template <const OpHandle<VolumePoolAttrs>& op>
void linear_gradient_by(GradientContext& c) {
  no_gradient_for_images(c);
  if (c.wants(2)) {
    c.set_dx(2, c(op, {c.x(0), c.x(1), c.dy()}, c.attrs<VolumePoolAttrs>()));
  }
}

// Its OpDef has a dtype for the gradient alone, and kernels for one dtype of all.
Status max_pool_3d_grad_shape(InferContext& c) {
  if (c.dtype(0) != c.dtype(2)) {
    return invalid_argument("grad must have the dtype of orig_input, ", dtype_name(c.dtype(0)),
                            ", not ", dtype_name(c.dtype(2)));
  }
  return max_pool_grad_shape<VolumePoolAttrs>(c);
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
                 .infer = max_pool_grad_shape<MaxPoolAttrs>,
                 .gradient = max_pool_grad_gradient,
                 .batch = batch_by_folding<0, 1, 2>,
                 .body = kernel(max_pool_grad_kernel<MaxPoolAttrs, max_pool_gradient>),
             });
  ops.define(
      kMaxPool3DGrad,
      {
          .name = "MaxPool3DGrad",
          .summary = "The gradient of MaxPool3D: what comes in for a window goes to all of its "
                     "elements that equal orig_output.",
          .inputs = {"orig_input: TInput", "orig_output: TInput", "grad: T"},
          .outputs = {"output: T"},
          .types = {{"T", kVolumeTypes}, {"TInput", kVolumeTypes}},
          .infer = max_pool_3d_grad_shape,
          .gradient = linear_gradient_by<kMaxPool3DGradGrad>,
          .batch = batch_by_folding<0, 1, 2>,
          .body = kernel(max_pool_grad_kernel<VolumePoolAttrs, max_pool_gradient_of_equals>),
      });
}

template <typename A>
Status max_pool_grad_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(c.attrs<A>()));
  ASSIGN_OR_RETURN(Shape out, pooled_shape(c, windows, c.shape(0)));
  RETURN_IF_ERROR(check_shape("orig_output", out, c.shape(1)));
  RETURN_IF_ERROR(check_shape("grad", c.shape(0), c.shape(2)));
  c.set_shape(0, out);
  return {};
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
                 .infer = max_pool_grad_grad_shape<PoolAttrs>,
                 .gradient = max_pool_grad_grad_gradient,
                 .batch = batch_by_folding<0, 1, 2>,
                 .body = kernel(max_pool_grad_kernel<PoolAttrs, max_pool_gradient_gradient>),
             });
  ops.define(
      kMaxPool3DGradGrad,
      {
          .name = "MaxPool3DGradGrad",
          .summary = "The elements of grad where the volumes have the first element of each window "
                     "that equals orig_output.",
          .inputs = {"orig_input: T", "orig_output: T", "grad: T"},
          .outputs = {"output: T"},
          .types = {{"T", kVolumeTypes, kRealTypes}},
          .infer = max_pool_grad_grad_shape<VolumePoolAttrs>,
          .gradient = linear_gradient_by<kMaxPool3DGrad>,
          .batch = batch_by_folding<0, 1, 2>,
          .body = kernel(max_pool_grad_kernel<VolumePoolAttrs, max_pool_gradient_gradient>),
      });
}

template <typename A>
Result<Windows> average_windows_of(const A& attrs) {
  ASSIGN_OR_RETURN(Windows windows, windows_of(attrs));
  if (windows.depth != 1) {
    return unimplemented("Pooling is not yet supported on the depth dimension.");
  }
  return windows;
}

template <typename A>
Status average_pool_shape(InferContext& c) {
  RETURN_IF_ERROR(average_windows_of(c.attrs<A>()).status());
  return pool_shape<A>(c);
}

template <typename A, const OpHandle<A>& op>
void average_gradient_by(GradientContext& c) {
  c.set_dx(0, c(op, {c.shape_of_x(0), c.dy()}, c.attrs<A>()));
}

template <typename A>
Status average_pool_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<A>()));
  return run_pooling(c, windows, c.input(0).shape(), c.output(0).shape(), {0},
                     [](const Pooling& p, const Images& x, void* to) {
                       return average_pool(p, x[0].raw_data(), to);
                     });
}

void define_avg_pool(OpRegistry& ops) {
  ops.define(kAvgPool, {
                           .name = "AvgPool",
                           .summary = "The mean of each window. Padding is not counted.",
                           .inputs = {"value: T"},
                           .outputs = {"output: T"},
                           .types = {{"T", kFloatTypes}},
                           .infer = average_pool_shape<PoolAttrs>,
                           .gradient = average_gradient_by<PoolAttrs, kAvgPoolGrad>,
                           .batch = batch_by_folding<0>,
                           .body = kernel(average_pool_kernel<PoolAttrs>),
                       });
  ops.define(kAvgPool3D,
             {
                 .name = "AvgPool3D",
                 .summary = "The mean of each window of volumes. Padding is not counted.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = average_pool_shape<VolumePoolAttrs>,
                 .gradient = average_gradient_by<VolumePoolAttrs, kAvgPool3DGrad>,
                 .batch = batch_by_folding<0>,
                 .body = kernel(average_pool_kernel<VolumePoolAttrs>),
             });
}

template <typename A>
Status average_pool_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<A>()));
  const int rank = windows.axes + 2;
  Shape image = unknown_sizes(rank);
  if (c.shape(0).has_rank() && c.shape(0).rank() != 1) {
    return invalid_argument("orig_input_shape must be 1-dimensional, got shape ",
                            c.shape(0).to_message());
  }
  if (auto sizes = c.sizes(0)) {
    if (sizes->size() != static_cast<size_t>(rank)) {
      return invalid_argument("orig_input_shape must be 1-dimensional and ", rank,
                              " elements, got ", sizes->size());
    }
    image = Shape(std::span<const Dim>(*sizes));
    Tensor value = c.value(0);
    for (int i = 0; value && i < rank; ++i) {
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

template <typename A>
Status average_pool_grad_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Windows windows, average_windows_of(c.attrs<A>()));
  return run_pooling(c, windows, c.output(0).shape(), c.input(1).shape(), {1},
                     [](const Pooling& p, const Images& dy, void* to) {
                       return average_pool_gradient(p, dy[0].raw_data(), to);
                     });
}

// The mean is linear.
template <typename A, const OpHandle<A>& op>
void gradient_of_average_gradient(GradientContext& c) {
  if (c.wants(1)) c.set_dx(1, c(op, {c.dy()}, c.attrs<A>()));
}

void define_avg_pool_grad(OpRegistry& ops) {
  ops.define(kAvgPoolGrad, {
                               .name = "AvgPoolGrad",
                               .summary = "The gradient of AvgPool for images of the given shape.",
                               .inputs = {"orig_input_shape: int32", "grad: T"},
                               .outputs = {"output: T"},
                               .types = {{"T", kFloatTypes}},
                               .infer = average_pool_grad_shape<PoolAttrs>,
                               .gradient = gradient_of_average_gradient<PoolAttrs, kAvgPool>,
                               .batch = batch_by_folding_sizes<0, 1>,
                               .body = kernel(average_pool_grad_kernel<PoolAttrs>),
                               .values_for_inference = {0},
                           });
  ops.define(kAvgPool3DGrad,
             {
                 .name = "AvgPool3DGrad",
                 .summary = "The gradient of AvgPool3D for volumes of the given shape.",
                 .inputs = {"orig_input_shape: int32", "grad: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = average_pool_grad_shape<VolumePoolAttrs>,
                 .gradient = gradient_of_average_gradient<VolumePoolAttrs, kAvgPool3D>,
                 .batch = batch_by_folding_sizes<0, 1>,
                 .body = kernel(average_pool_grad_kernel<VolumePoolAttrs>),
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
