#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/images.h"
#include "graven/library/reductions.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

// Measures of images: their edges, and the similarity of two.

namespace graven::engine {
namespace {

Axes axes_of(std::initializer_list<int64_t> axes) {
  return {{.numbers = InlineVector<int64_t, 6>(axes.begin(), axes.end())}};
}

// The difference of each pixel to the one before it, along an axis counted from the end.
Formula steps_along(FunctionContext& c, const Tensor& x, int64_t axis) {
  const auto rank = static_cast<size_t>(*c.rank_if_known(x));
  const size_t at = rank - static_cast<size_t>(-axis);
  std::vector<int64_t> begin(rank, 0), end(rank, 0), ones(rank, 1);
  const int64_t all = (int64_t{1} << rank) - 1, own = int64_t{1} << at;
  begin[at] = 1;
  end[at] = -1;
  const Tensor strides = c.vector(ones), none = c.vector(std::vector<int64_t>(rank, 0));
  const Formula later = c(c(kStridedSlice, {x, c.vector(begin), none, strides},
                            {.begin_mask = all & ~own, .end_mask = all}));
  const Formula earlier = c(c(kStridedSlice, {x, none, c.vector(end), strides},
                              {.begin_mask = all, .end_mask = all & ~own}));
  return later - earlier;
}

struct VariationParameters {
  Tensor images;
  static constexpr auto fields() {
    return std::tuple(required_field("images", &VariationParameters::images, "any", kImageDoc));
  }
};

Outputs total_variation(FunctionContext& c, const VariationParameters& p) {
  const auto rank = c.rank_if_known(p.images);
  if (rank != 3 && rank != 4) {
    return c.fail(value_error("'images' must be either 3 or 4-dimensional."));
  }
  const auto sum = [&](int64_t axis) {
    return reduce(c, kSum, call(kAbs, steps_along(c, p.images, axis)), axes_of({-3, -2, -1}));
  };
  return sum(-3) + sum(-2);
}

struct BatchParameters {
  Tensor image;
  static constexpr auto fields() {
    return std::tuple(required_field("image", &BatchParameters::image, "any",
                                     "[batch, height, width, channels]."));
  }
};

Outputs image_gradients(FunctionContext& c, const BatchParameters& p) {
  if (c.rank_if_known(p.image) != 4) {
    return c.fail(value_error("image_gradients expects a 4D tensor [batch_size, h, w, d], not ",
                              p.image.shape().to_text(), "."));
  }
  const auto padded = [&](int64_t axis) {
    int64_t paddings[8] = {};
    paddings[2 * axis + 1] = 1;
    const int64_t pairs[] = {4, 2};
    const Tensor table = c(kReshape, {c.vector(paddings), c.vector(pairs)});
    return c(kPad, {steps_along(c, p.image, axis - 4), table});
  };
  return {padded(1), padded(2)};
}

// A filter of this shape, the same for each channel of x.
Tensor filter_of(FunctionContext& c, const Tensor& x, std::span<const float> values,
                 const Shape& shape) {
  const Tensor filter = c.cast(c.constant(Tensor::vector(values).with_shape(shape)), x.dtype());
  const auto channels = c.size_if_known(x, -1);
  const Size count = channels ? Size(*channels) : Size(element_of(c, c(kShape, {x}), -1));
  const Size multiples[] = {1, 1, count, 1};
  return c(kTile, {filter, vector_of(c, multiples)});
}

Tensor filtered(FunctionContext& c, const Tensor& x, const Tensor& filter) {
  return c(kDepthwiseConv2dNative, {x, filter}, {.strides = {1, 1, 1, 1}, .padding = "VALID"});
}

Outputs sobel_edges(FunctionContext& c, const BatchParameters& p) {
  const float values[] = {-1, -1, -2, 0, -1, 1, 0, -2, 0, 0, 0, 2, 1, -1, 2, 0, 1, 1};
  const int64_t border[] = {0, 0, 1, 1, 1, 1, 0, 0}, pairs[] = {4, 2}, two[] = {2};
  const Tensor paddings = c(kReshape, {c.vector(border), c.vector(pairs)});
  const Tensor padded = c(kMirrorPad, {p.image, paddings}, {.mode = "REFLECT"});
  if (!padded) return padded;
  const Tensor edges = filtered(c, padded, filter_of(c, p.image, values, {3, 3, 1, 2}));
  if (!c.rank_if_known(p.image)) {
    return c(kReshape, {edges, joined(c, c(kShape, {p.image}), c.vector(two))});
  }
  SizeList sizes = c.sizes(p.image);
  sizes.push_back(2);
  return c(kReshape, {edges, vector_of(c, sizes)});
}

struct StandardizationParameters {
  Tensor image;
  static constexpr auto fields() {
    return std::tuple(required_field("image", &StandardizationParameters::image, "any",
                                     "[..., height, width, channels]."));
  }
};

Outputs standardized(FunctionContext& c, const StandardizationParameters& p) {
  if (!check_image(c, p.image)) return Tensor();
  const Formula x = c.cast(p.image, DType::kFloat32);
  const Axes axes = axes_of({-1, -2, -3});
  const Formula distance = x - reduce(c, kMean, x, axes, true);
  const Formula variance = reduce(c, kMean, call(kSquare, distance), axes, true);
  Size count(1);
  for (int64_t i = -3; i < 0; ++i) {
    const auto size = c.size_if_known(p.image, i);
    count = multiply(c, count, size ? Size(*size) : Size(element_of(c, c(kShape, {p.image}), i)));
  }
  const Tensor number = count.is_number()
                            ? c.scalar(static_cast<double>(count.number()), DType::kFloat32)
                            : c.cast(count.tensor(c), DType::kFloat32).tensor();
  const Formula least = call(kRsqrt, c(number));
  return distance / call(kMaximum, call(kSqrt, variance), least);
}

// --- Two images.

// Fails unless the last three sizes are equal, and those before them broadcast.
bool check_alike(FunctionContext& c, const Tensor& a, const Tensor& b) {
  if (!a || !b) return false;
  bool is_known = true;
  for (const Tensor& x : {a, b}) {
    const auto rank = c.rank_if_known(x);
    if (!rank) is_known = false;
    if (rank.value_or(3) >= 3) continue;
    c.fail(value_error("Shape ", x.shape().to_text(), " must have rank at least 3"));
    return false;
  }
  for (int64_t i = -1; i >= -static_cast<int64_t>(kMaxRank); --i) {
    const auto size_a = c.size_if_known(a, i), size_b = c.size_if_known(b, i);
    if (i >= -3 && (!size_a || !size_b)) is_known = false;
    const bool broadcasts = i < -3 && (size_a == 1 || size_b == 1);
    if (!size_a || !size_b || *size_a == *size_b || broadcasts) continue;
    c.fail(value_error("Two images are not compatible: Shapes ", a.shape().to_text(), " and ",
                       b.shape().to_text(), " are incompatible"));
    return false;
  }
  if (is_known) return true;
  const int64_t inner[] = {-3};
  const Tensor shapes[] = {c(kShape, {a}), c(kShape, {b})};
  const auto tail = [&](const Tensor& shape) {
    return elements_between(c, shape, c.vector(inner));
  };
  assert_later(c, reduce(c, kAll, c(kEqual, {tail(shapes[0]), tail(shapes[1])})), shapes, 10);
  return c.status().ok();
}

// The largest difference between pixels, as that of the images in float32.
Tensor scaled_maximum(FunctionContext& c, const Number& max_val, DType dtype) {
  const Tensor given = c.tensor_of(max_val, DType::kFloat64);
  return converted_image(c, c.cast(given, dtype), DType::kFloat32);
}

constexpr std::string_view kMaximumDoc =
    "The distance between the largest and the smallest number "
    "that a pixel can be.";
constexpr std::string_view kFirstDoc = "Images, [..., height, width, channels].";
constexpr std::string_view kSecondDoc = "Images of the same dtype and size.";
constexpr Raised kDiffer = {"ValueError", "The sizes of the images differ."};

struct RatioParameters {
  Tensor a, b;
  Number max_val;
  static constexpr auto fields() {
    using P = RatioParameters;
    return std::tuple(required_field("a", &P::a, "any", kFirstDoc),
                      required_field("b", &P::b, "any", kSecondDoc),
                      required_field("max_val", &P::max_val, kMaximumDoc));
  }
};

Outputs signal_to_noise(FunctionContext& c, const RatioParameters& p) {
  const Formula peak = c(scaled_maximum(c, p.max_val, p.a.dtype()));
  const Tensor a = converted_image(c, p.a, DType::kFloat32);
  const Tensor b = converted_image(c, p.b, DType::kFloat32);
  const Formula error = reduce(c, kMean, c(kSquaredDifference, {a, b}), axes_of({-3, -2, -1}));
  // Afterwards, as in TensorFlow: images that no difference can be taken of fail there.
  if (!c.status().ok() || !check_alike(c, p.a, p.b)) return Tensor();
  const double decibels = 10 / std::log(10.0);
  return (2 * decibels) * call(kLog, peak) - decibels * call(kLog, error);
}

struct SimilarityConstants {
  int64_t filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
};

constexpr std::string_view kFilterSizeDoc = "The side of the windows, which a Gaussian weights.";
constexpr std::string_view kFilterSigmaDoc = "The width of the Gaussian.";
constexpr std::string_view kK1Doc = "A small number, which keeps quotients of means finite.";
constexpr std::string_view kK2Doc = "A small number, which keeps quotients of variances finite.";

struct SimilarityParameters : SimilarityConstants {
  Tensor img1, img2;
  Number max_val;
  bool return_index_map = false;
  static constexpr auto fields() {
    using P = SimilarityParameters;
    return std::tuple(required_field("img1", &P::img1, "any", kFirstDoc),
                      required_field("img2", &P::img2, "any", kSecondDoc),
                      required_field("max_val", &P::max_val, kMaximumDoc),
                      field("filter_size", &P::filter_size, kFilterSizeDoc),
                      field("filter_sigma", &P::filter_sigma, kFilterSigmaDoc),
                      field("k1", &P::k1, kK1Doc), field("k2", &P::k2, kK2Doc),
                      field("return_index_map", &P::return_index_map,
                            "Whether to give the index of each window, not their mean."));
  }
};

struct MultiscaleParameters : SimilarityConstants {
  Tensor img1, img2, power_factors;
  Number max_val;
  static constexpr auto fields() {
    using P = MultiscaleParameters;
    return std::tuple(required_field("img1", &P::img1, "any", kFirstDoc),
                      required_field("img2", &P::img2, "any", kSecondDoc),
                      required_field("max_val", &P::max_val, kMaximumDoc),
                      field("power_factors", &P::power_factors, "float32",
                            "The weight of each scale, of which each is half as large as the one "
                            "before; None means those of the paper."),
                      field("filter_size", &P::filter_size, kFilterSizeDoc),
                      field("filter_sigma", &P::filter_sigma, kFilterSigmaDoc),
                      field("k1", &P::k1, kK1Doc), field("k2", &P::k2, kK2Doc));
  }
};

// f on x with its leading axes merged into one.
template <typename F>
Tensor on_batch(FunctionContext& c, const Tensor& x, F f) {
  if (c.rank_if_known(x) == 4) return f(x);
  const int64_t all[] = {-1}, first[] = {0}, second[] = {1}, inner[] = {-3};
  const Tensor shape = c(kShape, {x});
  const Tensor tail = elements_between(c, shape, c.vector(inner));
  const Tensor y = f(c(kReshape, {x, joined(c, c.vector(all), tail)}));
  const Tensor heads = elements_between(c, shape, c.vector(first), c.vector(inner));
  const Tensor sizes = elements_between(c, c(kShape, {y}), c.vector(second));
  return c(kReshape, {y, joined(c, heads, sizes)});
}

struct Similarity {
  Tensor whole, contrast;
};

// The structural similarity of each window and channel, and its factor without the means. The
// weights of a window are the product of those of its rows and columns.
Similarity similarity(FunctionContext& c, const Formula& x, const Formula& y, const Formula& peak,
                      const SimilarityConstants& p) {
  const auto size = static_cast<size_t>(p.filter_size);
  std::vector<float> weights;
  double sum = 0;
  const auto gauss = [&](size_t i) {
    const double at = static_cast<double>(i) - static_cast<double>(size - 1) / 2;
    return std::exp(-0.5 * at * at / (p.filter_sigma * p.filter_sigma));
  };
  for (size_t i = 0; i < size; ++i) sum += gauss(i);
  for (size_t i = 0; i < size; ++i) weights.push_back(static_cast<float>(gauss(i) / sum));
  const Tensor column = filter_of(c, x, weights, {p.filter_size, 1, 1, 1});
  const Tensor row = filter_of(c, x, weights, {1, p.filter_size, 1, 1});
  const auto mean = [&](const Formula& z) {
    return c(on_batch(
        c, z, [&](const Tensor& images) { return filtered(c, filtered(c, images, column), row); }));
  };
  const Formula c1 = call(kSquare, p.k1 * peak), c2 = call(kSquare, p.k2 * peak);
  const Formula mean_x = mean(x), mean_y = mean(y), means = mean_x * mean_y * constant_like(x, 2);
  const Formula squares = call(kSquare, mean_x) + call(kSquare, mean_y);
  const Formula products = 2.0 * mean(x * y), both = mean(call(kSquare, x) + call(kSquare, y));
  const Formula contrast = (products - means + c2) / (both - squares + c2);
  return {(means + c1) / (squares + c1) * contrast, contrast};
}

// Fails where a window is larger than the images.
bool check_filter(FunctionContext& c, const Tensor& x, const SimilarityConstants& p) {
  if (p.filter_size < 1 || p.filter_size > std::numeric_limits<int32_t>::max()) {
    c.fail(invalid_argument("filter_size must be above 0, got ", p.filter_size));
    return false;
  }
  const auto fits = [&](int64_t axis) {
    return c.size_if_known(x, axis).value_or(-1) >= p.filter_size;
  };
  if (fits(-3) && fits(-2)) return true;
  const int64_t inner[] = {-3}, channels[] = {-1};
  const Tensor data[] = {c(kShape, {x}), c.scalar(p.filter_size)};
  const Tensor sizes = elements_between(c, data[0], c.vector(inner), c.vector(channels));
  assert_later(c, reduce(c, kAll, c(kGreaterEqual, {sizes, data[1]})), data, 8);
  return c.status().ok();
}

Outputs ssim(FunctionContext& c, const SimilarityParameters& p) {
  if (!check_alike(c, p.img1, p.img2) || !check_filter(c, p.img1, p)) return Tensor();
  const Formula x = c(converted_image(c, p.img1, DType::kFloat32));
  const Formula y = c(converted_image(c, p.img2, DType::kFloat32));
  const Formula peak = c(scaled_maximum(c, p.max_val, p.img1.dtype()));
  Tensor index = similarity(c, x, y, peak, p).whole;
  if (!p.return_index_map) index = reduce(c, kMean, index, axes_of({-3, -2}));
  return reduce(c, kMean, index, axes_of({-1}));
}

// The images in half size: the mean of each square of four pixels. At an odd edge the last pixels
// count twice.
Tensor halved(FunctionContext& c, const Tensor& x) {
  return on_batch(c, x, [&](const Tensor& images) {
    const auto odd = [&](int64_t axis) -> Size {
      if (const auto size = c.size_if_known(images, axis)) return *size % 2;
      return Size(c(kFloorMod, {element_of(c, c(kShape, {images}), axis), c.scalar(2)}));
    };
    const Size paddings[] = {0, 0, 0, odd(-3), 0, odd(-2), 0, 0};
    const int64_t pairs[] = {4, 2};
    const Tensor table = c(kReshape, {vector_of(c, paddings), c.vector(pairs)});
    const Tensor even = c(kMirrorPad, {images, table}, {.mode = "SYMMETRIC"});
    return c(kAvgPool, {even},
             {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "VALID"});
  });
}

Outputs ssim_multiscale(FunctionContext& c, const MultiscaleParameters& p) {
  const float of_paper[] = {0.0448F, 0.2856F, 0.3001F, 0.2363F, 0.1333F};
  const Tensor powers = p.power_factors
                            ? p.power_factors
                            : c.constant(Tensor::vector(std::span<const float>(of_paper)));
  const auto scales = c.static_size(powers, 0);
  if (!scales || *scales < 1) return c.fail(type_error("power_factors must be a list of numbers"));
  if (!check_alike(c, p.img1, p.img2)) return Tensor();
  Tensor x = converted_image(c, p.img1, DType::kFloat32);
  Tensor y = converted_image(c, p.img2, DType::kFloat32);
  const Formula peak = c(scaled_maximum(c, p.max_val, p.img1.dtype()));
  std::vector<Tensor> factors;
  for (int64_t scale = 0; scale < *scales; ++scale) {
    if (scale > 0) {
      x = halved(c, x);
      y = halved(c, y);
    }
    if (!x || !check_filter(c, x, p)) return Tensor();
    const Similarity each = similarity(c, c(x), c(y), peak, p);
    const Tensor& used = scale + 1 < *scales ? each.contrast : each.whole;
    factors.push_back(c(kRelu, {reduce(c, kMean, used, axes_of({-3, -2}))}));
  }
  const Tensors stacked = c.apply(*kPack, factors, PackAttrs{.axis = -1});
  if (stacked.empty()) return Tensor();
  const Tensor product = reduce(c, kProd, c(kPow, {stacked[0], powers}), axes_of({-1}));
  return reduce(c, kMean, product, axes_of({-1}));
}

void define_edges(FunctionRegistry& functions) {
  functions.define({
      .names = "image.total_variation",
      .scope = "total_variation",
      .types = {{"T", kRealTypes}},
      .summary = "The sum of what neighbouring pixels differ by.",
      .returns = "A number for each image.",
      .raises = {{"ValueError", "The images have not 3 or 4 axes."}},
      .body = total_variation,
  });
  functions.define({
      .names = "image.image_gradients",
      .results = tuple({"dy", "dx"}),
      .summary = "How much each pixel differs from the next one below and to the right.",
      .returns = "Both of the shape of the images; 0 at the last row, and at the last column.",
      .raises = {{"ValueError", "The image has not 4 axes."}},
      .body = image_gradients,
  });
  functions.define({
      .names = "image.sobel_edges",
      .types = {{"T", kFloatTypes}},
      .summary = "The edges that Sobel's filters find.",
      .returns = "[batch, height, width, channels, 2]: those along y and along x.",
      .body = sobel_edges,
  });
  functions.define({
      .names = "image.per_image_standardization",
      .summary = "Scales each image to a mean of 0 and a deviation of 1.",
      .details = "An even image is divided by the root of 1 over its number of elements.",
      .returns = "The images in float32.",
      .raises = {{"ValueError", "The image has not 3 axes, or is empty."}},
      .body = standardized,
  });
}

}  // namespace

void define_image_measures(FunctionRegistry& functions) {
  define_edges(functions);
  functions.define({
      .names = "image.psnr",
      .scope = "PSNR",
      .summary = "The ratio of the largest signal to what two images differ by, in decibels.",
      .returns = "A float32 number for each pair of images; infinity if they are equal.",
      .raises = {kDiffer},
      .body = signal_to_noise,
  });
  constexpr Raised kSmall = {"InvalidArgumentError", "The images are smaller than a window."};
  functions.define({
      .names = "image.ssim",
      .summary = "The index of structural similarity of two images.",
      .returns = "A float32 number for each pair of images, 1 if they are equal.",
      .raises = {kDiffer, kSmall},
      .source = "Wang et al., Image quality assessment: from error visibility to structural "
                "similarity, 2004",
      .body = ssim,
  });
  functions.define({
      .names = "image.ssim_multiscale",
      .summary = "The index of structural similarity of two images over several scales.",
      .returns = "A float32 number for each pair of images, 1 if they are equal.",
      .raises = {kDiffer, kSmall},
      .source = "Wang et al., Multiscale structural similarity for image quality assessment, 2003",
      .body = ssim_multiscale,
  });
}

}  // namespace graven::engine
