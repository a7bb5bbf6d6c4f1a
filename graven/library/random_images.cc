#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/images.h"
#include "graven/library/random_sources.h"
#include "graven/library/reductions.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

// Random changes of images, each in two forms: with numbers of a stream, and stateless ones of a
// seed.

namespace graven::engine {
namespace {

constexpr Raised kWrongSeed = {"InvalidArgumentError", "The seed is not two integers."};

using Stream = std::optional<int64_t>;  // the op's own seed, or none
using Seed = Sizes;                     // of the stateless form

template <typename SeedKind>
constexpr bool kIsStream = std::is_same_v<SeedKind, Stream>;

// The parameter `seed`.
template <typename P>
constexpr auto seed_field() {
  if constexpr (kIsStream<decltype(P::seed)>) {
    return field("seed", &P::seed, kOpSeedDoc);
  } else {
    return required_field("seed", &P::seed, kSeedDoc);
  }
}

Tensor uniform(FunctionContext& c, const Tensor& shape, const Stream& seed, const Tensor& low,
               const Tensor& high, DType dtype) {
  return drawn_uniform(c, shape, seed, low, high, dtype);
}
Tensor uniform(FunctionContext& c, const Tensor& shape, const Seed& seed, const Tensor& low,
               const Tensor& high, DType dtype) {
  return seeded_uniform(c, shape, seed, low, high, dtype);
}

// A number in [low, high).
template <typename SeedKind>
Tensor draw(FunctionContext& c, const SeedKind& seed, double low, double high) {
  return uniform(c, c.vector({}), seed, c.scalar(low, DType::kFloat32),
                 c.scalar(high, DType::kFloat32), DType::kFloat32);
}

// --- Changes by a number in [-max_delta, max_delta).

template <typename SeedKind>
struct DeltaParameters {
  Tensor image;
  double max_delta = 0;
  SeedKind seed;
  static constexpr auto fields() {
    using P = DeltaParameters;
    return std::tuple(required_field("image", &P::image, "any", kImageDoc),
                      required_field("max_delta", &P::max_delta, "The largest change, above 0."),
                      seed_field<P>());
  }
};

template <typename SeedKind>
Outputs change_brightness(FunctionContext& c, const DeltaParameters<SeedKind>& p) {
  if (p.max_delta < 0) return c.fail(value_error("max_delta must be non-negative."));
  return with_brightness(c, p.image, draw(c, p.seed, -p.max_delta, p.max_delta));
}

template <typename SeedKind>
Outputs change_hue(FunctionContext& c, const DeltaParameters<SeedKind>& p) {
  if (p.max_delta > 0.5) return c.fail(value_error("max_delta must be <= 0.5."));
  if (p.max_delta < 0) return c.fail(value_error("max_delta must be non-negative."));
  return with_hue(c, p.image, draw(c, p.seed, -p.max_delta, p.max_delta));
}

// --- Changes by a factor in [lower, upper).

template <typename SeedKind>
struct FactorParameters {
  Tensor image;
  double lower = 0, upper = 0;
  SeedKind seed;
  static constexpr auto fields() {
    using P = FactorParameters;
    return std::tuple(required_field("image", &P::image, "any", kImageDoc),
                      required_field("lower", &P::lower, "The least factor, not below 0."),
                      required_field("upper", &P::upper, "What all factors are below."),
                      seed_field<P>());
  }
};

using Adjust = Tensor (*)(FunctionContext& c, const Tensor& x, const Tensor& factor);

template <typename SeedKind>
Outputs change_by_factor(FunctionContext& c, const FactorParameters<SeedKind>& p, Adjust adjust) {
  if (p.upper <= p.lower) return c.fail(value_error("upper must be > lower."));
  if (p.lower < 0) return c.fail(value_error("lower must be non-negative."));
  return adjust(c, p.image, draw(c, p.seed, p.lower, p.upper));
}

// --- Flips.

template <typename SeedKind>
struct FlipParameters {
  Tensor image;
  SeedKind seed;
  static constexpr auto fields() {
    using P = FlipParameters;
    return std::tuple(required_field("image", &P::image, "any", kImageDoc), seed_field<P>());
  }
};

// A single image is flipped for a number below a half, an image of a batch for one above.
template <typename SeedKind>
Outputs flip(FunctionContext& c, const FlipParameters<SeedKind>& p, int64_t axis) {
  if (!check_image_or_batch(c, p.image)) return Tensor();
  const int64_t axes[] = {axis}, first[] = {0}, inner[] = {-3}, ones[] = {1, 1, 1};
  const auto rank = c.rank_if_known(p.image);
  const Tensor flipped = c(kReverseV2, {p.image, c.vector(axes)});
  const Tensor heads =
      rank == 3 ? c.vector({})
                : elements_between(c, c(kShape, {p.image}), c.vector(first), c.vector(inner));
  const Tensor unit = uniform(c, heads, p.seed, c.scalar(0.0, DType::kFloat32),
                              c.scalar(1.0, DType::kFloat32), DType::kFloat32);
  const Tensor half = c.scalar(0.5, DType::kFloat32);
  const Tensor below = c(kLess, {unit, half}), above = c(kGreater, {unit, half});
  Tensor is_flipped = rank == 3 ? below : above;
  if (!rank) {
    const Tensor is_one = c(kEqual, {c(kRank, {p.image}), c.scalar(3)});
    is_flipped = c(kSelectV2, {is_one, below, above});
  }
  if (rank != 3) is_flipped = c(kReshape, {is_flipped, joined(c, heads, c.vector(ones))});
  return c(kSelectV2, {is_flipped, flipped, p.image});
}

// --- Crops.

template <typename SeedKind>
struct CropParameters {
  Tensor value, size;
  SeedKind seed;
  static constexpr auto fields() {
    using P = CropParameters;
    return std::tuple(required_field("value", &P::value, "any", "A tensor of any shape."),
                      required_field("size", &P::size, "int32", "The size of each axis."),
                      seed_field<P>());
  }
};

template <typename SeedKind>
Outputs crop(FunctionContext& c, const CropParameters<SeedKind>& p) {
  const Tensor shape = c(kShape, {p.value});
  const Tensor data[] = {text_constant(c, "Need value.shape >= size, got "), shape, p.size};
  assert_later(c, reduce(c, kAll, c(kGreaterEqual, {shape, p.size})), data, 1000);
  const Tensor highest = c.scalar(int64_t{std::numeric_limits<int32_t>::max()});
  const Tensor drawn = uniform(c, c(kShape, {shape}), p.seed, c.scalar(0), highest, DType::kInt32);
  const Formula limit = c(shape) - c(p.size) + 1.0;
  return c(kSlice, {p.value, call(kFloorMod, c(drawn), limit), p.size}, {}, c.name());
}

template <typename SeedKind>
FunctionRecord record_of(std::string name, std::string summary, const char* returns,
                         std::vector<Raised> raises) {
  constexpr bool kStateless = !kIsStream<SeedKind>;
  if (kStateless) {
    summary.insert(summary.size() - 1, ", the same at each call");
    raises.push_back(kWrongSeed);
  }
  return {.names = (kStateless ? "image.stateless_random_" : "image.random_") + name,
          .summary = std::move(summary),
          .returns = returns,
          .raises = std::move(raises)};
}

template <typename SeedKind>
void define_all(FunctionRegistry& functions) {
  const char* images = "The images, in their dtype.";
  const auto define = [&](FunctionRecord record, FunctionBody body) {
    record.body = std::move(body);
    functions.define(std::move(record));
  };
  define(record_of<SeedKind>("brightness", "Adds a random number to images.", images,
                             {{"ValueError", "max_delta is below 0."}}),
         change_brightness<SeedKind>);
  define(record_of<SeedKind>("hue", "Moves the hue of images by a random delta.", images,
                             {{"ValueError", "max_delta is not in [0, 0.5]."}}),
         change_hue<SeedKind>);
  const Raised bounds = {"ValueError", "lower is below 0, or not below upper."};
  define(record_of<SeedKind>("contrast", "Changes the contrast of images by a random factor.",
                             images, {bounds}),
         [](FunctionContext& c, const FactorParameters<SeedKind>& p) {
           return change_by_factor(c, p, with_contrast);
         });
  define(record_of<SeedKind>("saturation", "Changes the saturation of images by a random factor.",
                             images, {bounds}),
         [](FunctionContext& c, const FactorParameters<SeedKind>& p) {
           return change_by_factor(c, p,
                                   [](FunctionContext& to, const Tensor& x, const Tensor& factor) {
                                     return with_saturation(to, x, factor);
                                   });
         });
  const Raised no_image = {"ValueError",
                           "The image has not 3 or 4 axes, or one of its last three is empty."};
  define(record_of<SeedKind>("flip_left_right", "Mirrors each image or leaves it, at random.",
                             images, {no_image}),
         [](FunctionContext& c, const FlipParameters<SeedKind>& p) { return flip(c, p, -2); });
  define(record_of<SeedKind>("flip_up_down", "Turns each image upside down or not, at random.",
                             images, {no_image}),
         [](FunctionContext& c, const FlipParameters<SeedKind>& p) { return flip(c, p, -3); });
  FunctionRecord record =
      record_of<SeedKind>("crop", "Cuts a box out of a tensor, at a random place.", "The box.",
                          {{"InvalidArgumentError", "The tensor is smaller than the box."}});
  record.scope = "random_crop";
  define(std::move(record), crop<SeedKind>);
}

}  // namespace

void define_random_images(FunctionRegistry& functions) {
  define_all<Stream>(functions);
  define_all<Seed>(functions);
}

}  // namespace graven::engine
