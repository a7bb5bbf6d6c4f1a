#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/register_ops.h"

// Boxes in images, [y1, x1, y2, x2] each, given by any two opposite corners.

namespace graven::engine {
namespace {

Status selected_boxes_shape(InferContext& c) {
  const Shape &boxes = c.shape(0), &scores = c.shape(1);
  if (boxes.has_rank() && boxes.rank() != 2) {
    return invalid_argument("boxes must be 2-D", boxes.to_message());
  }
  if (boxes.has_rank() && boxes[1].is_number() && boxes.size(1) != 4) {
    return invalid_argument("boxes must have 4 columns");
  }
  if (scores.has_rank() && scores.rank() != 1) {
    return invalid_argument("scores must be 1-D", scores.to_message());
  }
  if (boxes.has_rank() && scores.has_rank() && !c.merge(boxes[0], scores[0]).ok()) {
    return invalid_argument("scores has incompatible shape");
  }
  for (int i = 2; i < c.num_inputs(); ++i) {
    const Shape& scalar = c.shape(i);
    if (!scalar.has_rank() || scalar.rank() == 0) continue;
    return invalid_argument(c.op().inputs()[static_cast<size_t>(i)].name,
                            " must be 0-D, got shape ", scalar.to_message());
  }
  c.set_shape(0, Shape{Dim::unknown()});
  return {};
}

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

// The intersection of two boxes over their union; 0 for an empty box.
float overlap(const Box& a, const Box& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0F);
  const float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0F);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

template <typename T>
std::vector<float> floats(const Tensor& x) {
  std::vector<float> values;
  for (const T& element : x.data<T>()) values.push_back(static_cast<float>(element));
  return values;
}

std::vector<float> floats_of(const Tensor& x) {
  return x.dtype() == DType::kHalf ? floats<Half>(x) : floats<float>(x);
}

// The boxes by their scores, the highest first; each that no selected one overlaps too much is
// selected, too.
Status non_max_suppression_kernel(KernelContext& c) {
  const int32_t max_output_size = c.in<int32_t>(2)[0];
  const float max_overlap = floats_of(c.input(3))[0], least_score = floats_of(c.input(4))[0];
  if (max_output_size < 0) return invalid_argument("output size must be non-negative");
  if (!(max_overlap >= 0 && max_overlap <= 1)) {
    return invalid_argument("iou_threshold must be in [0, 1]");
  }
  const std::vector<float> corners = floats_of(c.input(0)), scores = floats_of(c.input(1));
  std::vector<int32_t> candidates;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > least_score) candidates.push_back(static_cast<int32_t>(i));
  }
  std::ranges::stable_sort(candidates, [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  std::vector<int32_t> selected;
  std::vector<Box> kept;
  for (const int32_t candidate : candidates) {
    if (std::ssize(selected) >= max_output_size) break;
    const float* corner = corners.data() + 4 * int64_t{candidate};
    const Box box = {std::min(corner[0], corner[2]), std::min(corner[1], corner[3]),
                     std::max(corner[0], corner[2]), std::max(corner[1], corner[3])};
    const bool is_new = std::ranges::none_of(
        kept, [&](const Box& other) { return overlap(box, other) > max_overlap; });
    if (!is_new) continue;
    selected.push_back(candidate);
    kept.push_back(box);
  }
  RETURN_IF_ERROR(c.allocate_output(0, DType::kInt32, Shape{std::ssize(selected)}));
  std::ranges::copy(selected, c.out<int32_t>(0).begin());
  return {};
}

// --- DrawBoundingBoxes.

Status drawn_shape(InferContext& c) {
  const Shape &images = c.shape(0), &boxes = c.shape(1);
  if (images.has_rank() && images.rank() != 4) {
    return invalid_argument("The rank of the images should be 4, got shape ", images.to_message());
  }
  if (boxes.has_rank() && (boxes.rank() != 3 || (boxes[2].is_number() && boxes.size(2) != 4))) {
    return invalid_argument("The size of boxes must be [batch, boxes, 4], got shape ",
                            boxes.to_message());
  }
  if (images.has_rank() && boxes.has_rank() && !c.merge(images[0], boxes[0]).ok()) {
    return invalid_argument("The batch sizes should be the same, got shapes ", images.to_message(),
                            " and ", boxes.to_message());
  }
  const Shape& colors = c.shape(2);
  if (colors.has_rank() && colors.rank() != 2) {
    return invalid_argument("colors must be a 2-D matrix, got shape ", colors.to_message());
  }
  const bool are_known =
      images.has_rank() && colors.has_rank() && images[3].is_number() && colors[1].is_number();
  if (are_known && colors.size(1) < images.size(3)) {
    return invalid_argument("colors must have at least ", images.size(3), " columns, got shape ",
                            colors.to_message());
  }
  c.set_shape(0, images);
  return {};
}

// Yellow, blue, red, lime, purple, olive, maroon, navy, aqua and fuchsia, all opaque.
constexpr float kDefaultColors[10][4] = {
    {1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
    {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

// Calls f with each row and column of the outline of a box that lies inside an image. A side that
// lies outside is not drawn.
template <typename F>
void for_each_of_outline(const float* box, int64_t height, int64_t width, F f) {
  const auto place = [](float part, int64_t size) {
    const float at = part * static_cast<float>(size - 1);
    return static_cast<int64_t>(std::clamp(at, -0x1p40F, 0x1p40F));
  };
  if (std::any_of(box, box + 4, [](float x) { return std::isnan(x); })) return;
  const int64_t top = place(box[0], height), left = place(box[1], width);
  const int64_t bottom = place(box[2], height), right = place(box[3], width);
  if (top > bottom || left > right) return;
  if (top >= height || bottom < 0 || left >= width || right < 0) return;
  const int64_t first_row = std::max<int64_t>(top, 0), last_row = std::min(bottom, height - 1);
  const int64_t first_column = std::max<int64_t>(left, 0), last_column = std::min(right, width - 1);
  for (int64_t x = first_column; x <= last_column; ++x) {
    if (top >= 0) f(top, x);
    if (bottom < height) f(bottom, x);
  }
  for (int64_t y = first_row; y <= last_row; ++y) {
    if (left >= 0) f(y, left);
    if (right < width) f(y, right);
  }
}

template <typename T>
void draw_boxes(KernelContext& c) {
  const Tensor &images = c.input(0), &boxes = c.input(1), &colors = c.input(2);
  const Shape& shape = images.shape();
  const int64_t height = shape.size(1), width = shape.size(2), channels = shape.size(3);
  const int64_t count = boxes.shape().size(1);
  const bool has_colors = colors.num_elements() > 0;
  const int64_t num_colors = has_colors ? colors.shape().size(0) : 10;
  const float* table = has_colors ? colors.data<float>().data() : kDefaultColors[0];
  const int64_t row = has_colors ? colors.shape().size(1) : 4;
  T* to = c.out<T>(0).data();
  std::ranges::copy(images.data<T>(), to);
  for_ranges(shape.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t box = begin * count; box < end * count; ++box) {
      const float* color = table + box % count % num_colors * row;
      for_each_of_outline(
          boxes.data<float>().data() + 4 * box, height, width, [&](int64_t y, int64_t x) {
            T* pixel = to + ((box / count * height + y) * width + x) * channels;
            for (int64_t i = 0; i < channels; ++i) {
              pixel[i] = static_cast<T>(!has_colors && channels == 1 ? 1 : color[i]);
            }
          });
    }
  });
}

Status draw_boxes_kernel(KernelContext& c) {
  const Tensor& images = c.input(0);
  if (images.num_elements() == 0) return {};
  if (c.input(2).num_elements() == 0 && images.shape().size(3) > 4) {
    return invalid_argument("images of ", images.shape().size(3), " channels need colors");
  }
  images.dtype() == DType::kHalf ? draw_boxes<Half>(c) : draw_boxes<float>(c);
  return {};
}

}  // namespace

void define_box_ops(OpRegistry& ops) {
  constexpr DTypeSet kTypes = {DType::kHalf, DType::kFloat32};
  kNonMaxSuppressionV3 = ops.define<NoAttrs>({
      .name = "NonMaxSuppressionV3",
      .summary = "The indices of the boxes with the highest scores of which no two overlap more "
                 "than iou_threshold.",
      .details =
          "The highest score comes first; of equal ones the first box. Boxes with scores not "
          "above score_threshold are left out.",
      .inputs = {"boxes: T", "scores: T", "max_output_size: int32", "iou_threshold: T_threshold",
                 "score_threshold: T_threshold"},
      .outputs = {"selected_indices: int32"},
      .types = {{"T", kTypes}, {"T_threshold", kTypes}},
      .infer = selected_boxes_shape,
      .body = kernel(non_max_suppression_kernel),
  });
  kDrawBoundingBoxesV2 = ops.define<NoAttrs>({
      .name = "DrawBoundingBoxesV2",
      .summary = "Images with the outlines of boxes, one pixel wide.",
      .details =
          "boxes are [batch, boxes, 4], 0 at the first pixel and 1 at the last one. They take "
          "the rows of colors in turn; without any they are yellow, blue, red, lime, purple, "
          "olive, maroon, navy, aqua and fuchsia.",
      .inputs = {"images: T", "boxes: float", "colors: float"},
      .outputs = {"output: T"},
      .types = {{"T", kTypes}},
      .infer = drawn_shape,
      .body = kernel(draw_boxes_kernel),
  });
}

}  // namespace graven::engine
