#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "graven/ir/emitter.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"

// Colors as hue, saturation and value, each in [0, 1]. The value is the largest of red, green and
// blue; the saturation its distance from the smallest, divided by it; the hue runs from red over
// green and blue to red again.

namespace graven::engine {
namespace {

// --- Shapes.

enum class Channels { kAny, kThree };

// Pixels of images of at least this rank; other inputs are scalars.
template <int min_rank, Channels needed>
Status color_shape(InferContext& c) {
  const Shape& images = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Shape& scalar = c.shape(i);
    if (scalar.has_rank() && scalar.rank() != 0) {
      return invalid_argument(c.op().inputs()[static_cast<size_t>(i)].name,
                              " must be scalar: ", scalar.to_message());
    }
  }
  if (images.has_rank() && images.rank() < min_rank) {
    return invalid_argument("input must be at least ", min_rank, "-D, got shape",
                            images.to_message());
  }
  Shape out = images;
  if (needed == Channels::kThree && out.has_rank()) {
    const Dim channels = out[out.rank() - 1];
    if (channels.is_number() && channels.number() != 3) {
      // As TensorFlow has it, of those that convert colours.
      const bool converts = min_rank == 1 && !c.is_graph();
      return Status(
          converts ? Code::kFailedPrecondition : Code::kInvalidArgument,
          str_cat("input must have 3 channels but instead has ", channels.number(), " channels."));
    }
    out.set(out.rank() - 1, 3);
  }
  c.set_shape(0, out);
  return {};
}

// --- Pixels.

template <typename C>
struct Pixel {
  C a, b, c;
};

constexpr int64_t kElementsPerChunk = 1 << 13;

// Calls f to make pixels of output 0 from pixels of input 0; half and bfloat16 are computed in
// float32. The channels of a block of pixels lie apart, so that f, which has no branches, is
// computed for several pixels at once.
template <typename F>
Status map_pixels(KernelContext& c, F f) {
  constexpr int64_t kBlock = 128;
  return visit_plain(c.input(0).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    if constexpr (!is_floating(kDTypeOf<T>)) {
      return internal_error("pixels are floating");
    } else {
      using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const T* source = c.in<T>(0).data();
      T* target = c.out<T>(0).data();
      const int64_t num_pixels = c.input(0).num_elements() / 3;
      for_ranges(num_pixels, kElementsPerChunk / 3, [&](int64_t begin, int64_t end) {
        C red[kBlock], green[kBlock], blue[kBlock];
        for (; begin < end; begin += kBlock) {
          const int64_t n = std::min(kBlock, end - begin);
          const T* from = source + 3 * begin;
          T* to = target + 3 * begin;
          for (int64_t i = 0; i < n; ++i) {
            red[i] = static_cast<C>(from[3 * i]);
            green[i] = static_cast<C>(from[3 * i + 1]);
            blue[i] = static_cast<C>(from[3 * i + 2]);
          }
          for (int64_t i = 0; i < n; ++i) {
            const Pixel<C> y = f(Pixel<C>{red[i], green[i], blue[i]});
            red[i] = y.a;
            green[i] = y.b;
            blue[i] = y.c;
          }
          for (int64_t i = 0; i < n; ++i) {
            to[3 * i] = static_cast<T>(red[i]);
            to[3 * i + 1] = static_cast<T>(green[i]);
            to[3 * i + 2] = static_cast<T>(blue[i]);
          }
        }
      });
      return {};
    }
  });
}

template <typename C>
[[gnu::always_inline]] inline C least(C x, C y) {
  return y < x ? y : x;
}
template <typename C>
[[gnu::always_inline]] inline C most(C x, C y) {
  return x < y ? y : x;
}
template <typename C>
[[gnu::always_inline]] inline C smallest(const Pixel<C>& x) {
  return least(least(x.a, x.b), x.c);
}
template <typename C>
[[gnu::always_inline]] inline C largest(const Pixel<C>& x) {
  return most(most(x.a, x.b), x.c);
}
template <typename C>
[[gnu::always_inline]] inline C clamped(C x) {
  return least(most(x, C(0)), C(1));
}

// The hue of a color in [0, 6), before it is divided by 6; 0 of a gray one.
template <typename C>
[[gnu::always_inline]] inline C sixfold_hue(const Pixel<C>& x, C value, C range) {
  const C per_range = 1 / (range > 0 ? range : C(1));
  const C of_red = (x.b - x.c) * per_range, of_green = (x.c - x.a) * per_range + 2;
  const C of_blue = (x.a - x.b) * per_range + 4;
  const C hue = x.a == value ? of_red : x.b == value ? of_green : of_blue;
  const C positive = hue < 0 ? hue + 6 : hue;
  return range > 0 ? positive : C(0);
}

// How much of red, green and blue, in [0, 1], a hue has.
template <typename C>
[[gnu::always_inline]] inline Pixel<C> parts_of_hue(C hue) {
  return {clamped(std::abs(hue - 3) - 1), clamped(2 - std::abs(hue - 2)),
          clamped(2 - std::abs(hue - 4))};
}

template <typename C>
[[gnu::always_inline]] inline Pixel<C> to_hsv(const Pixel<C>& x) {
  const C value = largest(x), range = value - smallest(x);
  const C saturation = range / (value > 0 ? value : C(1));
  return {sixfold_hue(x, value, range) / 6, value > 0 ? saturation : C(0), value};
}

template <typename C>
[[gnu::always_inline]] inline Pixel<C> to_rgb(const Pixel<C>& hsv) {
  const Pixel<C> part = parts_of_hue(hsv.a * 6);
  const C s = hsv.b, rest = 1 - s, v = hsv.c;
  return {(rest + s * part.a) * v, (rest + s * part.b) * v, (rest + s * part.c) * v};
}

Status rgb_to_hsv_kernel(KernelContext& c) {
  return map_pixels(
      c, [](const auto& x) __attribute__((always_inline)) { return to_hsv(x); });
}

Status hsv_to_rgb_kernel(KernelContext& c) {
  return map_pixels(
      c, [](const auto& x) __attribute__((always_inline)) { return to_rgb(x); });
}

// The value and the smallest channel stay; the others follow from the new hue.
Status adjust_hue_kernel(KernelContext& c) {
  const float turns = c.in<float>(1)[0], sixths = 6 * (turns - std::floor(turns));
  return map_pixels(
      c, [sixths](const auto& x) __attribute__((always_inline)) {
        using C = std::remove_cvref_t<decltype(x.a)>;
        const C low = smallest(x), value = largest(x), range = value - low;
        const C hue = sixfold_hue(x, value, range) + C(sixths);
        const Pixel<C> part = parts_of_hue(hue >= 6 ? hue - 6 : hue);
        return Pixel<C>{low + part.a * range, low + part.b * range, low + part.c * range};
      });
}

Status adjust_saturation_kernel(KernelContext& c) {
  const float scale = c.in<float>(1)[0];
  return map_pixels(
      c, [scale](const auto& x) __attribute__((always_inline)) {
        auto hsv = to_hsv(x);
        hsv.b = clamped(hsv.b * decltype(hsv.b)(scale));
        return to_rgb(hsv);
      });
}

// --- Contrast.

// Sums of the channels of n pixels, made in many lanes.
template <typename T>
void sum_channels(const T* pixels, int64_t n, int64_t channels, std::vector<float>& lanes,
                  double* sums) {
  std::ranges::fill(lanes, 0.0F);
  const auto size = static_cast<int64_t>(lanes.size()), elements = n * channels;
  int64_t done = 0;
  for (; done + size <= elements; done += size) {
    for (int64_t i = 0; i < size; ++i) lanes[i] += static_cast<float>(pixels[done + i]);
  }
  for (int64_t i = 0; done + i < elements; ++i) lanes[i] += static_cast<float>(pixels[done + i]);
  for (int64_t i = 0; i < size; ++i) sums[i % channels] += lanes[i];
}

template <typename T>
void adjust_contrast(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  const int64_t channels = shape.size(rank - 1);
  const int64_t pixels = shape.size(rank - 3) * shape.size(rank - 2), image = pixels * channels;
  const int64_t images = x.num_elements() / image;
  const float factor = c.in<float>(1)[0];
  const T* from = c.in<T>(0).data();
  T* to = c.out<T>(0).data();
  // The sums of blocks, whose number depends on the shape alone.
  const int64_t block = std::max<int64_t>(4 * kElementsPerChunk / channels, 1);
  const int64_t blocks = (pixels + block - 1) / block;
  std::vector<double> sums(static_cast<size_t>(images * blocks * channels));
  for_ranges(images * blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> lanes(static_cast<size_t>(channels * std::max<int64_t>(32 / channels, 1)));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * block;
      sum_channels(from + i / blocks * image + first * channels, std::min(block, pixels - first),
                   channels, lanes, sums.data() + i * channels);
    }
  });
  // (x - mean) * factor + mean, with the means repeated so that rows are long.
  const int64_t repeats = std::max<int64_t>(32 / channels, 1), row = repeats * channels;
  for_ranges(images * blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> means(static_cast<size_t>(row));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / blocks, first = i % blocks * block;
      for (int64_t j = 0; j < row; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < blocks; ++k) {
          sum += sums[(at * blocks + k) * channels + j % channels];
        }
        means[j] = static_cast<float>(sum / static_cast<double>(pixels));
      }
      const int64_t offset = at * image + first * channels;
      const int64_t n = std::min(block, pixels - first) * channels;
      for (int64_t done = 0; done < n; done += row) {
        const int64_t length = std::min(row, n - done);
        for (int64_t j = 0; j < length; ++j) {
          const auto element = static_cast<float>(from[offset + done + j]);
          to[offset + done + j] = static_cast<T>((element - means[j]) * factor + means[j]);
        }
      }
    }
  });
}

Status adjust_contrast_kernel(KernelContext& c) {
  if (c.input(0).num_elements() == 0) return {};
  c.input(0).dtype() == DType::kHalf ? adjust_contrast<Half>(c) : adjust_contrast<float>(c);
  return {};
}

// --- The gradient of RGBToHSV, as TensorFlow has it: of equal channels the first is the largest
// and the last the smallest one, and none flows through what is divided by 0, nor through the
// saturation to a channel that is not above 0.

// 1 for the channels at these places, else 0.
Formula mark_of(const Formula& x, const Tensor& places) {
  Emitter& c = x.emit();
  return {c, c(kOneHot, {places, constant(c, Tensor::scalar<int32_t>(3)), constant_like(x, 1),
                         constant_like(x, 0)})};
}

Formula is_above_zero(const Formula& x) {
  return {x.emit(), cast(x.emit(), call(kGreater, x, constant_like(x, 0)), x.dtype())};
}

void rgb_to_hsv_gradient(GradientContext& c) {
  Formula x(c, c.x(0));
  if (!x.tensor()) return;
  const int32_t channels[] = {-1}, forwards[] = {1}, backwards[] = {-1};
  const Tensor axis = int32_vector(c, channels), last = constant(c, Tensor::scalar<int32_t>(-1));
  const Tensor reversed = c(kReverseV2, {x, axis});
  const Formula first_least(c, c(kArgMin, {reversed, last}));
  const Formula big = mark_of(x, c(kArgMax, {x, last})), small = mark_of(x, 2.0 - first_least);
  const auto sum = [&](const Formula& y) {
    return Formula(c, c(kSum, {y, axis}, {.keep_dims = true}));
  };
  const Formula next(c, c(kRoll, {big, int32_vector(c, forwards), axis}));
  const Formula previous(c, c(kRoll, {big, int32_vector(c, backwards), axis}));
  const Formula high = sum(big * x), low = sum(small * x), one = constant_like(x, 1);
  const Formula per_range = call(kDivNoNan, one, high - low);
  const Formula per_high = call(kDivNoNan, one, high);
  const Tensors dy = c.apply(kSplit, {last, c.dy()}, {.num_split = 3});
  if (dy.size() < 3) return;
  const Formula hue(c, dy[0]), saturation(c, dy[1]), value(c, dy[2]);
  const Formula distance = sum((next - previous) * x) * per_range;
  const Formula of_hue = (1.0 / 6) * is_above_zero(high) * hue * per_range;
  c.set_dx(0, value * big +
                  saturation * is_above_zero(x) * per_high * (big * low * per_high - small) +
                  of_hue * (next - previous + (small - big) * distance));
}

void define_conversions_of_colors(OpRegistry& ops) {
  kRGBToHSV = ops.define<NoAttrs>({
      .name = "RGBToHSV",
      .python = "image.rgb_to_hsv",
      .summary = "Colors of red, green and blue as hue, saturation and value.",
      .details = "For channels in [0, 1] all three are in [0, 1]; a hue of 0 is red, 1/3 green and "
                 "2/3 blue. Gray has the hue 0, black also the saturation 0.",
      .inputs = {"images: T"},
      .outputs = {"output: T"},
      .types = {{"T", kFloatTypes}},
      .infer = color_shape<1, Channels::kThree>,
      .gradient = rgb_to_hsv_gradient,
      .batch = batch_leading_axes,
      .body = kernel(rgb_to_hsv_kernel),
  });
  kHSVToRGB = ops.define<NoAttrs>({
      .name = "HSVToRGB",
      .python = "image.hsv_to_rgb",
      .summary = "Colors of hue, saturation and value, all in [0, 1], as red, green and blue.",
      .details = "As in TensorFlow there is no gradient.",
      .inputs = {"images: T"},
      .outputs = {"output: T"},
      .types = {{"T", kFloatTypes}},
      .infer = color_shape<1, Channels::kThree>,
      .gradient = not_differentiable,
      .batch = batch_leading_axes,
      .body = kernel(hsv_to_rgb_kernel),
  });
}

void define_adjustments_of_colors(OpRegistry& ops) {
  constexpr DTypeSet kTypes = {DType::kHalf, DType::kFloat32};
  kAdjustContrastv2 = ops.define<NoAttrs>({
      .name = "AdjustContrastv2",
      .summary = "(x - mean) * contrast_factor + mean, with the mean of each channel of an image.",
      .inputs = {"images: T", "contrast_factor: float"},
      .outputs = {"output: T"},
      .types = {{"T", kTypes}},
      .infer = color_shape<3, Channels::kAny>,
      .batch = batch_data_inputs<0>,
      .body = kernel(adjust_contrast_kernel),
  });
  kAdjustHue = ops.define<NoAttrs>({
      .name = "AdjustHue",
      .summary = "Colors of red, green and blue whose hue is moved by delta, a part of its circle.",
      .inputs = {"images: T", "delta: float"},
      .outputs = {"output: T"},
      .types = {{"T", kTypes}},
      .infer = color_shape<3, Channels::kThree>,
      .batch = batch_data_inputs<0>,
      .body = kernel(adjust_hue_kernel),
  });
  kAdjustSaturation = ops.define<NoAttrs>({
      .name = "AdjustSaturation",
      .summary = "Colors of red, green and blue whose saturation is multiplied by scale.",
      .inputs = {"images: T", "scale: float"},
      .outputs = {"output: T"},
      .types = {{"T", kTypes}},
      .infer = color_shape<3, Channels::kThree>,
      .batch = batch_data_inputs<0>,
      .body = kernel(adjust_saturation_kernel),
  });
}

}  // namespace

void define_color_ops(OpRegistry& ops) {
  define_conversions_of_colors(ops);
  define_adjustments_of_colors(ops);
}

}  // namespace graven::engine
