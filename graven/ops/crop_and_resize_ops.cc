#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/tensor/add_elements.h"

// Boxes are cut out of images and resized. Coordinates [y1, x1, y2, x2] are fractions of the
// distance between the centers of the corner pixels, and the corner pixels of a crop lie at the
// corners of its box. A box may be mirrored, and reach beyond its image.

namespace graven::engine {
namespace {

constexpr int64_t kElementsPerChunk = 1 << 15;

// --- Shapes.

Status check_method(const std::string& method, bool only_bilinear = false) {
  if (method == "bilinear" || (method == "nearest" && !only_bilinear)) return {};
  return invalid_argument("method must be 'bilinear'", only_bilinear ? "" : " or 'nearest'",
                          ", got '", method, "'");
}

Status check_images(const Shape& images) {
  if (!images.has_rank()) return {};
  if (images.rank() != 4) {
    return invalid_argument("input image must be 4-D", images.to_message());
  }
  for (int axis : {1, 2}) {
    if (images[axis] == Dim(0)) return invalid_argument("image dimensions must be positive");
  }
  return {};
}

// The number of boxes, as inputs `boxes` and the next one, their indices, tell it.
Result<Dim> num_boxes(InferContext& c, int boxes) {
  const Shape &box = c.shape(boxes), &index = c.shape(boxes + 1);
  if (box.has_rank() && box.rank() != 2) {
    return invalid_argument("boxes must be 2-D", box.to_message());
  }
  if (box.has_rank() && box[1].is_number() && box.size(1) != 4) {
    return invalid_argument("boxes must have 4 columns", box.to_message());
  }
  if (index.has_rank() && index.rank() != 1) {
    return invalid_argument("box_index must be 1-D", index.to_message());
  }
  if (!box.has_rank() || !index.has_rank()) {
    return box.has_rank() ? box[0] : index.has_rank() ? index[0] : Dim::unknown();
  }
  auto merged = c.merge(box[0], index[0]);
  if (merged.ok()) return merged;
  return invalid_argument("box_index has incompatible shape ", index.to_message());
}

// Fails unless the gradients have the shape of the crops of so many boxes and channels.
Status check_grads(InferContext& c, Dim boxes, Dim channels) {
  const Shape& grads = c.shape(0);
  if (!grads.has_rank()) return {};
  if (grads.rank() != 4) return invalid_argument("grads image must be 4-D", grads.to_message());
  for (int axis : {1, 2}) {
    if (grads[axis] == Dim(0)) return invalid_argument("grads dimensions must be positive");
  }
  if (!c.merge(grads[0], boxes).ok()) {
    return invalid_argument("boxes and grads have incompatible shape");
  }
  if (!c.merge(grads[3], channels).ok())
    return invalid_argument("image_size and grads are incompatible");
  return {};
}

Status crop_and_resize_shape(InferContext& c) {
  RETURN_IF_ERROR(check_method(c.attrs<CropAndResizeAttrs>().method));
  const Shape &images = c.shape(0), &size = c.shape(3);
  RETURN_IF_ERROR(check_images(images));
  ASSIGN_OR_RETURN(const Dim boxes, num_boxes(c, 1));
  if (size.has_rank() && size.rank() != 1) {
    return invalid_argument("crop_size must be 1-D", size.to_message());
  }
  if (size.has_rank() && size[0].is_number() && size.size(0) != 2) {
    return invalid_argument("crop_size must have two elements", size.to_message());
  }
  const Tensor value = c.value(3);
  for (int64_t i = 0; value && i < 2; ++i) {
    if (integer_at(value, i) <= 0) return invalid_argument("crop dimensions must be positive");
  }
  const auto sizes = c.sizes(3);
  const auto dim = [&](size_t i) { return sizes ? (*sizes)[i] : Dim::unknown(); };
  c.set_shape(0, Shape{boxes, dim(0), dim(1), images.has_rank() ? images[3] : Dim::unknown()});
  return {};
}

Status grad_image_shape(InferContext& c) {
  RETURN_IF_ERROR(check_method(c.attrs<CropAndResizeGradImageAttrs>().method));
  ASSIGN_OR_RETURN(const Dim boxes, num_boxes(c, 1));
  ASSIGN_OR_RETURN(Shape images, shape_from_input(c, 3));
  if (images.has_rank() && images.rank() != 4) {
    return invalid_argument("image_size must have 4 elements", images.to_message());
  }
  RETURN_IF_ERROR(check_images(images));
  RETURN_IF_ERROR(check_grads(c, boxes, images.has_rank() ? images[3] : Dim::unknown()));
  if (!images.has_rank()) images = {Dim::unknown(), Dim::unknown(), Dim::unknown(), Dim::unknown()};
  c.set_shape(0, images);
  return {};
}

Status grad_boxes_shape(InferContext& c) {
  RETURN_IF_ERROR(check_method(c.attrs<CropAndResizeGradBoxesAttrs>().method, true));
  const Shape& images = c.shape(1);
  RETURN_IF_ERROR(check_images(images));
  ASSIGN_OR_RETURN(const Dim boxes, num_boxes(c, 2));
  RETURN_IF_ERROR(check_grads(c, boxes, images.has_rank() ? images[3] : Dim::unknown()));
  c.set_shape(0, Shape{boxes, 4});
  return {};
}

// --- Places.

// The pixels of an image that a place of a crop lies between.
struct Place {
  bool is_inside = false;
  int64_t below = 0, above = 0, nearest = 0;
  float part = 0;  // of the way from below to above
};

// The places of all rows or columns of a crop, between the two sides of its box.
void find_places(float from, float to, int64_t image, std::vector<Place>& places) {
  const auto last = static_cast<float>(image - 1);
  const auto count = static_cast<int64_t>(places.size());
  const float step = count > 1 ? (to - from) * last / static_cast<float>(count - 1) : 0;
  for (int64_t i = 0; i < count; ++i) {
    const float at =
        count > 1 ? from * last + static_cast<float>(i) * step : 0.5F * (from + to) * last;
    Place& place = places[i] = {};
    place.is_inside = at >= 0 && at <= last;
    if (!place.is_inside) continue;
    // Large numbers are rounded, so that the edge is checked again as an integer.
    const auto within = [image](float x) { return std::min(static_cast<int64_t>(x), image - 1); };
    place.below = within(std::floor(at));
    place.above = within(std::ceil(at));
    place.nearest = within(std::round(at));
    place.part = at - std::floor(at);
  }
}

struct Crop {
  std::vector<Place> rows, columns;
};

void find_crop(const float* box, const Shape& images, Crop& crop) {
  find_places(box[0], box[2], images.size(1), crop.rows);
  find_places(box[1], box[3], images.size(2), crop.columns);
}

Status check_indices(const KernelContext& c, std::span<const int32_t> indices, int64_t batch) {
  for (const int32_t index : indices) {
    if (index >= 0 && index < batch) continue;
    return Status(Code::kOutOfRange,
                  str_cat("[", c.op().name(), "] box_index has values outside [0, batch_size)"));
  }
  return {};
}

// --- The crops.

template <typename T>
void crop_row(const T* image, int64_t width, int64_t channels, const Place& row,
              const std::vector<Place>& columns, bool is_nearest, float outside, float* to) {
  const T* upper = image + row.below * width * channels;
  const T* lower = image + row.above * width * channels;
  const T* nearest = image + row.nearest * width * channels;
  for (const Place& column : columns) {
    if (!row.is_inside || !column.is_inside) {
      std::fill_n(to, channels, outside);
    } else if (is_nearest) {
      const T* pixel = nearest + column.nearest * channels;
      for (int64_t i = 0; i < channels; ++i) to[i] = static_cast<float>(pixel[i]);
    } else {
      const int64_t left = column.below * channels, right = column.above * channels;
      for (int64_t i = 0; i < channels; ++i) {
        const auto top_left = static_cast<float>(upper[left + i]);
        const auto top_right = static_cast<float>(upper[right + i]);
        const auto bottom_left = static_cast<float>(lower[left + i]);
        const auto bottom_right = static_cast<float>(lower[right + i]);
        const float top = top_left + (top_right - top_left) * column.part;
        const float bottom = bottom_left + (bottom_right - bottom_left) * column.part;
        to[i] = top + (bottom - top) * row.part;
      }
    }
    to += channels;
  }
}

Status crop_and_resize_kernel(KernelContext& c) {
  const Tensor &images = c.input(0), &crops = c.output(0);
  const auto& attrs = c.attrs<CropAndResizeAttrs>();
  const Shape &in = images.shape(), &out = crops.shape();
  const auto indices = c.in<int32_t>(2);
  RETURN_IF_ERROR(check_indices(c, indices, in.size(0)));
  if (crops.num_elements() == 0) return {};
  const bool is_nearest = attrs.method == "nearest";
  const auto outside = static_cast<float>(attrs.extrapolation_value);
  const float* boxes = c.in<float>(1).data();
  const int64_t channels = in.size(3), row_size = out.size(2) * channels, height = out.size(1);
  return visit_plain(images.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (kRealTypes.contains(kDTypeOf<T>)) {
      const T* from = images.data<T>().data();
      float* to = c.out<float>(0).data();
      const int64_t grain = kElementsPerChunk / (row_size * height);
      for_ranges(out.size(0), grain, [&](int64_t begin, int64_t end) {
        Crop crop{std::vector<Place>(height), std::vector<Place>(out.size(2))};
        for (int64_t box = begin; box < end; ++box) {
          find_crop(boxes + 4 * box, in, crop);
          const T* image = from + indices[box] * in.size(1) * in.size(2) * channels;
          for (int64_t y = 0; y < height; ++y) {
            crop_row(image, in.size(2), channels, crop.rows[y], crop.columns, is_nearest, outside,
                     to + (box * height + y) * row_size);
          }
        }
      });
      return {};
    }
    return internal_error("images are real numbers");
  });
}

void crop_and_resize_gradient(GradientContext& c) {
  const DType dtype = c.dtype_of_x(0);
  if (c.wants(0) && is_floating(dtype)) {
    c.set_dx(0, c(kCropAndResizeGradImage, {c.dy(), c.x(1), c.x(2), c.shape_of_x(0)},
                  {dtype, c.attrs<CropAndResizeAttrs>().method}));
  }
  if (c.wants(1)) c.set_dx(1, c(kCropAndResizeGradBoxes, {c.dy(), c.x(0), c.x(1), c.x(2)}));
}

// --- The gradient of the images.

// Adds the gradient of a crop to the channels [first, last) of its image.
template <typename T>
void add_crop(const float* grads, const Crop& crop, const Shape& images, int64_t first,
              int64_t last, bool is_nearest, T* image) {
  const int64_t width = images.size(2), channels = images.size(3);
  for (const Place& row : crop.rows) {
    for (const Place& column : crop.columns) {
      const float* grad = grads;
      grads += channels;
      if (!row.is_inside || !column.is_inside) continue;
      const auto add = [&](int64_t y, int64_t x, float weight) {
        T* pixel = image + (y * width + x) * channels;
        for (int64_t i = first; i < last; ++i) {
          pixel[i] = add_elements(pixel[i], static_cast<T>(weight * grad[i]));
        }
      };
      if (is_nearest) {
        add(row.nearest, column.nearest, 1);
        continue;
      }
      add(row.below, column.below, (1 - row.part) * (1 - column.part));
      add(row.below, column.above, (1 - row.part) * column.part);
      add(row.above, column.below, row.part * (1 - column.part));
      add(row.above, column.above, row.part * column.part);
    }
  }
}

// Boxes of an image overlap: a thread has some channels of one image.
Status grad_image_kernel(KernelContext& c) {
  constexpr int64_t kChannels = 32;
  const Tensor &grads = c.input(0), &out = c.output(0);
  const Shape &images = out.shape(), &crops = grads.shape();
  const auto indices = c.in<int32_t>(2);
  RETURN_IF_ERROR(check_indices(c, indices, images.size(0)));
  if (out.num_elements() == 0) return {};
  const float *from = c.in<float>(0).data(), *boxes = c.in<float>(1).data();
  const int64_t channels = images.size(3), blocks = (channels + kChannels - 1) / kChannels;
  const int64_t image_size = images.size(1) * images.size(2) * channels;
  const int64_t crop_size = crops.size(1) * crops.size(2) * channels;
  const bool is_nearest = c.attrs<CropAndResizeGradImageAttrs>().method == "nearest";
  return visit_plain(out.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    T* to = out.mutable_data<T>().data();
    for_ranges(out.num_elements(), kElementsPerChunk,
               [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, zero); });
    const int64_t work = (crop_size * crops.size(0) / (images.size(0) * blocks)) + 1;
    for_ranges(images.size(0) * blocks, kElementsPerChunk / work, [&](int64_t begin, int64_t end) {
      Crop crop{std::vector<Place>(crops.size(1)), std::vector<Place>(crops.size(2))};
      for (int64_t part = begin; part < end; ++part) {
        const int64_t image = part / blocks, first = part % blocks * kChannels;
        for (int64_t box = 0; box < crops.size(0); ++box) {
          if (indices[box] != image) continue;
          find_crop(boxes + 4 * box, images, crop);
          add_crop(from + box * crop_size, crop, images, first,
                   std::min(first + kChannels, channels), is_nearest, to + image * image_size);
        }
      }
    });
    return {};
  });
}

// --- The gradient of the boxes.

template <typename T>
void box_gradient(const float* grads, const T* image, const Shape& images, const Crop& crop,
                  float* sums) {
  const int64_t width = images.size(2), channels = images.size(3);
  const auto height_of = static_cast<int64_t>(crop.rows.size());
  const auto width_of = static_cast<int64_t>(crop.columns.size());
  // How far a place moves along with the first and with the last side of its box.
  const auto share = [](int64_t i, int64_t count, int64_t size) {
    const auto last = static_cast<float>(size - 1);
    return count > 1 ? static_cast<float>(i) * (last / static_cast<float>(count - 1)) : 0.5F * last;
  };
  std::fill_n(sums, 4, 0.0F);
  for (int64_t y = 0; y < height_of; ++y) {
    const Place& row = crop.rows[y];
    const float lower_share = share(y, height_of, images.size(1));
    const float upper_share = static_cast<float>(images.size(1) - 1) - lower_share;
    for (int64_t x = 0; x < width_of; ++x) {
      const Place& column = crop.columns[x];
      const float* grad = grads + (y * width_of + x) * channels;
      if (!row.is_inside || !column.is_inside) continue;
      const auto pixel = [&](int64_t at_row, int64_t at_column) {
        return image + (at_row * width + at_column) * channels;
      };
      const T *top_left = pixel(row.below, column.below),
              *top_right = pixel(row.below, column.above);
      const T *bottom_left = pixel(row.above, column.below),
              *bottom_right = pixel(row.above, column.above);
      float dy = 0, dx = 0;
      for (int64_t i = 0; i < channels; ++i) {
        const auto tl = static_cast<float>(top_left[i]), tr = static_cast<float>(top_right[i]);
        const auto bl = static_cast<float>(bottom_left[i]),
                   br = static_cast<float>(bottom_right[i]);
        dy += grad[i] * ((1 - column.part) * (bl - tl) + column.part * (br - tr));
        dx += grad[i] * ((1 - row.part) * (tr - tl) + row.part * (br - bl));
      }
      const float right_share = share(x, width_of, images.size(2));
      sums[0] += dy * upper_share;
      sums[1] += dx * (static_cast<float>(images.size(2) - 1) - right_share);
      sums[2] += dy * lower_share;
      sums[3] += dx * right_share;
    }
  }
}

Status grad_boxes_kernel(KernelContext& c) {
  const Shape &crops = c.input(0).shape(), &images = c.input(1).shape();
  const auto indices = c.in<int32_t>(3);
  RETURN_IF_ERROR(check_indices(c, indices, images.size(0)));
  const float *grads = c.in<float>(0).data(), *boxes = c.in<float>(2).data();
  float* to = c.out<float>(0).data();
  const int64_t crop_size = crops.size(1) * crops.size(2) * crops.size(3);
  const int64_t image_size = images.size(1) * images.size(2) * images.size(3);
  return visit_plain(c.input(1).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (kRealTypes.contains(kDTypeOf<T>)) {
      const T* from = c.in<T>(1).data();
      const int64_t grain = kElementsPerChunk / std::max<int64_t>(crop_size, 1);
      for_ranges(crops.size(0), grain, [&](int64_t begin, int64_t end) {
        Crop crop{std::vector<Place>(crops.size(1)), std::vector<Place>(crops.size(2))};
        for (int64_t box = begin; box < end; ++box) {
          find_crop(boxes + 4 * box, images, crop);
          box_gradient(grads + box * crop_size, from + indices[box] * image_size, images, crop,
                       to + 4 * box);
        }
      });
      return {};
    }
    return internal_error("images are real numbers");
  });
}

constexpr DTypeSet kImageTypes = {DType::kHalf,  DType::kFloat32, DType::kFloat64,
                                  DType::kInt8,  DType::kInt16,   DType::kInt32,
                                  DType::kInt64, DType::kUInt8,   DType::kUInt16};

}  // namespace

void define_crop_and_resize_ops(OpRegistry& ops) {
  kCropAndResize = ops.define<CropAndResizeAttrs>({
      .name = "CropAndResize",
      .summary = "Boxes cut out of images, and resized to crop_size.",
      .details =
          "A box is [y1, x1, y2, x2]: 0 is the center of the first pixel, 1 that of the last "
          "one. What lies outside of the image is extrapolation_value.",
      .inputs = {"image: T", "boxes: float", "box_ind: int32", "crop_size: int32"},
      .outputs = {"crops: float"},
      .types = {{"T", kImageTypes}},
      .infer = crop_and_resize_shape,
      .gradient = crop_and_resize_gradient,
      .body = kernel(crop_and_resize_kernel),
      .values_for_inference = {3},
  });
  kCropAndResizeGradImage = ops.define<CropAndResizeGradImageAttrs>({
      .name = "CropAndResizeGradImage",
      .summary = "The gradient of CropAndResize for the images.",
      .inputs = {"grads: float", "boxes: float", "box_ind: int32", "image_size: int32"},
      .outputs = {"output: T"},
      .types = {{"T", DTypeSet{DType::kHalf, DType::kFloat32, DType::kFloat64}}},
      .infer = grad_image_shape,
      .body = kernel(grad_image_kernel),
      .values_for_inference = {3},
  });
  kCropAndResizeGradBoxes = ops.define<CropAndResizeGradBoxesAttrs>({
      .name = "CropAndResizeGradBoxes",
      .summary = "The gradient of CropAndResize for the boxes, which is that of bilinear crops.",
      .inputs = {"grads: float", "image: T", "boxes: float", "box_ind: int32"},
      .outputs = {"output: float"},
      .types = {{"T", kImageTypes}},
      .infer = grad_boxes_shape,
      .body = kernel(grad_boxes_kernel),
  });
}

}  // namespace graven::engine
