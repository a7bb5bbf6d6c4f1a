#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"

// Images seen by a projection. A transform [a0, a1, a2, b0, b1, b2, c0, c1] says where a pixel
// (x, y) of the result lies in the source: at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k),
// with k = c0 x + c1 y + 1.

namespace graven::engine {
namespace {

constexpr int64_t kElementsPerChunk = 1 << 14;

// --- Coordinates outside: any coordinate is mapped to one of an axis of `size` pixels.

float as_it_is(float x, float size) {
  (void)size;
  return x;
}

float at_edge(float x, float size) { return std::clamp(x, 0.0F, size - 1); }

// d c b a | a b c d | d c b a
float reflected(float x, float size) {
  if (x >= 0 && x <= size - 1) return x;
  if (size <= 1) return 0;
  const float twice = 2 * size;
  if (x < 0) {
    x = twice * std::trunc(-x / twice) + x;
    x = x < -size ? x + twice : -x - 1;
  } else {
    x -= twice * std::trunc(x / twice);
    if (x >= size) x = twice - x - 1;
  }
  return at_edge(x, size);
}

// a b c d | a b c d | a b c d
float wrapped(float x, float size) {
  if (x >= 0 && x <= size - 1) return x;
  if (size <= 1) return 0;
  const float last = size - 1;
  x += x < 0 ? size * (std::trunc(-x / last) + 1) : -size * std::trunc(x / last);
  return at_edge(x, size);
}

using MapCoordinate = float (*)(float x, float size);

Result<MapCoordinate> map_of(const std::string& fill_mode) {
  if (fill_mode == "CONSTANT") return as_it_is;
  if (fill_mode == "NEAREST") return at_edge;
  if (fill_mode == "REFLECT") return reflected;
  if (fill_mode == "WRAP") return wrapped;
  return invalid_argument("Invalid mode ", fill_mode,
                          ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST");
}

Status check_interpolation(const std::string& interpolation) {
  if (interpolation == "NEAREST" || interpolation == "BILINEAR") return {};
  return invalid_argument("Invalid interpolation ", interpolation,
                          ". Supported types: NEAREST, BILINEAR");
}

// --- Shape and kernel.

Status projected_shape(InferContext& c) {
  const auto& attrs = c.attrs<ProjectiveAttrs>();
  RETURN_IF_ERROR(check_interpolation(attrs.interpolation));
  RETURN_IF_ERROR(map_of(attrs.fill_mode).status());
  const Shape &images = c.shape(0), &transforms = c.shape(1), &size = c.shape(2);
  if (images.has_rank() && images.rank() != 4) {
    return invalid_argument("Input images must have rank 4, got shape ", images.to_message());
  }
  if (!are_compatible(transforms, Shape{Dim::unknown(), 8}) ||
      (images.has_rank() && transforms.has_rank() && transforms[0].is_number() &&
       transforms.size(0) != 1 && images[0].is_number() && transforms.size(0) != images.size(0))) {
    return invalid_argument("Input transform should be num_images x 8 or 1 x 8");
  }
  if (!are_compatible(size, Shape{2})) {
    return invalid_argument("output shape must be 1-dimensional with two elements, got shape ",
                            size.to_message());
  }
  if (c.num_inputs() > 3 && c.shape(3).has_rank() && c.shape(3).rank() != 0) {
    return invalid_argument("fill_value must be a scalar, got shape ", c.shape(3).to_message());
  }
  const Tensor value = c.value(2);
  for (int64_t i = 0; value && i < 2; ++i) {
    if (integer_at(value, i) <= 0) {
      return invalid_argument("output dimensions must be positive, got ", integer_at(value, i));
    }
  }
  const auto sizes = c.sizes(2);
  const auto dim = [&](size_t i) { return sizes ? (*sizes)[i] : Dim::unknown(); };
  const auto own = [&](int axis) { return images.has_rank() ? images[axis] : Dim::unknown(); };
  c.set_shape(0, Shape{own(0), dim(0), dim(1), own(3)});
  return {};
}

template <typename T>
struct Source {
  const T* pixels;
  int64_t height, width, channels;
  float fill;

  // The pixel, null outside.
  const T* at(float y, float x) const {
    const bool is_inside =
        y >= 0 && y < static_cast<float>(height) && x >= 0 && x < static_cast<float>(width);
    if (!is_inside) return nullptr;
    const int64_t row = std::min(static_cast<int64_t>(y), height - 1);
    const int64_t column = std::min(static_cast<int64_t>(x), width - 1);
    return pixels + (row * width + column) * channels;
  }
  float channel(const T* pixel, int64_t i) const {
    return pixel ? static_cast<float>(pixel[i]) : fill;
  }
};

template <typename T>
void read_nearest(const Source<T>& source, float y, float x, T* to) {
  const T* pixel = source.at(std::round(y), std::round(x));
  if (pixel) return static_cast<void>(std::copy_n(pixel, source.channels, to));
  std::fill_n(to, source.channels, static_cast<T>(source.fill));
}

template <typename T>
void read_between(const Source<T>& source, float y, float x, T* to) {
  const float top = std::floor(y), left = std::floor(x), bottom = top + 1, right = left + 1;
  const T *top_left = source.at(top, left), *top_right = source.at(top, right);
  const T *bottom_left = source.at(bottom, left), *bottom_right = source.at(bottom, right);
  for (int64_t i = 0; i < source.channels; ++i) {
    const auto row = [&](const T* first, const T* second) {
      return (right - x) * source.channel(first, i) + (x - left) * source.channel(second, i);
    };
    const float value =
        (bottom - y) * row(top_left, top_right) + (y - top) * row(bottom_left, bottom_right);
    to[i] = static_cast<T>(value);
  }
}

Status projected_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<ProjectiveAttrs>();
  ASSIGN_OR_RETURN(const MapCoordinate map, map_of(attrs.fill_mode));
  const Tensor &images = c.input(0), &result = c.output(0);
  if (result.num_elements() == 0) return {};
  const Shape &in = images.shape(), &out = result.shape();
  const bool is_nearest = attrs.interpolation == "NEAREST";
  const float fill = c.num_inputs() > 3 ? c.in<float>(3)[0] : 0;
  const float* transforms = c.in<float>(1).data();
  const int64_t step = c.input(1).shape().size(0) == 1 ? 0 : 8;
  const int64_t height = out.size(1), channels = in.size(3), row_size = out.size(2) * channels;
  return visit_plain(images.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (kRealTypes.contains(kDTypeOf<T>)) {
      const T* from = images.data<T>().data();
      T* to = result.mutable_data<T>().data();
      const auto project_row = [&](int64_t row) {
        const int64_t image = row / height;
        const Source<T> source{from + image * in.size(1) * in.size(2) * channels, in.size(1),
                               in.size(2), channels, fill};
        const float* t = transforms + image * step;
        const auto y = static_cast<float>(row % height);
        T* pixel = to + row * row_size;
        for (int64_t column = 0; column < out.size(2); ++column, pixel += channels) {
          const auto x = static_cast<float>(column);
          const float k = t[6] * x + t[7] * y + 1;
          if (k == 0) {
            std::fill_n(pixel, channels, static_cast<T>(fill));
            continue;
          }
          const float at_x = map((t[0] * x + t[1] * y + t[2]) / k, static_cast<float>(in.size(2)));
          const float at_y = map((t[3] * x + t[4] * y + t[5]) / k, static_cast<float>(in.size(1)));
          is_nearest ? read_nearest(source, at_y, at_x, pixel)
                     : read_between(source, at_y, at_x, pixel);
        }
      };
      for_ranges(out.size(0) * height, kElementsPerChunk / row_size,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) project_row(row);
                 });
      return {};
    }
    return internal_error("images are real numbers");
  });
}

// --- The gradient: the gradients of the result, seen by the inverse projection, as TensorFlow has
// it. It is exact only for projections that move pixels to pixels.

Tensor inverse_transforms(GradientContext& c) {
  const int32_t table[] = {-1, 8};
  const Tensor flat = c(kReshape, {c.x(1), int32_vector(c, table)}), axis = Size(1).tensor(c);
  const Tensors columns = c.apply(kSplit, {axis, flat}, {.num_split = 8});
  if (columns.size() < 8) return {};
  const auto column = [&](size_t i) { return Formula(c, columns[i]); };
  const Formula a0 = column(0), a1 = column(1), a2 = column(2), b0 = column(3), b1 = column(4),
                b2 = column(5), c0 = column(6), c1 = column(7);
  const Tensor cofactors[] = {b1 - b2 * c1,      a2 * c1 - a1,     a1 * b2 - a2 * b1,
                              b2 * c0 - b0,      a0 - a2 * c0,     a2 * b0 - a0 * b2,
                              b0 * c1 - b1 * c0, a1 * c0 - a0 * c1};
  Tensors inputs(std::begin(cofactors), std::end(cofactors));
  inputs.push_back(axis);
  const Tensors joined = c.apply(*kConcatV2, inputs, NoAttrs());
  return joined.empty() ? Tensor() : Formula(c, joined[0]) / (a0 * b1 - a1 * b0);
}

void projected_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  const Tensor inverse = inverse_transforms(c);
  const int32_t begin[] = {1}, end[] = {3};
  const Tensor size =
      elements_between(c, c.shape_of_x(0), int32_vector(c, begin), int32_vector(c, end));
  const auto& attrs = c.attrs<ProjectiveAttrs>();
  if (c.num_inputs() == 3) {
    return c.set_dx(0, c(kImageProjectiveTransformV2, {c.dy(), inverse, size}, attrs));
  }
  const Tensor zero = constant(c, Tensor::scalar(0.0F));
  c.set_dx(0, c(kImageProjectiveTransformV3, {c.dy(), inverse, size, zero}, attrs));
}

// One transform for all images is one for those of all rows.
void batch_projection(BatchContext& c) {
  const Shape images = c.row_shape(0), transforms = c.row_shape(1);
  if (!images.has_rank() || !transforms.has_rank() || transforms.rank() != 2) return c.use_loop();
  if (!c.is_batched(1) && transforms[0] == Dim(1)) return batch_by_folding<0>(c);
  if (!(images[0] == transforms[0])) return c.use_loop();
  batch_by_folding<0, 1>(c);
}

OpHandle<ProjectiveAttrs> define_projection(OpRegistry& ops, std::string name,
                                            std::vector<std::string> inputs) {
  return ops.define<ProjectiveAttrs>({
      .name = std::move(name),
      .summary = "Images seen by projections: one for all, or one for each.",
      .details = "A transform [a0, a1, a2, b0, b1, b2, c0, c1] reads pixel (x, y) of the result at "
                 "((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), with k = c0 x + c1 y + 1. "
                 "interpolation is \"NEAREST\" or \"BILINEAR\"; fill_mode says what lies outside: "
                 "\"CONSTANT\", \"NEAREST\" (the edge), \"REFLECT\" or \"WRAP\".",
      .inputs = std::move(inputs),
      .outputs = {"transformed_images: dtype"},
      .types = {{"dtype", kFloatTypes | kIndexTypes | DTypeSet{DType::kUInt8}}},
      .infer = projected_shape,
      .gradient = projected_gradient,
      .batch = batch_projection,
      .body = kernel(projected_kernel),
      .values_for_inference = {2},
  });
}

}  // namespace

void define_projective_ops(OpRegistry& ops) {
  kImageProjectiveTransformV2 =
      define_projection(ops, "ImageProjectiveTransformV2",
                        {"images: dtype", "transforms: float", "output_shape: int32"});
  kImageProjectiveTransformV3 = define_projection(
      ops, "ImageProjectiveTransformV3",
      {"images: dtype", "transforms: float", "output_shape: int32", "fill_value: float"});
}

}  // namespace graven::engine
