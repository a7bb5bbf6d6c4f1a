#include "graven/library/reductions.h"

#include <numeric>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {

Tensor axes_tensor(FunctionContext& c, const Tensor& x, const Axes& axes) {
  if (!axes.is_none()) return c.tensor_of(axes, "reduction_indices");
  if (auto rank = c.rank_if_known(x)) {
    InlineVector<int64_t, 6> all(static_cast<size_t>(*rank));
    std::iota(all.begin(), all.end(), 0);
    return c.vector({all.data(), all.size()});
  }
  return c(kRange, {c.scalar(0), c(kRank, {x}), c.scalar(1)});
}

Formula reduce(FunctionContext& c, const OpHandle<ReductionAttrs>& op, const Tensor& x,
               const Axes& axes, bool keepdims, std::string_view name) {
  Tensor y = c(op, {x, axes_tensor(c, x, axes)}, {.keep_dims = keepdims}, name);
  if (y && axes.is_none() && !keepdims && !y.shape().has_rank()) {
    // Inference does not know that axes computed at run time are all axes.
    set_known_shape(c, y, Shape());
  }
  return c(y);
}

namespace {

struct ReductionParameters {
  Tensor input_tensor;
  Axes axis;
  bool keepdims = false;
  static constexpr auto fields() {
    using P = ReductionParameters;
    return std::tuple(
        required_field("input_tensor", &P::input_tensor, "T", "The elements, of any shape."),
        field("axis", &P::axis, "The axes to go over; None means all."),
        field("keepdims", &P::keepdims, "Keep these axes, with size 1."));
  }
};

constexpr Raised kNoSuchAxis = {"InvalidArgumentError", "An axis is outside [-rank, rank)."};

// The square of the distance of each element from the mean, averaged.
Formula variance(FunctionContext& c, const ReductionParameters& p) {
  if (is_integer(p.input_tensor.dtype())) {
    return c(c.fail(type_error("Input must be either real or complex. Received integer type ",
                               dtype_name(p.input_tensor.dtype()), ".")));
  }
  Formula x = c(p.input_tensor), distance = x - reduce(c, kMean, x, p.axis, true);
  if (!is_complex(x.dtype())) return reduce(c, kMean, call(kSquare, distance), p.axis, p.keepdims);
  Formula square =
      call(kReal, distance * conj(distance), {.Tout = real_part_type(distance.dtype())});
  return reduce(c, kMean, square, p.axis, p.keepdims);
}

Outputs logsumexp(FunctionContext& c, const ReductionParameters& p) {
  Formula x = c(p.input_tensor), largest = reduce(c, kMax, x, p.axis, true);
  // An infinite or NaN maximum is not subtracted: inf - inf would be NaN.
  Formula is_finite = call(kIsFinite, largest);
  largest = c(c(kStopGradient, {c(kSelectV2, {is_finite, largest, call(kZerosLike, largest)})}));
  Formula y = call(kLog, reduce(c, kSum, call(kExp, x - largest), p.axis, p.keepdims));
  return y + (p.keepdims ? largest : c(c(kReshape, {largest, c(kShape, {y})})));
}

struct CountNonzeroParameters {
  Tensor input;
  Axes axis;
  bool keepdims = false;
  DType dtype = DType::kInt64;
  static constexpr auto fields() {
    using P = CountNonzeroParameters;
    return std::tuple(required_field("input", &P::input, "T", "The elements, of any shape."),
                      field("axis", &P::axis, "The axes to go over; None means all."),
                      field("keepdims", &P::keepdims, "Keep these axes, with size 1."),
                      field("dtype", &P::dtype, "The dtype of the counts."));
  }
};

struct ZeroFractionParameters {
  Tensor value;
  static constexpr auto fields() {
    return std::tuple(required_field("value", &ZeroFractionParameters::value, "T",
                                     "Any shape; of strings, the empty one counts as 0."));
  }
};

// A reduction that is one op; its nodes have the op's name.
void define_reduction(FunctionRegistry& functions, const OpHandle<ReductionAttrs>& op,
                      std::string names, DTypeSet types, std::string summary) {
  functions.define({
      .names = std::move(names),
      .scope = op.op->name(),
      .types = {{"T", types}},
      .summary = std::move(summary),
      .returns = "The dtype of the input; its shape without the axes.",
      .raises = {kNoSuchAxis},
      .source = str_cat("OpDef \"", op.op->name(), "\""),
      .body =
          [&op](FunctionContext& c, const ReductionParameters& p) {
            return reduce(c, op, p.input_tensor, p.axis, p.keepdims, c.name());
          },
  });
}

}  // namespace

void define_reductions(FunctionRegistry& functions) {
  define_reduction(functions, kSum, "math.reduce_sum, reduce_sum", kNumberTypes,
                   "Sums the elements over axes.");
  define_reduction(functions, kMean, "math.reduce_mean, reduce_mean", kNumberTypes,
                   "Averages the elements over axes; a mean of integers is cut off, and that of no "
                   "elements is NaN.");
  define_reduction(functions, kProd, "math.reduce_prod, reduce_prod", kNumberTypes,
                   "Multiplies the elements over axes.");
  define_reduction(functions, kMax, "math.reduce_max, reduce_max", kRealTypes,
                   "Takes the largest element over axes.");
  define_reduction(functions, kMin, "math.reduce_min, reduce_min", kRealTypes,
                   "Takes the smallest element over axes.");
  define_reduction(functions, kAny, "math.reduce_any, reduce_any", kBoolType,
                   "Whether any element holds, over axes.");
  define_reduction(functions, kAll, "math.reduce_all, reduce_all", kBoolType,
                   "Whether all elements hold, over axes.");
  define_reduction(functions, kEuclideanNorm, "math.reduce_euclidean_norm", kNumberTypes,
                   "Takes the root of the sum of squares over axes.");
  functions.define({
      .names = "math.reduce_variance",
      .scope = "reduce_variance",
      .types = {{"T", kDifferentiableTypes}},
      .summary = "Averages the squared distances from the mean over axes.",
      .returns = "The real dtype of the input; its shape without the axes.",
      .raises = {{"TypeError", "The input is of integers."}, kNoSuchAxis},
      .body = [](FunctionContext& c, const ReductionParameters& p) { return variance(c, p); },
  });
  functions.define({
      .names = "math.reduce_std",
      .scope = "reduce_std",
      .types = {{"T", kDifferentiableTypes}},
      .summary = "Takes the root of the variance over axes.",
      .returns = "The real dtype of the input; its shape without the axes.",
      .raises = {{"TypeError", "The input is of integers."}, kNoSuchAxis},
      .body = [](FunctionContext& c,
                 const ReductionParameters& p) { return call(kSqrt, variance(c, p)); },
  });
  functions.define({
      .names = "math.reduce_logsumexp, reduce_logsumexp",
      .scope = "ReduceLogSumExp",
      .types = {{"T", kFloatTypes}},
      .summary = "Takes log(sum(exp(x))) over axes, without overflow.",
      .returns = "The dtype of the input; its shape without the axes.",
      .raises = {kNoSuchAxis},
      .body = logsumexp,
  });
  functions.define({
      .names = "math.count_nonzero",
      .scope = "count_nonzero",
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString}}},
      .summary = "Counts the elements that are not zero, or no empty string, over axes.",
      .returns = "The counts, in the dtype asked for; the shape of the input without the axes.",
      .raises = {kNoSuchAxis},
      .body =
          [](FunctionContext& c, const CountNonzeroParameters& p) {
            Tensor counted = c(kNotEqual, {p.input, c.zero(p.input.dtype())});
            Formula sum = reduce(c, kSum, c.cast(counted, DType::kInt64), p.axis, p.keepdims);
            return c.cast(sum, p.dtype);
          },
  });
  functions.define({
      .names = "math.zero_fraction, nn.zero_fraction",
      .scope = "zero_fraction",
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString}}},
      .summary = "The fraction of elements that are 0.",
      .returns = "A float32 scalar; NaN if there are no elements.",
      .body =
          [](FunctionContext& c, const ZeroFractionParameters& p) {
            const Tensor is_zero = c(kEqual, {p.value, c.zero(p.value.dtype())});
            return reduce(c, kMean, c.cast(is_zero, DType::kFloat32), {}, false, c.name());
          },
  });
}

}  // namespace graven::engine
