#include <algorithm>
#include <span>
#include <string_view>

#include "graven/base/strings.h"
#include "graven/ir/emitter.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

// --- Shapes.

bool has_channels_second(std::string_view format) { return format == "NCHW" || format == "NCDHW"; }

// The axis of channels of images, which are checked.
Result<int> channel_axis(std::string_view format, const Shape& x) {
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW") {
    return invalid_argument("data_format must be one of NHWC, NCHW, NDHWC and NCDHW, got \"",
                            format, "\"");
  }
  const int rank = static_cast<int>(format.size());
  if (x.has_rank() && x.rank() != rank) {
    return invalid_argument("input must be ", rank, "-dimensional", x.to_message());
  }
  return has_channels_second(format) ? 1 : rank - 1;
}

// The shape with the channels set, and with the rank of the format if its own is unknown.
Shape with_rank_of(std::string_view format, Shape x, int channel_axis, Dim channels) {
  if (!x.has_rank()) {
    x = {};
    for (size_t i = 0; i < format.size(); ++i) x.push_back(Dim::unknown());
  }
  x.set(channel_axis, channels);
  return x;
}

// An input must have a number for each channel; none at all is fine if it is not used.
Status merge_channels(InferContext& c, int input, std::string_view what, bool may_be_empty,
                      Dim& channels) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank()) return {};
  if (shape.rank() != 1) {
    return invalid_argument(what, " must be 1-dimensional", shape.to_message());
  }
  if (may_be_empty) return {};
  auto merged = c.merge(channels, shape[0]);
  if (!merged.ok()) {
    return invalid_argument(what, " must have the same number of elements as the channels of x, ",
                            "got ", shape[0].number(), " and ", channels.number());
  }
  channels = *merged;
  return {};
}

Status batch_norm_shape(InferContext& c) {
  const auto& attrs = c.attrs<BatchNormAttrs>();
  Shape x = c.shape(0);
  ASSIGN_OR_RETURN(int axis, channel_axis(attrs.data_format, x));
  Dim channels = x.has_rank() ? x[axis] : Dim::unknown();
  const bool needs_old = !attrs.is_training || attrs.exponential_avg_factor != 1;
  RETURN_IF_ERROR(merge_channels(c, 1, "scale", false, channels));
  RETURN_IF_ERROR(merge_channels(c, 2, "offset", false, channels));
  std::string_view when = !attrs.is_training ? "When is_training=false, " : "";
  RETURN_IF_ERROR(merge_channels(c, 3, str_cat(when, "mean"), !needs_old, channels));
  RETURN_IF_ERROR(merge_channels(c, 4, str_cat(when, "variance"), !needs_old, channels));
  c.set_shape(0, with_rank_of(attrs.data_format, std::move(x), axis, channels));
  for (int i = 1; i < 5; ++i) c.set_shape(i, {channels});
  c.set_shape(5, {0});
  return {};
}

// --- Composites. Images are computed in float32, as numbers of channels are.

constexpr DType kNumber = DType::kFloat32;

// Operations on images of a format.
class Images {
 public:
  Images(Emitter& emit, std::string_view format)
      : emit_(emit), is_second_(has_channels_second(format)) {
    const auto rank = static_cast<int>(format.size());
    for (int i = 0; i < rank; ++i) {
      const bool is_channel = i == (is_second_ ? 1 : rank - 1);
      if (!is_channel) others_.push_back(i);
      if (i > 0) spread_.push_back(is_channel ? -1 : 1);
    }
  }
  Formula image(const Tensor& x) const { return {emit_, cast(emit_, x, kNumber)}; }
  // A number for each channel, so that it broadcasts to images.
  Formula spread(const Formula& channels) const {
    if (!is_second_) return channels;
    return {emit_, emit_(kReshape, {channels, int32_vector(emit_, all(spread_))})};
  }
  // Numbers for each channel.
  Formula sum(const Formula& x) const {
    return {emit_, emit_(kSum, {x, int32_vector(emit_, all(others_))})};
  }
  Formula mean(const Formula& x) const {
    return {emit_, emit_(kMean, {x, int32_vector(emit_, all(others_))})};
  }
  // How many elements a channel of x has, as a number. channels: with an element for each.
  Formula count(const Tensor& x, const Tensor& channels) const {
    const ShapeAttrs out_type{DType::kInt64};
    auto size_of = [&](const Tensor& of) {
      return Formula(emit_, cast(emit_, emit_(kSize, {of}, out_type), DType::kFloat64));
    };
    return {emit_, cast(emit_, size_of(x) / size_of(channels), kNumber)};
  }

 private:
  using Numbers = InlineVector<int32_t, 6>;
  static std::span<const int32_t> all(const Numbers& n) { return {n.data(), n.size()}; }
  Emitter& emit_;
  bool is_second_;
  Numbers others_, spread_;  // the other axes; the shape [-1, 1, 1], if channels are not last
};

bool is_surely(Dim a, Dim b) { return !a.is_unknown() && a == b; }

// Whether images are surely of the format and have as many channels as inputs `first` to `last`
// have elements.
bool surely_fit(CompositeContext& c, std::string_view format, int image, int first, int last) {
  const Shape& x = c.x(image).shape();
  if (!x.has_rank() || x.rank() != static_cast<int>(format.size())) return false;
  const Dim channels = x[has_channels_second(format) ? 1 : x.rank() - 1];
  for (int i = first; i <= last; ++i) {
    const Shape& numbers = c.x(i).shape();
    if (!numbers.has_rank() || !is_surely(numbers[0], channels)) return false;
  }
  return true;
}

// Whether each channel surely has an element.
bool has_surely_elements(const Shape& x) { return x.is_fully_known() && x.num_elements() > 0; }

void batch_norm(CompositeContext& c) {
  const auto& attrs = c.attrs<BatchNormAttrs>();
  const bool needs_old = !attrs.is_training || attrs.exponential_avg_factor != 1;
  if (!surely_fit(c, attrs.data_format, 0, 1, needs_old ? 4 : 2)) return c.stay_whole();
  const Images images(c, attrs.data_format);
  const DType dtype = c.x(0).dtype();
  const Formula x = images.image(c.x(0)), scale(c, c.x(1)), offset(c, c.x(2));
  const Formula old_mean(c, c.x(3)), old_variance(c, c.x(4));
  const Tensor nothing = constant(c, Tensor::vector(std::span<const float>()));
  auto normalized = [&](const Formula& from_mean, const Formula& variance) {
    const Formula factor = scale / call(kSqrt, variance + attrs.epsilon);
    return cast(c, from_mean * images.spread(factor) + images.spread(offset), dtype);
  };
  if (!attrs.is_training) {
    c.set_output(normalized(x - images.spread(old_mean), old_variance));
    for (int i : {3, 4, 3, 4}) c.set_output(c.x(i));
    return c.set_output(nothing);
  }

  Formula mean = images.mean(x), from_mean = x - images.spread(mean);
  Formula variance = images.mean(from_mean * from_mean);
  c.set_output(normalized(from_mean, variance));
  // The running variance estimates that of the population from the batch, a sample.
  const Formula count = images.count(c.x(0), c.x(1)), one = constant_like(count, 1);
  const Formula of_sample = count / call(kMaximum, count - one, one);
  const double factor = attrs.exponential_avg_factor;
  auto running = [&](const Formula& old, const Formula& batch) {
    return factor == 1 ? batch : (1 - attrs.exponential_avg_factor) * old + factor * batch;
  };
  c.set_output(running(old_mean, mean));
  c.set_output(running(old_variance, variance * of_sample));
  // An empty batch saves zeros.
  for (const Formula& kept : {mean, variance}) {
    const Formula zero = constant_like(kept, 0);
    c.set_output(has_surely_elements(c.x(0).shape())
                     ? kept.tensor()
                     : c(kSelectV2, {call(kEqual, count, zero), zero, kept}));
  }
  c.set_output(nothing);
}

// --- Gradients.

void batch_norm_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<BatchNormAttrs>();
  const bool training = attrs.is_training;
  Tensors dx = c.apply(*kFusedBatchNormGradV3,
                       std::vector<Tensor>{c.dy(), c.x(0), c.x(1), training ? c.y(3) : c.x(3),
                                           training ? c.y(4) : c.x(4), c.y(5)},
                       BatchNormGradAttrs{attrs.epsilon, attrs.data_format, attrs.is_training});
  if (dx.empty()) return;
  for (int i = 0; i < 3; ++i) {
    if (c.wants(i)) c.set_dx(i, dx[i]);
  }
}

constexpr DTypeSet kImageTypes = {DType::kHalf, DType::kBFloat16, DType::kFloat32};

void define_fused_batch_norm_v3(OpRegistry& ops) {
  ops.define(
      kFusedBatchNormV3,
      {
          .name = "FusedBatchNormV3",
          .summary = "(x - mean) / sqrt(variance + epsilon) * scale + offset for each channel.",
          .details =
              "In training mean and variance are those of the batch; batch_mean and "
              "batch_variance then are running averages, into which the batch goes with "
              "exponential_avg_factor, and its variance as that of a sample. Otherwise they are "
              "the inputs. The reserve spaces are for the gradient.",
          .inputs = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U"},
          .outputs = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U",
                      "reserve_space_2: U", "reserve_space_3: U"},
          .types = {{"T", kImageTypes},
                    {"U", DTypeSet{DType::kFloat32}, DTypeSet{DType::kBFloat16, DType::kFloat32}}},
          .infer = batch_norm_shape,
          .gradient = batch_norm_gradient,
          .body = composite(batch_norm),
      });
}

Status batch_norm_grad_shape(InferContext& c) {
  const auto& attrs = c.attrs<BatchNormGradAttrs>();
  ASSIGN_OR_RETURN(int axis, channel_axis(attrs.data_format, c.shape(1)));
  auto merged = merge_shapes(c.shape(0), c.shape(1));
  if (!merged.ok()) {
    return invalid_argument("x and y_backprop must have the same shape, got ",
                            c.shape(1).to_message(), " and ", c.shape(0).to_message());
  }
  Dim channels = merged->has_rank() ? (*merged)[axis] : Dim::unknown();
  RETURN_IF_ERROR(merge_channels(c, 2, "scale", false, channels));
  RETURN_IF_ERROR(merge_channels(c, 3, "reserve_space_1", false, channels));
  RETURN_IF_ERROR(merge_channels(c, 4, "reserve_space_2", false, channels));
  c.set_shape(0, with_rank_of(attrs.data_format, std::move(*merged), axis, channels));
  c.set_shape(1, {channels});
  c.set_shape(2, {channels});
  c.set_shape(3, Shape());
  c.set_shape(4, Shape());
  return {};
}

void batch_norm_grad(CompositeContext& c) {
  const auto& attrs = c.attrs<BatchNormGradAttrs>();
  const Shape &of_dy = c.x(0).shape(), &of_x = c.x(1).shape();
  const bool fit = surely_fit(c, attrs.data_format, 1, 2, 4) && of_dy.has_rank() &&
                   std::ranges::equal(of_dy.dims(), of_x.dims(), is_surely);
  if (!fit) return c.stay_whole();
  const Images images(c, attrs.data_format);
  const Formula dy = images.image(c.x(0)), x = images.image(c.x(1));
  const Formula scale(c, c.x(2)), mean(c, c.x(3)), variance(c, c.x(4));
  const Formula from_mean = x - images.spread(mean);
  const Formula offset_backprop = images.sum(dy), products = images.sum(dy * from_mean);
  const Formula deviation = call(kSqrt, variance + attrs.epsilon);
  const Formula inverse = constant_like(deviation, 1) / deviation;
  Formula rest = dy;
  if (attrs.is_training) {
    const Formula count = images.count(c.x(1), c.x(2));
    const Formula shift = offset_backprop / count, slope = products * inverse * inverse / count;
    rest = dy - images.spread(shift) - from_mean * images.spread(slope);
  }
  c.set_output(cast(c, images.spread(scale * inverse) * rest, c.x(0).dtype()));
  c.set_output(products * inverse);
  c.set_output(offset_backprop);
  const Tensor zero = constant(c, Tensor::scalar(0.0f));
  c.set_output(zero);
  c.set_output(zero);
}

// With xh = (x - mean) inv the op computes dx = scale inv P(dy), where in training P(v) = v -
// mean(v) - xh mean(v xh), and in inference P(v) = v; sum(dy xh); and sum(dy). Their incoming
// gradients are a, b and e. P is symmetric. In training xh and inv depend on x: d xh goes through
// inv P to x, and d inv / d x = -inv^2 xh / n.
void batch_norm_grad_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<BatchNormGradAttrs>();
  const Images images(c, attrs.data_format);
  const DType dtype = c.dtype_of_x(0);
  auto image = [&](const Tensor& x) { return images.image(x); };
  auto channels = [&](const Tensor& x) { return images.spread(Formula(c, x)); };
  auto mean = [&](const Formula& x) { return images.spread(images.mean(x)); };

  Formula dy = image(c.x(0)), x = image(c.x(1)), scale = channels(c.x(2));
  Formula from_mean = x - (attrs.is_training ? mean(x) : channels(c.x(3)));
  Formula variance = attrs.is_training ? mean(from_mean * from_mean) : channels(c.x(4));
  Formula inv = call(kRsqrt, variance + attrs.epsilon), xh = from_mean * inv;
  Formula a = image(c.dy(0)), b = channels(c.dy(1)), e = channels(c.dy(2));
  auto project = [&](const Formula& v) {
    return attrs.is_training ? v - mean(v) - xh * mean(v * xh) : v;
  };
  if (c.wants(0)) {
    c.set_dx(0, cast(c, scale * inv * project(a) + b * xh + e, dtype));
  }
  if (c.wants(2)) c.set_dx(2, images.sum(inv * (a * project(dy))));
  if (!c.wants(1)) return;
  if (!attrs.is_training) return c.set_dx(1, cast(c, b * dy * inv, dtype));
  Formula d_xh = b * dy - scale * inv * (a * mean(dy * xh) + dy * mean(a * xh));
  Formula through_inv = scale * mean(a * project(dy)) * inv * inv * xh;
  c.set_dx(1, cast(c, inv * project(d_xh) - through_inv, dtype));
}

void define_fused_batch_norm_grad_v3(OpRegistry& ops) {
  ops.define(kFusedBatchNormGradV3,
             {
                 .name = "FusedBatchNormGradV3",
                 .summary = "The gradients of FusedBatchNormV3 with respect to x, scale and "
                            "offset. reserve_space_1 and 2 are mean and variance.",
                 .inputs = {"y_backprop: T", "x: T", "scale: float32", "reserve_space_1: U",
                            "reserve_space_2: U", "reserve_space_3: U"},
                 .outputs = {"x_backprop: T", "scale_backprop: U", "offset_backprop: U",
                             "reserve_space_4: U", "reserve_space_5: U"},
                 .types = {{"T", kImageTypes}, {"U", DTypeSet{DType::kFloat32}}},
                 .infer = batch_norm_grad_shape,
                 .gradient = batch_norm_grad_gradient,
                 .body = composite(batch_norm_grad),
             });
}

}  // namespace

void define_batch_norm_ops(OpRegistry& ops) {
  define_fused_batch_norm_v3(ops);
  define_fused_batch_norm_grad_v3(ops);
}

}  // namespace graven::engine
