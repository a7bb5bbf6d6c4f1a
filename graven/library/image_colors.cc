#include <cmath>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/conversions.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/images.h"
#include "graven/library/reductions.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/shape_ops.h"

// Functions of the colors of pixels and of their dtypes. Integers from 0 to the largest one stand
// for floats from 0 to 1.

namespace graven::engine {
namespace {

Tensor integers_as(FunctionContext& c, const Tensor& x, DType dtype, bool saturate,
                   std::string_view name) {
  const auto converted = [&](const Tensor& value) {
    return saturate ? saturated(c, value, dtype) : c.cast(value, dtype).tensor();
  };
  const long double own = largest_of(x.dtype()) + 1, wanted = largest_of(dtype) + 1;
  if (own > wanted) {
    return converted(call(kFloorDiv, c(x), constant_like(c(x), static_cast<double>(own / wanted))));
  }
  const Formula wide = c(converted(x));
  const Formula scale = constant_like(wide, static_cast<double>(wanted / own));
  return c(kMul, {wide, scale}, {}, name);
}

// The image in the dtype of the computation: half stays, others become float32.
Tensor adjustable(FunctionContext& c, const Tensor& x) {
  const bool is_kept = x && (x.dtype() == DType::kHalf || x.dtype() == DType::kFloat32);
  return is_kept ? x : converted_image(c, x, DType::kFloat32);
}

}  // namespace

Tensor converted_image(FunctionContext& c, const Tensor& x, DType dtype, bool saturate,
                       std::string_view name) {
  if (!x) return {};
  const auto is_number = [](DType type) { return is_floating(type) || is_integer(type); };
  for (DType each : {dtype, x.dtype()}) {
    if (is_number(each)) continue;
    return c.fail(Status(Code::kInvalidArgument, "dtype must be either floating point or integer",
                         ErrorKind::kAttributeError));
  }
  if (x.dtype() == dtype) return c(kIdentity, {x}, {}, name);
  if (is_integer(x.dtype()) && is_integer(dtype)) return integers_as(c, x, dtype, saturate, name);
  if (is_floating(x.dtype()) && is_floating(dtype)) return c(kCast, {x}, {.DstT = dtype}, name);
  if (is_floating(dtype)) {
    const Formula wide = c.cast(x, dtype);
    const double scale = static_cast<double>(1 / largest_of(x.dtype()));
    return c(kMul, {wide, constant_like(wide, scale)}, {}, name);
  }
  const Tensor scaled = c(x) * constant_like(c(x), static_cast<double>(largest_of(dtype)) + 0.5);
  return saturate ? saturated(c, scaled, dtype) : c.cast(scaled, dtype).tensor();
}

Tensor with_brightness(FunctionContext& c, const Tensor& x, const Tensor& delta) {
  const Formula own = c(adjustable(c, x));
  if (!own.tensor()) return {};
  return converted_image(c, own + c.cast(delta, own.dtype()), x.dtype(), /*saturate=*/true);
}

Tensor with_contrast(FunctionContext& c, const Tensor& x, const Tensor& factor) {
  const Tensor adjusted = c(kAdjustContrastv2, {adjustable(c, x), factor});
  return converted_image(c, adjusted, x.dtype(), /*saturate=*/true);
}

Tensor with_hue(FunctionContext& c, const Tensor& x, const Tensor& delta, std::string_view name) {
  return converted_image(c, c(kAdjustHue, {adjustable(c, x), delta}), x.dtype(), false, name);
}

Tensor with_saturation(FunctionContext& c, const Tensor& x, const Tensor& factor,
                       std::string_view name) {
  const Tensor adjusted = c(kAdjustSaturation, {adjustable(c, x), factor});
  return converted_image(c, adjusted, x.dtype(), false, name);
}

namespace {

struct ConversionParameters {
  Tensor image;
  DType dtype = DType::kInvalid;
  bool saturate = false;
  static constexpr auto fields() {
    using P = ConversionParameters;
    return std::tuple(
        required_field("image", &P::image, "any", "Numbers, of any shape."),
        required_field("dtype", &P::dtype, "A floating dtype or one of integers."),
        field("saturate", &P::saturate,
              "Whether what the dtype cannot hold becomes its largest or smallest number."));
  }
};

struct BrightnessParameters {
  Tensor image, delta;
  static constexpr auto fields() {
    using P = BrightnessParameters;
    return std::tuple(required_field("image", &P::image, "any", "Numbers, of any shape."),
                      required_field("delta", &P::delta, "any",
                                     "What is added to the image, as a float between 0 and 1."));
  }
};

struct ContrastParameters {
  Tensor images, contrast_factor;
  static constexpr auto fields() {
    using P = ContrastParameters;
    return std::tuple(
        required_field("images", &P::images, "any", "[..., height, width, channels]."),
        required_field("contrast_factor", &P::contrast_factor, "float32",
                       "How far each pixel goes from the mean of its channel."));
  }
};

struct HueParameters {
  Tensor image, delta;
  static constexpr auto fields() {
    using P = HueParameters;
    return std::tuple(required_field("image", &P::image, "any", "[..., height, width, 3]."),
                      required_field("delta", &P::delta, "float32",
                                     "How far around the circle of hues, in [-1, 1]."));
  }
};

struct SaturationParameters {
  Tensor image, saturation_factor;
  static constexpr auto fields() {
    using P = SaturationParameters;
    return std::tuple(required_field("image", &P::image, "any", "[..., height, width, 3]."),
                      required_field("saturation_factor", &P::saturation_factor, "float32",
                                     "What the saturation is multiplied by."));
  }
};

Outputs adjust_hue(FunctionContext& c, const HueParameters& p) {
  if (!c.is_graph() && p.delta.rank() == 0) {
    const float delta = p.delta.item<float>();
    if (delta < -1 || delta > 1) {
      return c.fail(value_error("delta must be in the interval [-1, 1]"));
    }
  }
  return with_hue(c, p.image, p.delta, c.name());
}

struct GammaParameters {
  Tensor image;
  Number gamma = {.number = 1}, gain = {.number = 1};
  static constexpr auto fields() {
    using P = GammaParameters;
    return std::tuple(required_field("image", &P::image, "any", "Numbers, of any shape."),
                      field("gamma", &P::gamma, "The exponent, not below 0."),
                      field("gain", &P::gain, "The factor."));
  }
};

Outputs adjust_gamma(FunctionContext& c, const GammaParameters& p) {
  const char* message = "Gamma should be a non-negative real number.";
  const Formula x = c(adjustable(c, p.image));
  if (!x.tensor()) return x;
  if (p.gamma.number && !(*p.gamma.number >= 0)) return c.fail(value_error(message));
  const Tensor gamma = c.tensor_of(p.gamma, x.dtype()), gain = c.tensor_of(p.gain, x.dtype());
  if (!p.gamma.number) {
    const Tensor holds = c(kGreaterEqual, {gamma, constant_like(c(gamma), 0)});
    const Tensor data[] = {text_constant(c, message)};
    assert_later(c, holds, data, {});
  }
  const Tensor adjusted = c(gain) * c(c(kPow, {x, gamma}));
  return converted_image(c, adjusted, p.image.dtype(), /*saturate=*/true);
}

struct ImagesParameters {
  Tensor images;
  static constexpr auto fields() {
    return std::tuple(required_field("images", &ImagesParameters::images, "any",
                                     "Pixels, of any shape that ends in their channels."));
  }
};

// The pixels times a matrix of three rows.
Tensor pixels_times(FunctionContext& c, const Tensor& x, std::span<const double> matrix,
                    std::string_view name = {}) {
  const auto columns = static_cast<int64_t>(matrix.size() / 3);
  auto made = Tensor::allocate(x.dtype(), {3, columns});
  if (!made.ok()) return c.fail(made.status());
  visit_plain(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(made->mutable_raw_data());
    for (const double number : matrix) {
      if constexpr (std::is_arithmetic_v<T>) {
        *to++ = static_cast<T>(number);
      } else {
        *to++ = T(static_cast<float>(number));
      }
    }
  });
  const auto rank = c.rank_if_known(x);
  if (rank == 0) return c.fail(value_error("pixels have at least one axis, that of channels"));
  const Tensor matrix_tensor = c.constant(*made);
  if (!rank) {
    const int64_t first[] = {0}, last[] = {-1}, width[] = {columns};
    const Tensor sizes = c(kShape, {x});
    const Size flat[] = {-1, Size(element_of(c, sizes, -1))};
    const Tensor others = elements_between(c, sizes, c.vector(first), c.vector(last));
    const Tensor product = c(kMatMul, {c(kReshape, {x, vector_of(c, flat)}), matrix_tensor});
    return c(kReshape, {product, joined(c, others, c.vector(width))}, {}, name);
  }
  SizeList sizes = c.sizes(x);
  const Size flat[] = {-1, sizes.back()};
  const Tensor product = c(kMatMul, {c(kReshape, {x, vector_of(c, flat)}), matrix_tensor});
  sizes.back() = columns;
  return c(kReshape, {product, vector_of(c, sizes)}, {}, name);
}

Outputs to_grayscale(FunctionContext& c, const ImagesParameters& p) {
  const double weights[] = {0.2989, 0.587, 0.114};
  const Tensor x = converted_image(c, p.images, DType::kFloat32);
  if (!x) return x;
  return converted_image(c, pixels_times(c, x, weights), p.images.dtype(), false, c.name());
}

Outputs to_colors(FunctionContext& c, const ImagesParameters& p) {
  const auto rank = c.rank_if_known(p.images);
  if (rank && *rank < 2) {
    return c.fail(value_error("A grayscale image (shape ", p.images.shape().to_text(),
                              ") must be at least two-dimensional."));
  }
  if (!rank) {
    const Tensor data[] = {text_constant(c, "A grayscale image must be at least two-dimensional.")};
    assert_later(c, c(kGreaterEqual, {c(kRank, {p.images}), c.scalar(2)}), data, {});
  }
  const char* message = "Last dimension of a grayscale image should be size 1.";
  const auto channels = c.size_if_known(p.images, -1);
  if (channels && *channels != 1) return c.fail(value_error(message));
  if (!channels) {
    const Size last(element_of(c, c(kShape, {p.images}), -1));
    const Tensor data[] = {text_constant(c, message)};
    assert_later(c, c(kEqual, {last.tensor(c), c.scalar(1)}), data, {});
  }
  const int64_t three[] = {3};
  if (!rank) {
    const Tensor others = c(kExpandDims, {c(c(kRank, {p.images})) - 1.0, c.scalar(0)});
    const Tensor ones = c(kFill, {others, c.scalar(1)});
    return c(kTile, {p.images, joined(c, ones, c.vector(three))}, {}, c.name());
  }
  std::vector<int64_t> multiples(static_cast<size_t>(*rank), 1);
  multiples.back() = 3;
  return c(kTile, {p.images, c.vector(multiples)}, {}, c.name());
}

void define_change_of_basis(FunctionRegistry& functions, const char* name, const char* summary,
                            std::array<double, 9> matrix) {
  functions.define({
      .names = str_cat("image.", name),
      .types = {{"T", kFloatTypes}},
      .summary = summary,
      .returns = "Pixels of the images' dtype and shape.",
      .raises = {{"TypeError", "The dtype is not floating."},
                 {"InvalidArgumentError", "There are not three channels."}},
      .body = [matrix](FunctionContext& c, const ImagesParameters& p) -> Outputs {
        if (!is_floating(p.images.dtype())) {
          return c.fail(type_error("Colors are floats, not ", dtype_name(p.images.dtype())));
        }
        return pixels_times(c, p.images, matrix);
      },
  });
}

void define_dtypes_and_channels(FunctionRegistry& functions) {
  functions.define({
      .names = "image.convert_image_dtype",
      .scope = "convert_image",
      .summary = "Converts images to another dtype, scaled: the largest integer stands for 1.0.",
      .returns = "The image in the dtype.",
      .raises = {{"AttributeError", "A dtype is neither floating nor one of integers."}},
      .body = [](FunctionContext& c, const ConversionParameters& p) -> Outputs {
        return converted_image(c, p.image, p.dtype, p.saturate, c.name());
      },
  });
  functions.define({
      .names = "image.rgb_to_grayscale",
      .scope = "rgb_to_grayscale",
      .summary = "The brightness of pixels of red, green and blue.",
      .returns = "Pixels of one channel, in the dtype of the images.",
      .raises = {{"InvalidArgumentError", "There are not three channels."}},
      .body = to_grayscale,
  });
  functions.define({
      .names = "image.grayscale_to_rgb",
      .scope = "grayscale_to_rgb",
      .summary = "Repeats the one channel of pixels as red, green and blue.",
      .returns = "Pixels of three channels.",
      .raises = {{"ValueError", "There is not one channel, or no pixel."}},
      .body = to_colors,
  });
  define_change_of_basis(
      functions, "rgb_to_yiq",
      "Colors of red, green and blue as brightness and the chroma of NTSC.",
      {0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617, 0.114, -0.32134392, 0.31119955});
  define_change_of_basis(
      functions, "yiq_to_rgb",
      "Colors of brightness and the chroma of NTSC as red, green and blue.",
      {1, 1, 1, 0.95598634, -0.27201283, -1.10674021, 0.6208248, -0.64720424, 1.70423049});
  define_change_of_basis(functions, "rgb_to_yuv",
                         "Colors of red, green and blue as brightness and the chroma of PAL.",
                         {0.299, -0.14714119, 0.61497538, 0.587, -0.28886916, -0.51496512, 0.114,
                          0.43601035, -0.10001026});
  define_change_of_basis(functions, "yuv_to_rgb",
                         "Colors of brightness and the chroma of PAL as red, green and blue.",
                         {1, 1, 1, 0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0});
}

void define_adjustments(FunctionRegistry& functions) {
  const std::string details =
      "Images of other dtypes than float16 and float32 are adjusted as "
      "float32, and converted by convert_image_dtype.";
  functions.define({
      .names = "image.adjust_brightness",
      .summary = "Adds a number to images.",
      .details = details,
      .returns = "The images in their dtype, cut off where it ends.",
      .body = [](FunctionContext& c, const BrightnessParameters& p) -> Outputs {
        return with_brightness(c, p.image, p.delta);
      },
  });
  functions.define({
      .names = "image.adjust_contrast",
      .summary = "Moves pixels away from the mean of their channel.",
      .details = details,
      .returns = "The images in their dtype, cut off where it ends.",
      .source = "OpDef \"AdjustContrastv2\"",
      .body = [](FunctionContext& c, const ContrastParameters& p) -> Outputs {
        return with_contrast(c, p.images, p.contrast_factor);
      },
  });
  functions.define({
      .names = "image.adjust_gamma",
      .summary = "gain * image ** gamma.",
      .details = details,
      .returns = "The images in their dtype, cut off where it ends.",
      .raises = {{"ValueError", "gamma is below 0; of a tensor an InvalidArgumentError."}},
      .body = adjust_gamma,
  });
  functions.define({
      .names = "image.adjust_hue",
      .scope = "adjust_hue",
      .summary = "Moves the colors of images around the circle of hues.",
      .details = details,
      .returns = "The images in their dtype.",
      .raises = {{"ValueError", "delta is not in [-1, 1]; not checked while tracing."}},
      .source = "OpDef \"AdjustHue\"",
      .body = adjust_hue,
  });
  functions.define({
      .names = "image.adjust_saturation",
      .scope = "adjust_saturation",
      .summary = "Multiplies the saturation of the colors of images.",
      .details = details,
      .returns = "The images in their dtype.",
      .source = "OpDef \"AdjustSaturation\"",
      .body = [](FunctionContext& c, const SaturationParameters& p) -> Outputs {
        return with_saturation(c, p.image, p.saturation_factor, c.name());
      },
  });
}

}  // namespace

void define_image_colors(FunctionRegistry& functions) {
  define_dtypes_and_channels(functions);
  define_adjustments(functions);
}

}  // namespace graven::engine
