#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/images.h"
#include "graven/library/reductions.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

constexpr std::string_view kMethodDoc =
    "\"bilinear\", \"nearest\", \"bicubic\", \"area\", \"lanczos3\", \"lanczos5\", \"gaussian\" or "
    "\"mitchellcubic\".";
constexpr std::string_view kAntialiasDoc =
    "Whether pixels of smaller images are means over wider neighbourhoods; no matter for "
    "\"nearest\" and \"area\".";
constexpr Raised kNoMethod = {"ValueError", "There is no such method."};

// Two sizes as float32.
Formula real(FunctionContext& c, const Tensor& sizes) { return c.cast(sizes, DType::kFloat32); }

// The height and the width of images: a constant if they are known.
Tensor size_vector(FunctionContext& c, const Tensor& images) {
  const auto [height, width] = image_sizes(c, images);
  const Size sizes[] = {height, width};
  return vector_of(c, sizes);
}

// f(context, size) for two sizes; a constant if they are known.
template <typename F>
Tensor at_once_if_known(FunctionContext& c, const Tensor& own, const Tensor& target, F f) {
  const Tensor known_own = known_value(own), known_target = known_value(target);
  if (!known_own || !known_target) return f(c, own, target);
  FunctionContext now = c.at_once();
  const Tensor value = f(now, known_own, known_target);
  return value ? c.constant(value) : c.fail(now.status());
}

// A batch of images by ScaleAndTranslate.
Tensor by_curve(FunctionContext& c, const Tensor& images, const Tensor& size, std::string curve,
                bool antialias) {
  const Tensor scale =
      at_once_if_known(c, size_vector(c, images), size,
                       [](FunctionContext& to, const Tensor& own, const Tensor& target) -> Tensor {
                         return real(to, target) / real(to, own);
                       });
  const Tensor origin = c.filled({.numbers = InlineVector<int64_t, 6>{2}}, 0, DType::kFloat32);
  return c(kScaleAndTranslate, {images, size, scale, origin},
           {.kernel_type = std::move(curve), .antialias = antialias});
}

// A batch of images in the size that a vector holds.
Tensor resized(FunctionContext& c, const Tensor& images, const Tensor& size,
               const NumberOrText& given, bool antialias) {
  const auto* text = std::get_if<std::string>(&given);
  const std::string method = text ? *text : str_cat(std::get<double>(given));
  const ResizeAttrs centered = {.half_pixel_centers = true};
  if (method == "nearest") return c(kResizeNearestNeighbor, {images, size}, centered);
  if (method == "area") return c(kResizeArea, {images, size});
  if (method == "bilinear") {
    return antialias ? by_curve(c, images, size, "triangle", true)
                     : c(kResizeBilinear, {images, size}, centered);
  }
  if (method == "bicubic") {
    return antialias ? by_curve(c, images, size, "keyscubic", true)
                     : c(kResizeBicubic, {images, size}, centered);
  }
  for (const char* curve : {"lanczos3", "lanczos5", "gaussian", "mitchellcubic"}) {
    if (method == curve) return by_curve(c, images, size, method, antialias);
  }
  return c.fail(value_error("Resize method is not implemented: ", method));
}

struct ResizeParameters {
  Tensor images;
  Sizes size;
  NumberOrText method = std::string("bilinear");
  bool preserve_aspect_ratio = false, antialias = false;
  static constexpr auto fields() {
    using P = ResizeParameters;
    return std::tuple(
        required_field("images", &P::images, "any", kImageDoc),
        required_field("size", &P::size, "The new height and width, int32."),
        field("method", &P::method, kMethodDoc),
        field("preserve_aspect_ratio", &P::preserve_aspect_ratio,
              "Whether size is a bound, within which height and width keep their proportion."),
        field("antialias", &P::antialias, kAntialiasDoc));
  }
};

// The largest sizes within bounds that keep the aspect ratio.
Tensor within(FunctionContext& c, const Tensor& own, const Tensor& bounds) {
  const Formula sizes = real(c, own), ratios = real(c, bounds) / sizes;
  return c.cast(call(kRound, reduce(c, kMin, ratios) * sizes), DType::kInt32);
}

Outputs resize(FunctionContext& c, const ResizeParameters& p) {
  const auto rank = c.rank_if_known(p.images);
  if (!rank) return c.fail(value_error("'images' contains no shape."));
  if (*rank != 3 && *rank != 4) {
    return c.fail(value_error("'images' must have either 3 or 4 dimensions."));
  }
  Tensor size = c.tensor_of(p.size, "size");
  if (!size || size.dtype() != DType::kInt32) {
    return c.fail(value_error("'size' must be a 1-D int32 Tensor"));
  }
  if (!are_compatible(size.shape(), Shape{2})) {
    return c.fail(value_error("'size' must be a 1-D Tensor of 2 elements: new_height, new_width"));
  }
  const Tensor images = *rank == 4 ? p.images : c(kExpandDims, {p.images, c.scalar(0)});
  if (p.preserve_aspect_ratio) size = at_once_if_known(c, size_vector(c, images), size, within);
  const Tensor y = resized(c, images, size, p.method, p.antialias);
  return *rank == 4 ? y : c(kSqueeze, {y}, {.squeeze_dims = {0}});
}

struct ResizeWithPadParameters {
  Tensor image;
  Number target_height, target_width;
  NumberOrText method = std::string("bilinear");
  bool antialias = false;
  static constexpr auto fields() {
    using P = ResizeWithPadParameters;
    return std::tuple(
        required_field("image", &P::image, "any", kImageDoc),
        required_field("target_height", &P::target_height, "The height of the result."),
        required_field("target_width", &P::target_width, "The width of the result."),
        field("method", &P::method, kMethodDoc), field("antialias", &P::antialias, kAntialiasDoc));
  }
};

// The resized sizes and the numbers of zeros before them: int32, shape [2, 2].
Tensor fitted(FunctionContext& c, const Tensor& own, const Tensor& target) {
  const Formula bounds = real(c, target), sizes = real(c, own);
  const Formula fitting = sizes / reduce(c, kMax, sizes / bounds);
  const auto whole = [&](const Formula& x) { return c.cast(call(kFloor, x), DType::kInt32); };
  const Tensor before = call(kMaximum, whole(0.5 * (bounds - fitting)), c(c.scalar(0)));
  const Tensors packed = c.apply(*kPack, Tensors{whole(fitting), before}, PackAttrs());
  return packed.empty() ? Tensor() : packed[0];
}

Outputs resize_with_pad(FunctionContext& c, const ResizeWithPadParameters& p) {
  const ImageSizes target = {size_of(c, p.target_height, "target_height"),
                             size_of(c, p.target_width, "target_width")};
  if (!check_image_or_batch(c, p.image)) return Tensor();
  require_at_least(c, target.width, 1, "target_width must be > 0.");
  require_at_least(c, target.height, 1, "target_height must be > 0.");
  if (!c.status().ok()) return Tensor();
  const bool is_batch = c.rank_if_known(p.image) == 4;
  const Tensor images = is_batch ? p.image : c(kExpandDims, {p.image, c.scalar(0)});
  const Size targets[] = {target.height, target.width};
  const Tensor sizes = at_once_if_known(c, size_vector(c, p.image), vector_of(c, targets), fitted);
  if (!sizes) return sizes;
  const Tensors rows = c.apply(kUnpack, {sizes}, {.num = 2});
  if (rows.size() < 2) return Tensor();
  const Tensor known = known_value(sizes);
  const auto before = [&](int i) {
    return known ? Size(known.data<int32_t>()[2 + i]) : Size(element_of(c, rows[1], i));
  };
  const Tensor size = known ? c.constant(Tensor::vector(known.data<int32_t>().first(2))) : rows[0];
  const Tensor y = resized(c, images, size, p.method, p.antialias);
  const Tensor padded = padded_to_box(c, y, {before(0), before(1)}, target);
  return is_batch ? padded : c(kSqueeze, {padded}, {.squeeze_dims = {0}});
}

// --- Boxes.

struct CropAndResizeParameters {
  Tensor image, boxes, box_indices, crop_size;
  std::string method = "bilinear";
  double extrapolation_value = 0;
  static constexpr auto fields() {
    using P = CropAndResizeParameters;
    return std::tuple(
        required_field("image", &P::image, "T", "[batch, height, width, channels]."),
        required_field("boxes", &P::boxes, "float32",
                       "[y1, x1, y2, x2] each, 0 at the first pixel and 1 at the last one."),
        required_field("box_indices", &P::box_indices, "int32", "The image of each box."),
        required_field("crop_size", &P::crop_size, "int32", "The height and width of the crops."),
        field("method", &P::method, "\"bilinear\" or \"nearest\"."),
        field("extrapolation_value", &P::extrapolation_value, "What is outside of the image."));
  }
};

struct PatchesParameters {
  Tensor images;
  Sizes sizes, strides, rates;
  std::string padding;
  static constexpr auto fields() {
    using P = PatchesParameters;
    return std::tuple(
        required_field("images", &P::images, "T", "[batch, height, width, channels]."),
        required_field("sizes", &P::sizes, "The size of a patch, [1, height, width, 1]."),
        required_field("strides", &P::strides, "The distance of patches, [1, rows, columns, 1]."),
        required_field("rates", &P::rates,
                       "The distance of the pixels of a patch, [1, rows, columns, 1]."),
        required_field("padding", &P::padding, "\"SAME\" or \"VALID\"."));
  }
};

Outputs extract_patches(FunctionContext& c, const PatchesParameters& p) {
  ExtractImagePatchesAttrs attrs;
  attrs.padding = p.padding;
  const std::tuple<const Sizes&, std::vector<int64_t>&, const char*> lists[] = {
      {p.sizes, attrs.ksizes, "sizes"},
      {p.strides, attrs.strides, "strides"},
      {p.rates, attrs.rates, "rates"}};
  for (const auto& [given, list, name] : lists) {
    if (!given.numbers || given.is_scalar) {
      return c.fail(type_error("Expected list for '", name, "' of extract_patches"));
    }
    list.assign(given.numbers->begin(), given.numbers->end());
  }
  return c(kExtractImagePatches, {p.images}, attrs, c.name());
}

struct SuppressionParameters {
  Tensor boxes, scores, max_output_size, iou_threshold, score_threshold;
  static constexpr auto fields() {
    using P = SuppressionParameters;
    return std::tuple(
        required_field("boxes", &P::boxes, "T", "[boxes, 4], of any two opposite corners each."),
        required_field("scores", &P::scores, "T", "A number for each box."),
        required_field("max_output_size", &P::max_output_size, "int32", "How many boxes at most."),
        field("iou_threshold", &P::iou_threshold, "T_threshold", 0.5,
              "How much of what two boxes cover both may cover, in [0, 1]."),
        field("score_threshold", &P::score_threshold, "T_threshold",
              "What the scores must be above; None means minus infinity."));
  }
};

Outputs non_max_suppression(FunctionContext& c, const SuppressionParameters& p) {
  const Tensor& given = p.iou_threshold ? p.iou_threshold : p.score_threshold;
  const DType dtype = given ? given.dtype() : DType::kFloat32;
  const auto or_number = [&](const Tensor& tensor, double number, std::string_view name) {
    return tensor ? tensor : c.scalar(number, dtype, name);
  };
  const double lowest = -std::numeric_limits<double>::infinity();
  return c(kNonMaxSuppressionV3,
           {p.boxes, p.scores, p.max_output_size, or_number(p.iou_threshold, 0.5, "iou_threshold"),
            or_number(p.score_threshold, lowest, "score_threshold")});
}

struct DrawingParameters {
  Tensor images, boxes, colors;
  static constexpr auto fields() {
    using P = DrawingParameters;
    return std::tuple(
        required_field("images", &P::images, "T", "[batch, height, width, channels]."),
        required_field("boxes", &P::boxes, "float32",
                       "[batch, boxes, 4]: y1, x1, y2 and x2, 0 at the first pixel and 1 at the "
                       "last one."),
        required_field("colors", &P::colors, "float32 or None",
                       "Rows of channels, which the boxes take in turn; None means ten colors."));
  }
};

void define_patches_and_boxes(FunctionRegistry& functions) {
  constexpr Raised kDoNotFit = {"InvalidArgumentError", "The shapes do not fit."};
  functions.define({
      .names = "image.extract_patches",
      .scope = "ExtractImagePatches",
      .types = {{"T", kNumberTypes}},
      .summary =
          "Gives the pixels of each window that slides over images, as one of many channels.",
      .returns = "[batch, rows, columns, height * width * channels].",
      .raises = {kDoNotFit, {"UnimplementedError", "A window spans images or channels."}},
      .source = "OpDef \"ExtractImagePatches\"",
      .body = extract_patches,
  });
  functions.define({
      .names = "image.non_max_suppression",
      .scope = "non_max_suppression",
      .types = {{"T", DTypeSet{DType::kHalf, DType::kFloat32}},
                {"T_threshold", DTypeSet{DType::kHalf, DType::kFloat32}}},
      .summary = "Selects the boxes with the highest scores that do not overlap too much.",
      .returns = "The indices of the boxes, int32, the highest score first.",
      .raises = {kDoNotFit, {"InvalidArgumentError", "iou_threshold is not in [0, 1]."}},
      .source = "OpDef \"NonMaxSuppressionV3\"",
      .body = non_max_suppression,
  });
  functions.define({
      .names = "image.draw_bounding_boxes",
      .scope = "DrawBoundingBoxesV2",
      .types = {{"T", DTypeSet{DType::kHalf, DType::kFloat32}}},
      .summary = "Draws the outlines of boxes into images, one pixel wide.",
      .returns = "The images.",
      .raises = {kDoNotFit},
      .source = "OpDef \"DrawBoundingBoxesV2\"",
      .body = [](FunctionContext& c, const DrawingParameters& p) -> Outputs {
        const Integers none = {.numbers = InlineVector<int64_t, 6>{0, 4}};
        const Tensor colors = p.colors ? p.colors : c.filled(none, 0, DType::kFloat32);
        return c(kDrawBoundingBoxesV2, {p.images, p.boxes, colors}, {}, c.name());
      },
  });
}

void define_resizing(FunctionRegistry& functions) {
  functions.define({
      .names = "image.resize",
      .scope = "resize",
      .summary = "Makes images larger or smaller, around the centers of their pixels.",
      .returns = "The images in float32; in their own dtype for \"nearest\".",
      .raises = {{"ValueError", "The images have not 3 or 4 axes, or size is not two integers."},
                 kNoMethod,
                 {"InvalidArgumentError", "A size is not above 0, or the images are empty."}},
      .source = "OpDefs \"ResizeBilinear\", \"ResizeNearestNeighbor\", \"ResizeBicubic\", "
                "\"ResizeArea\" and \"ScaleAndTranslate\"",
      .body = resize,
  });
  functions.define({
      .names = "image.resize_with_pad",
      .summary = "Makes images as large as fits, and puts zeros around them, evenly on all sides.",
      .returns = "The images, [..., target_height, target_width, channels].",
      .raises = {{"ValueError",
                  "The image has not 3 or 4 axes, or one of its last three is empty; or a size is "
                  "not above 0."},
                 kNoMethod},
      .body = resize_with_pad,
  });
  functions.define({
      .names = "image.crop_and_resize",
      .scope = "CropAndResize",
      .types = {{"T", kRealTypes}},
      .summary = "Cuts boxes out of images, and makes them equally large.",
      .returns = "[boxes, *crop_size, channels], float32.",
      .raises = {{"InvalidArgumentError", "The shapes do not fit."},
                 {"OutOfRangeError", "There is no image of such an index."}},
      .source = "OpDef \"CropAndResize\"",
      .body = [](FunctionContext& c, const CropAndResizeParameters& p) -> Outputs {
        return c(kCropAndResize, {p.image, p.boxes, p.box_indices, p.crop_size},
                 {p.method, p.extrapolation_value}, c.name());
      },
  });
}

}  // namespace

void define_image_resizing(FunctionRegistry& functions) {
  define_resizing(functions);
  define_patches_and_boxes(functions);
}

}  // namespace graven::engine
