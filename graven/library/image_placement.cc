#include <algorithm>
#include <optional>
#include <string>

#include "graven/ir/call_sizes.h"
#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/images.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

// Functions that move pixels and do not change their values.

namespace graven::engine {
namespace {

constexpr Raised kNoImage = {"ValueError",
                             "The image has not 3 or 4 axes, or one of its last three is empty."};

struct ImageParameters {
  Tensor image;
  static constexpr auto fields() {
    return std::tuple(required_field("image", &ImageParameters::image, "any", kImageDoc));
  }
};

Outputs flip(FunctionContext& c, const Tensor& image, int64_t axis) {
  if (!check_image_or_batch(c, image)) return Tensor();
  const int64_t axes[] = {axis + c.rank_if_known(image).value_or(0)};
  return c(kReverseV2, {image, c.vector(axes)});
}

struct RotationParameters {
  Tensor image, k;
  static constexpr auto fields() {
    using P = RotationParameters;
    return std::tuple(
        required_field("image", &P::image, "any", kImageDoc),
        field("k", &P::k, "int32", 1, "How many quarters of a turn, counter-clockwise."));
  }
};

// A quarter turn, or three quarters, swaps both axes; then the height, both axes or the width are
// reversed.
Outputs rotate(FunctionContext& c, const RotationParameters& p) {
  if (!check_image_or_batch(c, p.image)) return Tensor();
  const auto k_rank = p.k ? c.rank_if_known(p.k) : 0;
  if (k_rank && *k_rank != 0) return c.fail(value_error("k must be a scalar"));
  const int64_t image_axes[] = {-3, -2};
  const auto known = p.k ? c.number_if_known(p.k) : 1;
  if (known) {
    const size_t quarters = static_cast<size_t>((*known % 4 + 4) % 4);
    if (quarters == 0) return c(kIdentity, {p.image}, {}, c.name());
    const Tensor x =
        quarters == 2 ? p.image : c(kTranspose, {p.image, transposed_axes(c, p.image)});
    const std::span<const int64_t> all(image_axes);
    const auto axes = quarters == 2 ? all : all.subspan(quarters / 2, 1);
    return c(kReverseV2, {x, c.vector(axes)}, {}, c.name());
  }
  const Formula k = call(kFloorMod, c(p.k), c(c.scalar(4)));
  const Tensor order = c(kRange, {c.scalar(0), c(kRank, {p.image}), c.scalar(1)});
  const Tensor is_odd = c(kEqual, {call(kFloorMod, k, c(c.scalar(2))), c.scalar(1)});
  const Tensor x =
      c(kTranspose, {p.image, c(kSelectV2, {is_odd, transposed_axes(c, p.image), order})});
  const auto one = [&](const Tensor& scalar) { return c(kExpandDims, {scalar, c.scalar(0)}); };
  const Tensor begin = one(c.cast(c(kEqual, {k, c.scalar(3)}), DType::kInt32));
  const Tensor count = one(2.0 - call(kAbs, k - 2.0));
  const Tensor axes = c(kSlice, {c.vector(image_axes), begin, count});
  const Tensor turned = c(kReverseV2, {x, axes}, {}, c.name());
  Shape shape = p.image.shape();
  if (!shape.has_rank()) return turned;
  const int height = shape.rank() - 3, width = shape.rank() - 2;
  if (c.size_if_known(p.image, height) != c.size_if_known(p.image, width)) {
    shape.set(height, Dim::unknown());
    shape.set(width, Dim::unknown());
  }
  set_known_shape(c, turned, shape);
  return turned;
}

struct CentralCropParameters {
  Tensor image;
  Number central_fraction;
  static constexpr auto fields() {
    using P = CentralCropParameters;
    return std::tuple(required_field("image", &P::image, "any", kImageDoc),
                      required_field("central_fraction", &P::central_fraction,
                                     "The part of height and width that stays, in (0, 1]."));
  }
};

Tensor as_double(FunctionContext& c, const Tensor& x) { return c.cast(x, DType::kFloat64); }

Outputs central_crop(FunctionContext& c, const CentralCropParameters& p) {
  // As TensorFlow computes it: with the program's number where a size is known, and with that
  // number as a float32 where it is not.
  const Tensor fraction = c.tensor_of(p.central_fraction, DType::kFloat32);
  if (!fraction) return Tensor();
  if (c.rank_if_known(fraction).value_or(0) != 0 || !kNumberTypes.contains(fraction.dtype())) {
    return c.fail(value_error("central_fraction must be a number"));
  }
  std::optional<double> known = p.central_fraction.number;
  if (const Tensor value = known ? Tensor() : known_value(fraction)) {
    FunctionContext now = c.at_once();
    const Tensor wide = as_double(now, value);
    if (!wide) return c.fail(now.status());
    known = wide.item<double>();
  }
  const char* range = "central_fraction must be within (0, 1]";
  if (known && !(*known > 0 && *known <= 1)) return c.fail(value_error(range));
  if (known == 1) return p.image;
  const auto rank = c.rank_if_known(p.image);
  if (rank != 3 && rank != 4) {
    return c.fail(
        value_error("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = ",
                    rank ? std::to_string(*rank) : "None", "."));
  }
  if (!check_image(c, p.image)) return Tensor();
  const Tensor part = as_double(c, fraction);
  if (!known) {
    const Tensor holds = c(kLogicalAnd, {c(kGreater, {part, c.scalar(0.0, DType::kFloat64)}),
                                         c(kLessEqual, {part, c.scalar(1.0, DType::kFloat64)})});
    const Tensor data[] = {text_constant(c, range)};
    assert_later(c, holds, data, {});
  }
  const auto start = [&](const Size& all, int64_t axis) -> Size {
    if (known && all.is_number()) {
      const auto size = static_cast<double>(all.number());
      return static_cast<int64_t>((size - size * *known) / 2);
    }
    const Formula size = c(as_double(c, all.tensor(c)));
    // A size that this trace leaves open is known to the call.
    const int at = static_cast<int>(axis) + p.image.rank();
    const bool is_of_call = known && CallSizes::number(p.image, at).has_value();
    const Formula factor = is_of_call ? c(c.scalar(*known, DType::kFloat64)) : c(part);
    return Size(c.cast(0.5 * (size - size * factor), DType::kInt32));
  };
  const auto [height, width] = image_sizes(c, p.image);
  const ImageSizes offset = {start(height, -3), start(width, -2)};
  const auto rest = [&](const Size& all, const Size& before) {
    return subtract(c, all, multiply(c, before, 2));
  };
  return cropped(c, p.image, offset, {rest(height, offset.height), rest(width, offset.width)});
}

struct BoxParameters {
  Tensor image;
  Number offset_height, offset_width, target_height, target_width;
  static constexpr auto fields() {
    using P = BoxParameters;
    return std::tuple(
        required_field("image", &P::image, "any", kImageDoc),
        required_field("offset_height", &P::offset_height, "The rows above the box."),
        required_field("offset_width", &P::offset_width, "The columns left of the box."),
        required_field("target_height", &P::target_height, "The height of the result."),
        required_field("target_width", &P::target_width, "The width of the result."));
  }
};

struct Box {
  ImageSizes offset, target;
};

Box box_of(FunctionContext& c, const BoxParameters& p) {
  return {
      {size_of(c, p.offset_height, "offset_height"), size_of(c, p.offset_width, "offset_width")},
      {size_of(c, p.target_height, "target_height"), size_of(c, p.target_width, "target_width")}};
}

Outputs crop(FunctionContext& c, const BoxParameters& p) {
  const auto [offset, target] = box_of(c, p);
  if (!check_image_or_batch(c, p.image)) return Tensor();
  const ImageSizes own = image_sizes(c, p.image);
  require_at_least(c, offset.width, 0, "offset_width must be >= 0.");
  require_at_least(c, offset.height, 0, "offset_height must be >= 0.");
  require_at_least(c, target.width, 1, "target_width must be > 0.");
  require_at_least(c, target.height, 1, "target_height must be > 0.");
  require_at_least(c, subtract(c, own.width, offset.width), target.width,
                   "width must be >= target + offset.");
  require_at_least(c, subtract(c, own.height, offset.height), target.height,
                   "height must be >= target + offset.");
  return c.status().ok() ? cropped(c, p.image, offset, target) : Tensor();
}

struct CropOrPadParameters {
  Tensor image;
  Number target_height, target_width;
  static constexpr auto fields() {
    using P = CropOrPadParameters;
    return std::tuple(
        required_field("image", &P::image, "any", kImageDoc),
        required_field("target_height", &P::target_height, "The height of the result."),
        required_field("target_width", &P::target_width, "The width of the result."));
  }
};

// The larger of 0 and half of a - b, and the smaller of a and b.
Size half_of_excess(FunctionContext& c, const Size& a, const Size& b) {
  const Size excess = subtract(c, a, b);
  if (excess.is_number()) return std::max<int64_t>(excess.number(), 0) / 2;
  const Formula positive = call(kMaximum, c(excess.tensor(c)), c(c.scalar(0)));
  return Size(call(kFloorDiv, positive, c(c.scalar(2))).tensor());
}

Size smaller(FunctionContext& c, const Size& a, const Size& b) {
  if (a.is_number() && b.is_number()) return std::min(a.number(), b.number());
  return Size(c(kMinimum, {a.tensor(c), b.tensor(c)}));
}

Outputs crop_or_pad(FunctionContext& c, const CropOrPadParameters& p) {
  const ImageSizes target = {size_of(c, p.target_height, "target_height"),
                             size_of(c, p.target_width, "target_width")};
  if (!check_image_or_batch(c, p.image)) return Tensor();
  require_at_least(c, target.width, 1, "target_width must be > 0.");
  require_at_least(c, target.height, 1, "target_height must be > 0.");
  if (!c.status().ok()) return Tensor();
  const ImageSizes own = image_sizes(c, p.image);
  const ImageSizes kept = {smaller(c, target.height, own.height),
                           smaller(c, target.width, own.width)};
  const Tensor part = cropped(
      c, p.image,
      {half_of_excess(c, own.height, target.height), half_of_excess(c, own.width, target.width)},
      kept);
  return placed(
      c, part,
      {half_of_excess(c, target.height, own.height), half_of_excess(c, target.width, own.width)},
      target);
}

void define_turns(FunctionRegistry& functions) {
  functions.define({
      .names = "image.flip_left_right",
      .summary = "Mirrors images: the columns in reverse order.",
      .returns = "The images.",
      .raises = {kNoImage},
      .body = [](FunctionContext& c, const ImageParameters& p) -> Outputs {
        return flip(c, p.image, -2);
      },
  });
  functions.define({
      .names = "image.flip_up_down",
      .summary = "Turns images upside down: the rows in reverse order.",
      .returns = "The images.",
      .raises = {kNoImage},
      .body = [](FunctionContext& c, const ImageParameters& p) -> Outputs {
        return flip(c, p.image, -3);
      },
  });
  functions.define({
      .names = "image.transpose",
      .scope = "transpose",
      .summary = "Makes the rows of images their columns.",
      .returns = "The images, [width, height, channels] each.",
      .raises = {kNoImage},
      .source = "OpDef \"Transpose\"",
      .body = [](FunctionContext& c, const ImageParameters& p) -> Outputs {
        if (!check_image_or_batch(c, p.image)) return Tensor();
        return c(kTranspose, {p.image, transposed_axes(c, p.image)}, {}, c.name());
      },
  });
  functions.define({
      .names = "image.rot90",
      .scope = "rot90",
      .summary = "Turns images by quarters of a turn, counter-clockwise.",
      .returns = "The images.",
      .raises = {kNoImage, {"ValueError", "k is no scalar."}},
      .body = rotate,
  });
}

void define_boxes(FunctionRegistry& functions) {
  constexpr Raised kOutside = {"ValueError", "The box does not fit, or is empty."};
  constexpr Raised kOutsideLater = {"InvalidArgumentError",
                                    "The same, of sizes that only the running program knows."};
  functions.define({
      .names = "image.central_crop",
      .summary = "Cuts off the border of images.",
      .returns = "The central part of height and width.",
      .raises = {kNoImage, {"ValueError", "The fraction is not within (0, 1]."}, kOutsideLater},
      .body = central_crop,
  });
  functions.define({
      .names = "image.crop_to_bounding_box",
      .summary = "Cuts a box out of images.",
      .returns = "The box, [..., target_height, target_width, channels].",
      .raises = {kNoImage, kOutside, kOutsideLater},
      .body = crop,
  });
  functions.define({
      .names = "image.pad_to_bounding_box",
      .summary = "Puts images into larger ones of zeros.",
      .returns = "The larger images, [..., target_height, target_width, channels].",
      .raises = {kNoImage, kOutside, kOutsideLater},
      .body = [](FunctionContext& c, const BoxParameters& p) -> Outputs {
        const auto [offset, target] = box_of(c, p);
        return padded_to_box(c, p.image, offset, target);
      },
  });
  functions.define({
      .names = "image.resize_with_crop_or_pad",
      .summary = "Cuts off the border of images, or puts zeros around them, evenly on all sides.",
      .returns = "The images, [..., target_height, target_width, channels].",
      .raises = {kNoImage, {"ValueError", "A size is not above 0."}, kOutsideLater},
      .body = crop_or_pad,
  });
}

}  // namespace

void define_image_placement(FunctionRegistry& functions) {
  define_turns(functions);
  define_boxes(functions);
}

}  // namespace graven::engine
