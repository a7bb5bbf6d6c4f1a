#include <optional>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/gathering.h"
#include "graven/library/reductions.h"
#include "graven/ops/counting_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

constexpr int64_t kFlat[] = {-1};

struct BincountParameters {
  Tensor arr, weights;
  Number minlength, maxlength;
  DType dtype = DType::kInt32;
  std::optional<int64_t> axis;
  bool binary_output = false;
  static constexpr auto fields() {
    using P = BincountParameters;
    return std::tuple(
        required_field("arr", &P::arr, "T",
                       "Integers, none of them negative; others are cut to int32. A sparse or "
                       "ragged tensor is refused."),
        field("weights", &P::weights, "W", "What each counts for, of arr's shape; None means 1."),
        field("minlength", &P::minlength, "The least number of bins."),
        field("maxlength", &P::maxlength, "The largest; what lies beyond is not counted."),
        field("dtype", &P::dtype, "Of the counts without weights."), name_field(),
        field("axis", &P::axis, "0 or None for all elements, -1 for each row."),
        field("binary_output", &P::binary_output, "1 where a number is there, however often."));
  }
};

// The number of bins: the largest element plus 1, within the limits of the call.
Tensor num_bins(FunctionContext& c, const BincountParameters& p, const Tensor& arr) {
  Formula is_there = c.cast(c(kGreater, {c(kSize, {arr}), c.scalar(0)}), arr.dtype());
  Formula size = is_there * (reduce(c, kMax, arr) + 1.0);
  const auto given = [](const Number& number) { return number.number || number.tensor; };
  const auto limit = [&](const Number& number, std::string_view name) {
    return c(c.tensor_of(number, arr.dtype(), name));
  };
  if (given(p.minlength)) size = call(kMaximum, limit(p.minlength, "minlength"), size);
  if (given(p.maxlength)) size = call(kMinimum, limit(p.maxlength, "maxlength"), size);
  return size;
}

Outputs bincount(FunctionContext& c, const BincountParameters& p) {
  if (p.weights && p.binary_output) {
    return c.fail(
        value_error("Arguments `binary_output` and `weights` are mutually exclusive. "
                    "Please specify only one."));
  }
  const int64_t axis = p.axis.value_or(0);
  if (axis != 0 && axis != -1) {
    return c.fail(value_error("Unsupported value for argument axis=", axis,
                              ". Only 0 and -1 are currently supported."));
  }
  const bool is_whole = is_integer(p.arr.dtype());
  Tensor arr = is_whole ? p.arr : c.cast(p.arr, DType::kInt32).tensor(), weights = p.weights;
  if (!arr) return {};
  const Tensor size = num_bins(c, p, arr);
  if (axis == 0) {
    arr = c(kReshape, {arr, c.vector(kFlat)});
    if (weights) weights = c(kReshape, {weights, c.vector(kFlat)});
  }
  if (!weights) {
    auto none = Tensor::allocate(p.dtype, Shape{0});
    if (!none.ok()) return c.fail(none.status());
    weights = c.constant(*none);
  }
  return c(kDenseBincount, {arr, size, weights}, {.binary_output = p.binary_output}, c.name());
}

struct SearchSortedParameters {
  Tensor sorted_sequence, values;
  std::string side = "left";
  DType out_type = DType::kInt32;
  static constexpr auto fields() {
    using P = SearchSortedParameters;
    return std::tuple(
        required_field("sorted_sequence", &P::sorted_sequence, "any",
                       "Real numbers, sorted along the last axis."),
        required_field("values", &P::values, "any",
                       "What to look for: the same dtype, and the same axes but the last."),
        field("side", &P::side, "\"left\" for the first place, \"right\" for the last one."),
        field("out_type", &P::out_type, "int32 or int64."));
  }
};

// A tensor as a matrix of its rows.
Tensor as_matrix(FunctionContext& c, const Tensor& x) {
  if (c.rank_if_known(x) == 0) {
    constexpr std::string_view kText = "slice index -1 of dimension 0 out of bounds.";
    return c.fail(c.is_graph() ? value_error(kText) : invalid_argument(kText));
  }
  const auto width = c.size_if_known(x, -1);
  const Size columns = width ? Size(*width) : Size(element_of(c, c(kShape, {x}), -1));
  return c(kReshape, {x, vector_of(c, SizeList{-1, columns})});
}

Outputs searchsorted(FunctionContext& c, const SearchSortedParameters& p) {
  if (p.side != "left" && p.side != "right") {
    return c.fail(
        value_error("Argument `side` must be either 'right' or 'left'. Received: "
                    "`side` = '",
                    p.side, "'."));
  }
  const Tensor rows = as_matrix(c, p.sorted_sequence), values = as_matrix(c, p.values);
  const Tensor places =
      c(p.side == "left" ? kLowerBound : kUpperBound, {rows, values}, {.out_type = p.out_type});
  return c(kReshape, {places, c(kShape, {p.values})});
}

struct HistogramParameters {
  Tensor values, value_range, nbins;
  DType dtype = DType::kInt32;
  static constexpr auto fields() {
    using P = HistogramParameters;
    return std::tuple(
        required_field("values", &P::values, "T", "int32, int64, float32 or float64, no NaN."),
        required_field("value_range", &P::value_range, "T",
                       "The two ends; what lies beyond counts in the first or last bin."),
        field("nbins", &P::nbins, "int32", 100, "The number of bins."),
        field("dtype", &P::dtype, "Of the counts, int32 or int64."));
  }
};

struct HistogramBinsParameters {
  Tensor values, value_range, nbins;
  static constexpr auto fields() {
    using P = HistogramBinsParameters;
    return std::tuple(
        required_field("values", &P::values, "any", "Floating-point numbers."),
        required_field("value_range", &P::value_range, "any",
                       "The two ends, of values' dtype; what lies beyond is in the first or last "
                       "bin."),
        field("nbins", &P::nbins, "int32", 100, "The number of bins."),
        ignored_field("dtype", "TensorFlow does not read it either: the result is int32."));
  }
};

// Checks that a condition holds for all elements: now if they are known, else at run time.
void require(FunctionContext& c, const Tensor& holds, const std::string& message) {
  const Tensor all = reduce(c, kAll, holds), known = all ? known_value(all) : Tensor();
  if (!all || (known && known.item<bool>())) return;
  if (known) {
    c.fail(invalid_argument(message));
  } else {
    const Tensor texts[] = {text_constant(c, message)};
    assert_later(c, all, texts, std::nullopt);
  }
}

Outputs histogram_bins(FunctionContext& c, const HistogramBinsParameters& p) {
  const Tensor nbins = p.nbins ? p.nbins : c.scalar(100, DType::kInt32, "nbins");
  require(c, c(kGreater, {nbins, c.scalar(0)}), "nbins must be > 0");
  Formula count = c.cast(nbins, p.values.dtype());
  Formula low = c(gathered(c, p.value_range, c.scalar(0), 0));
  Formula high = c(gathered(c, p.value_range, c.scalar(1), 0));
  Formula place = (c(p.values) - low) / (high - low);
  place = call(kMinimum, call(kFloor, count * place), count - 1.0);
  return c.cast(call(kMaximum, place, constant_like(place, 0)), DType::kInt32);
}

struct ConfusionMatrixParameters {
  Tensor labels, predictions, num_classes, weights;
  DType dtype = DType::kInt32;
  static constexpr auto fields() {
    using P = ConfusionMatrixParameters;
    return std::tuple(
        required_field("labels", &P::labels, "any", "The true classes, a vector."),
        required_field("predictions", &P::predictions, "any", "The predicted ones, as many."),
        field("num_classes", &P::num_classes, "any",
              "The number of classes; None means up to the largest one."),
        field("weights", &P::weights, "any", "What each pair counts for; None means 1."),
        field("dtype", &P::dtype, "The dtype of the counts."));
  }
};

// A matrix of one column loses its last axis if the other tensor is a vector. If a rank is unknown,
// both become vectors.
void drop_column(FunctionContext& c, Tensor& a, Tensor& b) {
  const auto rank_of_a = c.rank_if_known(a), rank_of_b = c.rank_if_known(b);
  if (!rank_of_a || !rank_of_b) {
    a = c(kReshape, {a, c.vector(kFlat)});
    b = c(kReshape, {b, c.vector(kFlat)});
    return;
  }
  for (auto [x, extra] : {std::pair(&a, *rank_of_a - *rank_of_b), {&b, *rank_of_b - *rank_of_a}}) {
    if (extra == 1 && c.size_if_known(*x, -1).value_or(1) == 1) {
      *x = c(kSqueeze, {*x}, {.squeeze_dims = {-1}});
    }
  }
}

Outputs confusion_matrix(FunctionContext& c, const ConfusionMatrixParameters& p) {
  Tensor labels = p.labels, predictions = p.predictions;
  drop_column(c, labels, predictions);
  labels = c.cast(labels, DType::kInt64);
  predictions = c.cast(predictions, DType::kInt64);
  if (!c.status().ok()) return {};
  if (c.rank_if_known(labels) == 0) {
    return c.fail(value_error("Argument `axis` = 1 not in range [-1, 1)"));
  }
  const Tensor zero = c.scalar(0, DType::kInt64);
  require(c, c(kGreaterEqual, {labels, zero}), "`labels` contains negative values");
  require(c, c(kGreaterEqual, {predictions, zero}), "`predictions` contains negative values");
  Tensor count;
  if (p.num_classes) {
    count = c.cast(p.num_classes, DType::kInt64);
    require(c, c(kLess, {labels, count}), "`labels` out of bound");
    require(c, c(kLess, {predictions, count}), "`predictions` out of bound");
  } else {
    count = call(kMaximum, reduce(c, kMax, predictions), reduce(c, kMax, labels)) + 1.0;
  }
  if (!c.status().ok()) return {};
  if (p.weights && !are_compatible(predictions.shape(), p.weights.shape())) {
    return c.fail(value_error("Shapes ", predictions.shape().to_text(), " and ",
                              p.weights.shape().to_text(), " are incompatible"));
  }
  const Tensor values = c.cast(p.weights ? p.weights : c(kOnesLike, {predictions}), p.dtype);
  const Tensors pairs = c.apply(kPack, {labels, predictions}, {.axis = 1});
  const Tensors shape = c.apply(kPack, {count, count});
  if (pairs.empty() || shape.empty()) return {};
  return c(kScatterNd, {pairs[0], values, shape[0]}, {}, c.name());
}

struct InTopKParameters {
  Tensor targets, predictions, k;
  static constexpr auto fields() {
    using P = InTopKParameters;
    return std::tuple(
        required_field("targets", &P::targets, "T", "The class of each row, int32 or int64."),
        required_field("predictions", &P::predictions, "float32", "Scores, [rows, classes]."),
        required_field("k", &P::k, "T", "How many count, a scalar."));
  }
};

void define_histograms(FunctionRegistry& functions) {
  functions.define({
      .names = "histogram_fixed_width",
      .scope = "histogram_fixed_width",
      .summary = "Counts the values in each of nbins equal parts of value_range.",
      .returns = "A vector of nbins counts.",
      .raises = {{"InvalidArgumentError",
                  "value_range is not two ends in order, nbins is not positive, or a value is "
                  "NaN."}},
      .source = "OpDef \"HistogramFixedWidth\"",
      .body =
          [](FunctionContext& c, const HistogramParameters& p) {
            const Tensor nbins = p.nbins ? p.nbins : c.scalar(100, DType::kInt32, "nbins");
            return c(kHistogramFixedWidth, {p.values, p.value_range, nbins}, {.dtype = p.dtype},
                     c.name());
          },
  });
  functions.define({
      .names = "histogram_fixed_width_bins",
      .scope = "histogram_fixed_width_bins",
      .summary = "Says for each value in which of nbins equal parts of value_range it lies.",
      .returns = "int32, of values' shape.",
      .raises = {{"InvalidArgumentError",
                  "nbins is not positive, or value_range has not two elements."}},
      .body = histogram_bins,
  });
}

}  // namespace

void define_counting(FunctionRegistry& functions) {
  functions.define({
      .names = "math.bincount",
      .scope = "bincount",
      .summary = "Counts how often each number is there, from 0 up to the largest.",
      .returns = "A vector of counts, or one for each row; in the dtype of the weights, if there "
                 "are any.",
      .raises = {{"InvalidArgumentError", "An element is negative, or the weights do not fit."},
                 {"ValueError",
                  "The axis is another one, or there are weights beside binary_output."}},
      .source = "OpDef \"DenseBincount\"",
      .body = bincount,
  });
  functions.define({
      .names = "searchsorted",
      .scope = "searchsorted",
      .summary = "Finds where each value can be put into its sorted row so that this stays sorted.",
      .returns = "The places, of values' shape.",
      .raises = {{"ValueError", "The side is another word."},
                 {"InvalidArgumentError", "The axes but the last differ, or one is a scalar."}},
      .source = "OpDefs \"LowerBound\" and \"UpperBound\"",
      .body = searchsorted,
  });
  define_histograms(functions);
  functions.define({
      .names = "math.confusion_matrix",
      .scope = "confusion_matrix",
      .summary = "Counts the pairs of a true and a predicted class.",
      .returns = "A matrix with a row for each true class and a column for each predicted one.",
      .raises = {{"InvalidArgumentError", "A class is negative, or not below num_classes."},
                 {"ValueError", "The weights do not fit."}},
      .body = confusion_matrix,
  });
  functions.define({
      .names = "math.in_top_k, nn.in_top_k",
      .scope = "InTopKV2",
      .types = {{"T", kIndexTypes}},
      .summary = "Says whether the score of the target is among the k largest of each row.",
      .details = "Scores equal to the k-th count, too. A target that is no class is not among "
                 "them, nor is one in a row with a score that is not finite.",
      .returns = "A bool for each row.",
      .raises = {{"InvalidArgumentError", "The shapes do not fit."}},
      .source = "OpDef \"InTopKV2\"",
      .body =
          [](FunctionContext& c, const InTopKParameters& p) {
            return c(kInTopKV2, {p.predictions, p.targets, p.k}, {}, c.name());
          },
  });
}

}  // namespace graven::engine
