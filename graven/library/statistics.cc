#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/reductions.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

struct MomentsParameters {
  Tensor x;
  Axes axes;
  bool keepdims = false;
  static constexpr auto fields() {
    using P = MomentsParameters;
    return std::tuple(required_field("x", &P::x, "T", "The elements, of any shape."),
                      required_field("axes", &P::axes, "The axes to go over; None means all."),
                      ignored_field("shift", "TensorFlow does not read it either."),
                      field("keepdims", &P::keepdims, "Keep these axes, with size 1."));
  }
};

// x without the axes that a reduction kept, if any.
Tensor without_axes(FunctionContext& c, const Tensor& x, const Axes& axes) {
  if (axes.numbers && axes.numbers->empty()) return x;
  SqueezeAttrs attrs;  // none: all, which are of size 1
  if (axes.numbers) attrs.squeeze_dims.assign(axes.numbers->begin(), axes.numbers->end());
  return c(kSqueeze, {x}, attrs);
}

Outputs moments(FunctionContext& c, const MomentsParameters& p) {
  if (p.axes.tensor) return c.fail(type_error("moments: axes must be numbers, not a tensor"));
  Formula x = c.wide(p.x), mean = reduce(c, kMean, x, p.axes, true, "mean");
  Formula distance = call(kSquaredDifference, x, call(kStopGradient, mean));
  Formula variance = reduce(c, kMean, distance, p.axes, p.keepdims, "variance");
  if (!p.keepdims) mean = c(without_axes(c, mean, p.axes));
  return {c.cast(mean, p.x.dtype()), c.cast(variance, p.x.dtype())};
}

struct WeightedMomentsParameters {
  Tensor x;
  Axes axes;
  Tensor frequency_weights;
  bool keepdims = false;
  static constexpr auto fields() {
    using P = WeightedMomentsParameters;
    return std::tuple(required_field("x", &P::x, "T", "The elements, of any shape."),
                      required_field("axes", &P::axes, "The axes to go over; None means all."),
                      required_field("frequency_weights", &P::frequency_weights, "any",
                                     "How often each element counts; broadcasts with x."),
                      field("keepdims", &P::keepdims, "Keep these axes, with size 1."));
  }
};

Outputs weighted_moments(FunctionContext& c, const WeightedMomentsParameters& p) {
  if (p.axes.tensor) return c.fail(type_error("weighted_moments: axes must be numbers"));
  Formula x = c.wide(p.x), weights = c.cast(p.frequency_weights, x.dtype());
  Formula sum = reduce(c, kSum, weights * x, p.axes, true, "weighted_input_sum");
  Formula all = weights + call(kZerosLike, x);
  Formula count = reduce(c, kSum, all, p.axes, true, "sum_of_weights");
  Formula mean = call(kDivNoNan, sum, count);
  Formula distances = weights * call(kSquaredDifference, x, mean);
  Formula squares = reduce(c, kSum, distances, p.axes, true, "weighted_distsq");
  Tensor variance = call(kDivNoNan, squares, count), centre = mean;
  if (!p.keepdims) {
    centre = without_axes(c, centre, p.axes);
    variance = without_axes(c, variance, p.axes);
  }
  return {c.cast(centre, p.x.dtype()), c.cast(variance, p.x.dtype())};
}

struct SufficientStatisticsParameters {
  Tensor x;
  Axes axes;
  Tensor shift;
  bool keepdims = false;
  static constexpr auto fields() {
    using P = SufficientStatisticsParameters;
    return std::tuple(required_field("x", &P::x, "T", "The elements, of any shape."),
                      required_field("axes", &P::axes, "A list of axes to go over."),
                      field("shift", &P::shift, "T or None",
                            "What is subtracted of x first, about the mean; None means nothing."),
                      field("keepdims", &P::keepdims, "Keep these axes, with size 1."));
  }
};

Outputs sufficient_statistics(FunctionContext& c, const SufficientStatisticsParameters& p) {
  if (!p.axes.numbers || p.axes.is_scalar) {
    return c.fail(type_error("sufficient_statistics: axes must be a list of numbers"));
  }
  const auto rank = c.rank_if_known(p.x);
  Size count = 1;
  for (int64_t axis : *p.axes.numbers) {
    if (rank && (axis < -*rank || axis >= *rank)) {
      return c.fail(Status(Code::kInvalidArgument, str_cat("there is no axis ", axis),
                           ErrorKind::kIndexError));
    }
    const auto size = c.size_if_known(p.x, axis);
    count = multiply(c, count, size ? Size(*size) : Size(element_of(c, c(kShape, {p.x}), axis)));
  }
  const DType dtype = p.x.dtype();
  const Tensor counts = count.is_number() ? c.scalar(static_cast<double>(count.number()), dtype)
                                          : c.cast(count.tensor(c), dtype).tensor();
  Formula x = c(p.x), moved = p.shift ? x - c(p.shift) : x;
  Formula squares = p.shift ? call(kSquaredDifference, x, c(p.shift)) : call(kSquare, x);
  return {counts, reduce(c, kSum, moved, p.axes, p.keepdims, "mean_ss"),
          reduce(c, kSum, squares, p.axes, p.keepdims, "var_ss"), p.shift};
}

struct NormalizeMomentsParameters {
  Tensor counts, mean_ss, variance_ss, shift;
  static constexpr auto fields() {
    using P = NormalizeMomentsParameters;
    return std::tuple(required_field("counts", &P::counts, "T", "How many elements there are."),
                      required_field("mean_ss", &P::mean_ss, "T", "Their sum, less the shift."),
                      required_field("variance_ss", &P::variance_ss, "T",
                                     "The sum of their squares, less the shift."),
                      required_field("shift", &P::shift, "T or None",
                                     "What was subtracted of each; None means nothing."));
  }
};

Outputs normalize_moments(FunctionContext& c, const NormalizeMomentsParameters& p) {
  Formula divisor = call(kReciprocal, c(p.counts)), mean = c(p.mean_ss) * divisor;
  Formula variance = c(p.variance_ss) * divisor - call(kSquare, mean);
  return {p.shift ? (mean + c(p.shift)).tensor() : mean.tensor(), variance};
}

}  // namespace

void define_statistics(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.weighted_moments",
      .scope = "weighted_moments",
      .types = {{"T", kFloatTypes}},
      .results = tuple({"mean", "variance"}),
      .summary = "The mean and the variance over axes of elements that count more than once; half "
                 "and bfloat16 are computed in float32.",
      .returns = "Both of the dtype of x, without the axes; 0 where nothing counts.",
      .raises = {{"InvalidArgumentError", "An axis is outside [-rank, rank)."}},
      .body = weighted_moments,
  });
  Results statistics = tuple({"count", "mean_ss", "variance_ss", "shift"});
  statistics.parts.back().may_be_none = true;
  functions.define({
      .names = "nn.sufficient_statistics",
      .scope = "sufficient_statistics",
      .types = {{"T", kNumberTypes}},
      .results = std::move(statistics),
      .summary = "What normalize_moments makes the mean and the variance over axes of.",
      .returns = "The count of elements, their sum and the sum of their squares, both less the "
                 "shift, and the shift.",
      .raises = {{"TypeError", "The axes are no list."}},
      .body = sufficient_statistics,
  });
  functions.define({
      .names = "nn.normalize_moments",
      .scope = "normalize",
      .types = {{"T", kFloatTypes}},
      .results = tuple({"mean", "variance"}),
      .summary = "The mean and the variance of what sufficient_statistics gives.",
      .returns = "Both, of the shape of the sums.",
      .body = normalize_moments,
  });
  functions.define({
      .names = "nn.moments",
      .scope = "moments",
      .types = {{"T", kFloatTypes}},
      .results = tuple({"mean", "variance"}),
      .summary = "The mean and the variance over axes; half and bfloat16 are computed in float32.",
      .returns = "Both of the dtype of x, and its shape without the axes.",
      .raises = {{"InvalidArgumentError", "An axis is outside [-rank, rank)."},
                 {"TypeError", "The axes are a tensor."}},
      .body = moments,
  });
}

}  // namespace graven::engine
