#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/resample.h"
#include "graven/ops/sampling_taps.h"
#include "graven/ops/sizes.h"
#include "graven/tensor/add_elements.h"

namespace graven::engine {
namespace {

constexpr DTypeSet kResizedTypes =
    kFloatTypes | kSignedIntTypes | DTypeSet{DType::kUInt8, DType::kUInt16};

// --- Shapes.

Status check_batch(const Shape& images) {
  if (!images.has_rank()) return {};
  if (images.rank() != 4) {
    return invalid_argument("input must be 4-dimensional", images.to_message());
  }
  for (int axis : {1, 2}) {
    if (images[axis] == Dim(0)) return invalid_argument("input image must be of non-zero size");
  }
  return {};
}

Status check_centers(const ResizeAttrs& attrs) {
  if (!attrs.half_pixel_centers || !attrs.align_corners) return {};
  return invalid_argument("If half_pixel_centers is True, align_corners must be False.");
}

// [batch, *size, channels], with the sizes that input 1 holds.
Status resized_shape(InferContext& c) {
  const Shape &images = c.shape(0), &size = c.shape(1);
  RETURN_IF_ERROR(check_batch(images));
  if (size.has_rank() && size.rank() != 1) {
    return invalid_argument("shape_t must be 1-dimensional", size.to_message());
  }
  if (size.has_rank() && size[0].is_number() && size.size(0) != 2) {
    return invalid_argument("shape_t must have two elements", size.to_message());
  }
  const Tensor value = c.value(1);
  for (int64_t i = 0; value && i < 2; ++i) {
    if (integer_at(value, i) <= 0) return invalid_argument("output dimensions must be positive");
  }
  const auto sizes = c.sizes(1);
  const auto dim = [&](size_t i) { return sizes ? (*sizes)[i] : Dim::unknown(); };
  const auto own = [&](int axis) { return images.has_rank() ? images[axis] : Dim::unknown(); };
  c.set_shape(0, Shape{own(0), dim(0), dim(1), own(3)});
  return {};
}

Status resize_shape(InferContext& c) {
  RETURN_IF_ERROR(check_centers(c.attrs<ResizeAttrs>()));
  return resized_shape(c);
}

// Input 0 is the gradient of all the images, input 1.
Status shape_of_images(InferContext& c) {
  const Shape &grads = c.shape(0), &images = c.shape(1);
  RETURN_IF_ERROR(check_batch(grads));
  RETURN_IF_ERROR(check_batch(images));
  Shape out = images;
  if (grads.has_rank() && images.has_rank()) {
    for (int axis : {0, 3}) {
      auto merged = c.merge(grads[axis], images[axis]);
      if (!merged.ok()) {
        return invalid_argument("gradients of shape ", grads.to_message(),
                                " are not those of images of shape ", images.to_message());
      }
      out.set(axis, *merged);
    }
  }
  c.set_shape(0, out);
  return {};
}

Status resize_grad_shape(InferContext& c) {
  RETURN_IF_ERROR(check_centers(c.attrs<ResizeAttrs>()));
  return shape_of_images(c);
}

// The height and the width of the images that an input of a gradient's op is.
Tensor image_size(GradientContext& c, int input) {
  const Shape& shape = c.static_shape_of_x(input);
  if (shape.has_rank() && shape.rank() == 4 && shape[1].is_number() && shape[2].is_number()) {
    const int32_t sizes[] = {static_cast<int32_t>(shape.size(1)),
                             static_cast<int32_t>(shape.size(2))};
    return int32_vector(c, sizes);
  }
  const int32_t begin[] = {1}, end[] = {3};
  return elements_between(c, c.shape_of_x(input), int32_vector(c, begin), int32_vector(c, end));
}

// --- By weights.

using MakeTaps = Taps (*)(int64_t in, int64_t out, const ResizeAttrs& attrs);

// f(axis) gives the taps of height, 1, and width, 2.
template <typename F>
Status resample_by(KernelContext& c, F f) {
  if (c.output(0).num_elements() == 0) return {};
  return resample(c.input(0), f(1), f(2), c.output(0));
}

template <MakeTaps taps>
Status resize_kernel(KernelContext& c) {
  return resample_by(c, [&](int axis) {
    return taps(c.input(0).shape().size(axis), c.output(0).shape().size(axis),
                c.attrs<ResizeAttrs>());
  });
}

template <MakeTaps taps>
Status resize_grad_kernel(KernelContext& c) {
  return resample_by(c, [&](int axis) {
    const int64_t in = c.output(0).shape().size(axis);
    return transposed(taps(in, c.input(0).shape().size(axis), c.attrs<ResizeAttrs>()), in);
  });
}

template <const OpHandle<ResizeAttrs>& grad>
void resize_gradient(GradientContext& c) {
  const DType dtype = c.dtype_of_x(0);
  const bool is_wide = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  const bool has_gradient = &grad == &kResizeBicubicGrad ? is_wide : is_floating(dtype);
  if (!c.wants(0) || !has_gradient) return;
  c.set_dx(0, c(grad, {c.dy(), c.x(0)}, c.attrs<ResizeAttrs>()));
}

void define_resize_bilinear(OpRegistry& ops) {
  kResizeBilinear = ops.define<ResizeAttrs>({
      .name = "ResizeBilinear",
      .summary =
          "Images of another size, whose pixels are means of the nearest four ones, weighted "
          "by their distances.",
      .inputs = {"images: T", "size: int32"},
      .outputs = {"resized_images: float"},
      .types = {{"T", kResizedTypes}},
      .infer = resize_shape,
      .gradient = resize_gradient<kResizeBilinearGrad>,
      .batch = batch_by_folding<0>,
      .body = kernel(resize_kernel<bilinear_taps>),
      .values_for_inference = {1},
  });
  kResizeBilinearGrad = ops.define<ResizeAttrs>({
      .name = "ResizeBilinearGrad",
      .summary = "The gradient of ResizeBilinear.",
      .inputs = {"grads: float", "original_image: T"},
      .outputs = {"output: T"},
      .types = {{"T", kFloatTypes}},
      .infer = resize_grad_shape,
      .gradient = not_differentiable,
      .batch = batch_by_folding<0, 1>,
      .body = kernel(resize_grad_kernel<bilinear_taps>),
  });
}

void define_resize_bicubic(OpRegistry& ops) {
  kResizeBicubic = ops.define<ResizeAttrs>({
      .name = "ResizeBicubic",
      .summary = "Images of another size, whose pixels are weighted sums of the nearest sixteen "
                 "ones, by a cubic curve of their distances.",
      .inputs = {"images: T", "size: int32"},
      .outputs = {"resized_images: float"},
      .types = {{"T", kResizedTypes}},
      .infer = resize_shape,
      .gradient = resize_gradient<kResizeBicubicGrad>,
      .batch = batch_by_folding<0>,
      .body = kernel(resize_kernel<bicubic_taps>),
      .values_for_inference = {1},
  });
  kResizeBicubicGrad = ops.define<ResizeAttrs>({
      .name = "ResizeBicubicGrad",
      .summary = "The gradient of ResizeBicubic.",
      .inputs = {"grads: float", "original_image: T"},
      .outputs = {"output: T"},
      .types = {{"T", DTypeSet{DType::kFloat32, DType::kFloat64}}},
      .infer = resize_grad_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0)) return;
            c.set_dx(0, c(kResizeBicubic, {c.dy(), image_size(c, 0)}, c.attrs<ResizeAttrs>()));
          },
      .batch = batch_by_folding<0, 1>,
      .body = kernel(resize_grad_kernel<bicubic_taps>),
  });
}

Status resize_area_kernel(KernelContext& c) {
  return resample_by(c, [&](int axis) {
    return area_taps(c.input(0).shape().size(axis), c.output(0).shape().size(axis),
                     c.attrs<ResizeAreaAttrs>().align_corners);
  });
}

void define_resize_area(OpRegistry& ops) {
  kResizeArea = ops.define<ResizeAreaAttrs>({
      .name = "ResizeArea",
      .summary = "Images of another size, whose pixels are means over their areas.",
      .details = "As in TensorFlow there is no gradient.",
      .inputs = {"images: T", "size: int32"},
      .outputs = {"resized_images: float"},
      .types = {{"T", kResizedTypes}},
      .infer = resized_shape,
      .batch = batch_by_folding<0>,
      .body = kernel(resize_area_kernel),
      .values_for_inference = {1},
  });
}

// --- ScaleAndTranslate.

Status check_pairs(InferContext& c) {
  RETURN_IF_ERROR(curve_of(c.attrs<ScaleAndTranslateAttrs>().kernel_type).status());
  for (int input : {2, 3}) {
    const Shape& pair = c.shape(input);
    if (are_compatible(pair, Shape{2})) continue;
    return invalid_argument(c.op().inputs()[static_cast<size_t>(input)].name,
                            " must have two elements, got shape ", pair.to_message());
  }
  return {};
}

// The taps of an axis for which the op at hand, or the one whose gradient it is, has these sizes.
Result<std::array<Taps, 2>> curve_taps_of(KernelContext& c, const Shape& in, const Shape& out) {
  const auto& attrs = c.attrs<ScaleAndTranslateAttrs>();
  ASSIGN_OR_RETURN(const Curve curve, curve_of(attrs.kernel_type));
  std::array<Taps, 2> taps;
  for (int i = 0; i < 2; ++i) {
    const float scale = c.in<float>(2)[i], translation = c.in<float>(3)[i];
    if (!(scale > 0)) return invalid_argument("Scale must be greater than zero.");
    taps[i] =
        curve_taps(in.size(1 + i), out.size(1 + i), curve, attrs.antialias, scale, translation);
  }
  return taps;
}

Status scale_and_translate_kernel(KernelContext& c) {
  const Tensor &in = c.input(0), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(const auto taps, curve_taps_of(c, in.shape(), out.shape()));
  return resample(in, taps[0], taps[1], out);
}

Status scale_and_translate_grad_kernel(KernelContext& c) {
  const Tensor &grads = c.input(0), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(const auto taps, curve_taps_of(c, out.shape(), grads.shape()));
  return resample(grads, transposed(taps[0], out.shape().size(1)),
                  transposed(taps[1], out.shape().size(2)), out);
}

void define_scale_and_translate(OpRegistry& ops) {
  kScaleAndTranslate = ops.define<ScaleAndTranslateAttrs>({
      .name = "ScaleAndTranslate",
      .summary = "Images scaled and moved: a pixel's center at x comes to x * scale + translation.",
      .details =
          "What is between the pixels follows from those around, weighted by a curve of "
          "their distances: lanczos1, lanczos3, lanczos5, gaussian, box, triangle, keyscubic "
          "or mitchellcubic.",
      .inputs = {"images: T", "size: int32", "scale: float", "translation: float"},
      .outputs = {"resized_images: float"},
      .types = {{"T", kResizedTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_pairs(c));
        return resized_shape(c);
      },
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0) || c.dtype_of_x(0) != DType::kFloat32) return;
            c.set_dx(0, c(kScaleAndTranslateGrad, {c.dy(), c.x(0), c.x(2), c.x(3)},
                          c.attrs<ScaleAndTranslateAttrs>()));
          },
      .batch = batch_by_folding<0>,
      .body = kernel(scale_and_translate_kernel),
      .values_for_inference = {1},
  });
  kScaleAndTranslateGrad = ops.define<ScaleAndTranslateAttrs>({
      .name = "ScaleAndTranslateGrad",
      .summary = "The gradient of ScaleAndTranslate.",
      .inputs = {"grads: T", "original_image: T", "scale: float", "translation: float"},
      .outputs = {"output: T"},
      .types = {{"T", DTypeSet{DType::kFloat32}}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_pairs(c));
        return shape_of_images(c);
      },
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0)) return;
            c.set_dx(0, c(kScaleAndTranslate, {c.dy(), image_size(c, 0), c.x(2), c.x(3)},
                          c.attrs<ScaleAndTranslateAttrs>()));
          },
      .batch = batch_by_folding<0, 1>,
      .body = kernel(scale_and_translate_grad_kernel),
  });
}

// --- ResizeNearestNeighbor.

constexpr int64_t kElementsPerChunk = 1 << 15;

template <int channels, typename T>
void copy_pixels(const T* from, const std::vector<int64_t>& columns, int64_t num_channels, T* to) {
  const int64_t n = channels > 0 ? channels : num_channels;
  for (const int64_t column : columns) {
    const T* pixel = from + column * n;
    for (int64_t i = 0; i < n; ++i) to[i] = pixel[i];
    to += n;
  }
}

// Copies elements; a row that equals the row before it is copied as a whole.
Status nearest_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (y.num_elements() == 0) return {};
  const Shape &in = x.shape(), &out = y.shape();
  const auto& attrs = c.attrs<ResizeAttrs>();
  const auto rows = nearest_places(in.size(1), out.size(1), attrs);
  const auto columns = nearest_places(in.size(2), out.size(2), attrs);
  const int64_t n = in.size(3), height = out.size(1), row_size = out.size(2) * n;
  visit_element_size(dtype_size(x.dtype()), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x.raw_data());
    T* to = static_cast<T*>(y.mutable_raw_data());
    for_ranges(in.size(0) * height, kElementsPerChunk / row_size, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t image = row / height, at = row % height;
        T* pixels = to + row * row_size;
        if (row > begin && at > 0 && rows[at] == rows[at - 1]) {
          std::memcpy(pixels, pixels - row_size, static_cast<size_t>(row_size) * sizeof(T));
          continue;
        }
        const T* source = from + (image * in.size(1) + rows[at]) * in.size(2) * n;
        if (n == 1) {
          copy_pixels<1>(source, columns, n, pixels);
        } else if (n == 3) {
          copy_pixels<3>(source, columns, n, pixels);
        } else {
          copy_pixels<0>(source, columns, n, pixels);
        }
      }
    });
  });
  return {};
}

// Each pixel of the source is the sum over the gradients of those that it was copied to, which lie
// in a box.
Status nearest_grad_kernel(KernelContext& c) {
  const Tensor &grads = c.input(0), &sums = c.output(0);
  if (sums.num_elements() == 0) return {};
  const Shape &in = grads.shape(), &out = sums.shape();
  const auto& attrs = c.attrs<ResizeAttrs>();
  const auto rows = nearest_places(out.size(1), in.size(1), attrs);
  const auto columns = nearest_places(out.size(2), in.size(2), attrs);
  const int64_t n = in.size(3), height = out.size(1), row_size = out.size(2) * n;
  return visit_plain(grads.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const T* from = grads.data<T>().data();
    T* to = sums.mutable_data<T>().data();
    const int64_t work = row_size + grads.num_elements() / (out.size(0) * height);
    for_ranges(out.size(0) * height, kElementsPerChunk / work, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* pixels = to + row * row_size;
        std::fill_n(pixels, row_size, zero);
        const auto [first, last] = std::equal_range(rows.begin(), rows.end(), row % height);
        for (auto at = first; at != last; ++at) {
          const T* source =
              from + (row / height * in.size(1) + (at - rows.begin())) * in.size(2) * n;
          for (const int64_t column : columns) {
            for (int64_t i = 0; i < n; ++i) {
              pixels[column * n + i] = add_elements(pixels[column * n + i], source[i]);
            }
            source += n;
          }
        }
      }
    });
    return {};
  });
}

void define_resize_nearest_neighbor(OpRegistry& ops) {
  kResizeNearestNeighbor = ops.define<ResizeAttrs>({
      .name = "ResizeNearestNeighbor",
      .summary = "Images of another size, whose pixels are the nearest ones.",
      .inputs = {"images: T", "size: int32"},
      .outputs = {"resized_images: T"},
      .types = {{"T", kResizedTypes}},
      .infer = resize_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0)) return;
            c.set_dx(0, c(kResizeNearestNeighborGrad, {c.dy(), image_size(c, 0)},
                          c.attrs<ResizeAttrs>()));
          },
      .batch = batch_by_folding<0>,
      .body = kernel(nearest_kernel),
      .values_for_inference = {1},
  });
  kResizeNearestNeighborGrad = ops.define<ResizeAttrs>({
      .name = "ResizeNearestNeighborGrad",
      .summary = "The gradient of ResizeNearestNeighbor for images of a size.",
      .inputs = {"grads: T", "size: int32"},
      .outputs = {"output: T"},
      .types = {{"T", kFloatTypes | DTypeSet{DType::kUInt8, DType::kInt8, DType::kInt32}}},
      .infer = resize_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0)) return;
            c.set_dx(0,
                     c(kResizeNearestNeighbor, {c.dy(), image_size(c, 0)}, c.attrs<ResizeAttrs>()));
          },
      .batch = batch_by_folding<0>,
      .body = kernel(nearest_grad_kernel),
      .values_for_inference = {1},
  });
}

}  // namespace

void define_resize_ops(OpRegistry& ops) {
  define_resize_bilinear(ops);
  define_resize_bicubic(ops);
  define_resize_area(ops);
  define_scale_and_translate(ops);
  define_resize_nearest_neighbor(ops);
}

}  // namespace graven::engine
