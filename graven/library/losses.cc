#include <numbers>
#include <optional>
#include <string>

#include "graven/ir/structural_ops.h"
#include "graven/library/asserts.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/reductions.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

constexpr int64_t kFirst[] = {0}, kLast[] = {-1};

// The sizes of all axes but the last.
Tensor outer_sizes(FunctionContext& c, const Tensor& x) {
  if (!c.rank_if_known(x)) {
    return elements_between(c, c(kShape, {x}), c.vector(kFirst), c.vector(kLast));
  }
  const SizeList sizes = c.sizes(x);
  return vector_of(c, {sizes.data(), sizes.size() - 1});
}

// x as a matrix: all axes but the last merged into one. A scalar is left to the ops, which refuse
// it.
Tensor as_matrix(FunctionContext& c, const Tensor& x) {
  const auto rank = c.rank_if_known(x);
  if (rank == 0 || rank == 2) return x;
  if (rank) {
    const SizeList sizes = c.sizes(x);
    const Size flat[] = {product(c, {sizes.data(), sizes.size() - 1}), sizes.back()};
    return c(kReshape, {x, vector_of(c, flat)});
  }
  const Size rows = product_of(c, outer_sizes(c, x));
  const Tensor columns = elements_between(c, c(kShape, {x}), c.vector(kLast));
  return c(kReshape, {x, joined(c, vector_of(c, {&rows, 1}), columns)});
}

struct SoftmaxCrossEntropyParameters {
  Tensor labels, logits;
  std::optional<int64_t> axis = -1;
  static constexpr auto fields() {
    using P = SoftmaxCrossEntropyParameters;
    return std::tuple(
        required_field("labels", &P::labels, "any",
                       "Probabilities, of the shape of logits; they take its dtype."),
        required_field("logits", &P::logits, "T", "Scores, [..., classes] for the last axis."),
        field("axis", &P::axis, "The axis of the classes; None means the last."));
  }
};

Outputs softmax_cross_entropy(FunctionContext& c, const SoftmaxCrossEntropyParameters& p) {
  const int64_t axis = p.axis.value_or(-1);
  Tensor x = c.wide(p.logits), labels = c.cast(p.labels, x ? x.dtype() : DType::kInvalid);
  if (!is_last(c, x, axis)) {
    const auto rank = c.rank_if_known(x);
    if (rank && (axis < -*rank || axis >= *rank)) {
      const std::string text = str_cat("axis must be in [", -*rank, ", ", *rank, "), got ", axis);
      return c.fail(c.is_graph() ? value_error(text) : invalid_argument(text));
    }
    const Tensor order = moved_to_end(c, x, axis);
    x = c(kTranspose, {x, order});
    labels = c(kTranspose, {labels, order});
  }
  Tensor rows = as_matrix(c, x);
  const bool is_matrix = rows == x;
  Tensor loss = c(kSoftmaxCrossEntropyWithLogits, {rows, as_matrix(c, labels)}, {},
                  is_matrix ? c.name() : std::string_view());
  if (!is_matrix) loss = c(kReshape, {loss, outer_sizes(c, x)}, {}, c.name());
  return c.cast(loss, p.logits.dtype());
}

void define_softmax_cross_entropy_with_logits(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.softmax_cross_entropy_with_logits",
      .scope = "softmax_cross_entropy_with_logits",
      .types = {{"T", kFloatTypes}},
      .summary = "-sum(labels * log_softmax(logits)) along an axis; half and bfloat16 are computed "
                 "in float32.",
      .returns = "The losses, in the dtype of logits; its shape without the axis.",
      .raises = {{"InvalidArgumentError", "The shapes differ, or there is no such axis."}},
      .source = "OpDef \"SoftmaxCrossEntropyWithLogits\"",
      .body = softmax_cross_entropy,
  });
}

struct SparseSoftmaxCrossEntropyParameters {
  Tensor labels, logits;
  static constexpr auto fields() {
    using P = SparseSoftmaxCrossEntropyParameters;
    return std::tuple(required_field("labels", &P::labels, "any", "int32 or int64, shape [...]."),
                      required_field("logits", &P::logits, "T", "Scores, shape [..., classes]."));
  }
};

// The error if labels and logits are known not to fit.
Status check_shapes(const Shape& labels, const Shape& logits) {
  if (!logits.has_rank()) return {};
  if (logits.rank() == 0) return value_error("`logits` cannot be a scalar.");
  if (!labels.has_rank()) return {};
  if (labels.rank() != logits.rank() - 1) {
    return value_error(
        "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
        "labels.shape=",
        labels.to_text(), " of rank ", labels.rank(), " and logits.shape=", logits.to_text(),
        " of rank ", logits.rank());
  }
  Shape batch = logits;
  batch.erase(batch.rank() - 1);
  if (!batch.is_fully_known() || !labels.is_fully_known() || batch == labels) return {};
  return value_error(
      "`labels.shape` must equal `logits.shape` except for the last dimension. "
      "Received: labels.shape=",
      labels.to_text(), " and logits.shape=", logits.to_text());
}

Outputs sparse_softmax_cross_entropy(FunctionContext& c,
                                     const SparseSoftmaxCrossEntropyParameters& p) {
  if (Status status = check_shapes(p.labels.shape(), p.logits.shape()); !status.ok()) {
    return c.fail(std::move(status));
  }
  const Tensor x = c.wide(p.logits);
  if (c.rank_if_known(x) == 2) {
    const Tensor loss = c(kSparseSoftmaxCrossEntropyWithLogits, {x, p.labels}, {}, c.name());
    return c.cast(loss, p.logits.dtype());
  }
  const Tensor flat = c(kReshape, {p.labels, c.vector(kLast)});
  const Tensor loss = c(kSparseSoftmaxCrossEntropyWithLogits, {as_matrix(c, x), flat});
  const auto sizes = c.sizes_if_known(p.labels);
  const Tensor shape = sizes ? c.vector({sizes->data(), sizes->size()}) : c(kShape, {p.labels});
  return c.cast(c(kReshape, {loss, shape}, {}, c.name()), p.logits.dtype());
}

void define_sparse_softmax_cross_entropy_with_logits(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.sparse_softmax_cross_entropy_with_logits",
      .scope = "SparseSoftmaxCrossEntropyWithLogits",
      .types = {{"T", kFloatTypes}},
      .summary = "-log_softmax(logits) at the label, along the last axis; half and bfloat16 are "
                 "computed in float32.",
      .returns = "The losses, in the dtype of logits and the shape of labels.",
      .raises = {{"ValueError", "The shapes do not fit."},
                 {"InvalidArgumentError", "A label is no class."}},
      .source = "OpDef \"SparseSoftmaxCrossEntropyWithLogits\"",
      .body = sparse_softmax_cross_entropy,
  });
}

constexpr std::string_view kProbabilitiesDoc = "Probabilities, of the shape and dtype of logits.";
constexpr std::string_view kLogitsDoc = "Scores: log(p / (1 - p)).";

struct SigmoidCrossEntropyParameters {
  Tensor labels, logits;
  static constexpr auto fields() {
    using P = SigmoidCrossEntropyParameters;
    return std::tuple(field("labels", &P::labels, "any", kProbabilitiesDoc),
                      field("logits", &P::logits, "any", kLogitsDoc));
  }
};

Status check_same_shape(std::string_view names, const Tensor& x, const Tensor& other) {
  if (are_compatible(x.shape(), other.shape())) return {};
  return value_error(names, " must have the same shape, received (", x.shape().to_text(), " vs ",
                     other.shape().to_text(), ").");
}

Outputs sigmoid_cross_entropy(FunctionContext& c, const SigmoidCrossEntropyParameters& p) {
  if (!p.labels || !p.logits) {
    return c.fail(
        value_error("Both `labels` and `logits` must be provided for "
                    "sigmoid_cross_entropy_with_logits"));
  }
  Status status = check_same_shape("`logits` and `labels`", p.logits, p.labels);
  if (!status.ok()) return c.fail(std::move(status));
  // max(x, 0) - x p + log(1 + exp(-|x|)). Conditions instead of max and abs give gradients at 0.
  Formula x = c(p.logits), zero = constant_like(x, 0);
  const Tensor is_positive = c(kGreaterEqual, {x, zero});
  Formula positive = c(c(kSelectV2, {is_positive, x, zero}));
  Formula minus_size = c(c(kSelectV2, {is_positive, -x, x}));
  return c(kAddV2, {positive - x * c(p.labels), call(kLog1p, call(kExp, minus_size))}, {},
           c.name());
}

void define_sigmoid_cross_entropy_with_logits(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.sigmoid_cross_entropy_with_logits",
      .scope = "logistic_loss",
      .summary = "The cross entropy of independent probabilities, without overflow.",
      .returns = "The losses, element by element.",
      .raises = {{"ValueError", "The shapes differ, or one is missing."}},
      .body = sigmoid_cross_entropy,
  });
}

struct WeightedCrossEntropyParameters {
  Tensor labels, logits;
  Number pos_weight;
  static constexpr auto fields() {
    using P = WeightedCrossEntropyParameters;
    return std::tuple(required_field("labels", &P::labels, "any", kProbabilitiesDoc),
                      required_field("logits", &P::logits, "any", kLogitsDoc),
                      required_field("pos_weight", &P::pos_weight,
                                     "How much what is labelled 1 counts; broadcasts to logits."));
  }
};

Outputs weighted_cross_entropy(FunctionContext& c, const WeightedCrossEntropyParameters& p) {
  Status status = check_same_shape("`logits` and `labels`", p.logits, p.labels);
  if (!status.ok()) return c.fail(std::move(status));
  Formula x = c(p.logits), labels = c(p.labels);
  const auto& [number, tensor, is_list] = p.pos_weight;
  if (is_list || (!number && !tensor) || (number && is_integer(labels.dtype()))) {
    return c.fail(type_error("pos_weight must be a number or a tensor, and labels floats"));
  }
  // A number is computed with as a double before it takes the dtype.
  Formula less_one =
      number ? constant_like(labels, *number - 1) : c.cast(tensor, labels.dtype()) - 1.0;
  Formula weight = less_one * labels + 1.0;
  // log(1 + exp(-x)), without overflow on either side.
  Formula softened = call(kLog1p, call(kExp, -call(kAbs, x))) + call(kRelu, -x);
  return c(kAddV2, {(1.0 - labels) * x, weight * softened}, {}, c.name());
}

constexpr Raised kShapesDiffer = {"ValueError", "The shapes differ."};

void define_weighted_cross_entropy_with_logits(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.weighted_cross_entropy_with_logits",
      .scope = "logistic_loss",
      .summary = "The cross entropy of independent probabilities, in which those of 1 count more "
                 "or less.",
      .returns = "The losses, element by element.",
      .raises = {kShapesDiffer},
      .body = weighted_cross_entropy,
  });
}

struct AverageLossParameters {
  Tensor per_example_loss, sample_weight, global_batch_size;
  static constexpr auto fields() {
    using P = AverageLossParameters;
    return std::tuple(
        required_field("per_example_loss", &P::per_example_loss, "any", "Losses, [batch, ...]."),
        field("sample_weight", &P::sample_weight, "any or None",
              "How much each counts, with one axis less, one more, or broadcast; None means 1."),
        field("global_batch_size", &P::global_batch_size, "any or None",
              "What their sum is divided by; None means their first size."));
  }
};

// The weights with their last axis dropped or one added, if their rank differs by one from that of
// the losses. The ranks are not both known.
Tensor with_axes_of(FunctionContext& c, const Tensor& weights, const Tensor& losses) {
  Formula rank = c(c(kRank, {losses})), own = c(c(kRank, {weights}));
  Formula differ_by_one = call(kEqual, call(kAbs, own - rank), constant_like(rank, 1));
  Formula is_list = call(kGreater, own, constant_like(own, 0));
  const Tensor adapts = call(kLogicalAnd, differ_by_one, is_list);
  const Tensor count = c(kExpandDims, {c(kSelectV2, {adapts, rank, own}), c.scalar(0)});
  constexpr int64_t kOne[] = {1};
  const Tensor sizes = joined(c, c(kShape, {weights}), c.vector(kOne));
  return c(kReshape, {weights, elements_between(c, sizes, c.vector(kFirst), count)});
}

// The losses times weights, in float32.
Formula weighted_losses(FunctionContext& c, const Tensor& losses, const Tensor& weights) {
  Formula scaled = c.cast(losses, DType::kFloat32), by = c.cast(weights, DType::kFloat32);
  const auto rank = c.rank_if_known(losses), own = c.rank_if_known(weights);
  if (own == 0) return scaled * by;
  if (!rank || !own) return scaled * c(with_axes_of(c, by, losses));
  if (*own - *rank == 1) by = call(kSqueeze, by, {.squeeze_dims = {-1}});
  if (*rank - *own == 1) by = call(kExpandDims, by, c(c.scalar(-1)));
  return scaled * by;
}

Outputs compute_average_loss(FunctionContext& c, const AverageLossParameters& p) {
  const DType dtype = p.per_example_loss.dtype();
  if (c.rank_if_known(p.per_example_loss) == 0) {
    return c.fail(
        value_error("Invalid value passed for `per_example_loss`. Expected a tensor with "
                    "at least rank 1."));
  }
  Tensor losses = p.per_example_loss;
  if (p.sample_weight) losses = c.cast(weighted_losses(c, losses, p.sample_weight), dtype);
  Tensor count = p.global_batch_size;
  if (!count) {
    const auto size = c.size_if_known(losses, 0);
    count = size ? c.scalar(*size) : element_of(c, c(kShape, {losses}), 0);
  }
  if (!count) return count;  // after an error
  if (c.rank_if_known(count).value_or(0) != 0) {
    return c.fail(value_error("global_batch_size must be scalar."));
  }
  if (!is_integer(count.dtype())) {
    return c.fail(type_error("global_batch_size must be an integer."));
  }
  if (p.global_batch_size) {
    const Tensor data[] = {text_constant(c, "global_batch_size must be non-negative."), count};
    assert_later(c, c(kGreaterEqual, {count, c.zero(count.dtype())}), data, std::nullopt);
  }
  return c(kDivNoNan, {reduce(c, kSum, losses), c.cast(count, dtype)});
}

void define_compute_average_loss(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.compute_average_loss",
      .summary = "The sum of losses, divided by the size of the batch.",
      .details = "Weights make the losses float32 in between.",
      .returns = "A scalar of the dtype of the losses; 0 if the size is.",
      .raises = {{"ValueError", "The losses, or the size, have another rank."},
                 {"TypeError", "The size is no integer."},
                 {"InvalidArgumentError", "The size is negative."}},
      .body = compute_average_loss,
  });
}

struct RegularizationLossParameters {
  Tensor regularization_loss;
  static constexpr auto fields() {
    return std::tuple(required_field("regularization_loss",
                                     &RegularizationLossParameters::regularization_loss, "T",
                                     "Losses, of any shape."));
  }
};

struct PoissonLossParameters {
  Tensor targets, log_input;
  bool compute_full_loss = false;
  static constexpr auto fields() {
    using P = PoissonLossParameters;
    return std::tuple(
        required_field("targets", &P::targets, "any", "Counts, of the dtype of log_input."),
        required_field("log_input", &P::log_input, "any", "Logarithms of what is expected."),
        field("compute_full_loss", &P::compute_full_loss,
              "Add Stirling's approximation of log(targets!), 0 for targets of 0 to 1."));
  }
};

Outputs log_poisson_loss(FunctionContext& c, const PoissonLossParameters& p) {
  Status status = check_same_shape("`log_input` and `targets`", p.log_input, p.targets);
  if (!status.ok()) return c.fail(std::move(status));
  Formula x = c(p.log_input), targets = c(p.targets);
  Formula loss = call(kExp, x) - x * targets;
  if (!p.compute_full_loss) return loss;
  Formula root = 0.5 * call(kLog, 2 * std::numbers::pi * targets);
  Formula stirling = targets * call(kLog, targets) - targets + root;
  Formula zero = constant_like(targets, 0);
  const Tensor is_low = c(kLogicalAnd, {c(kGreaterEqual, {targets, zero}),
                                        c(kLessEqual, {targets, constant_like(targets, 1)})});
  return loss + c(c(kSelectV2, {is_low, zero, stirling}));
}

void define_scale_regularization_loss_and_log_poisson_loss(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.scale_regularization_loss",
      .types = {{"T", kFloatTypes}},
      .summary = "The sum of losses, divided by the number of replicas, which is 1.",
      .returns = "A scalar of the dtype of the losses.",
      .body =
          [](FunctionContext& c, const RegularizationLossParameters& p) {
            Formula sum = reduce(c, kSum, p.regularization_loss);
            return sum / constant_like(sum, 1);
          },
  });
  functions.define({
      .names = "nn.log_poisson_loss",
      .scope = "log_poisson_loss",
      .summary = "exp(log_input) - targets * log_input: the loss of counts, but for a constant.",
      .returns = "The losses, element by element.",
      .raises = {kShapesDiffer},
      .body = log_poisson_loss,
  });
}

}  // namespace

void define_losses(FunctionRegistry& functions) {
  define_softmax_cross_entropy_with_logits(functions);
  define_sparse_softmax_cross_entropy_with_logits(functions);
  define_sigmoid_cross_entropy_with_logits(functions);
  define_weighted_cross_entropy_with_logits(functions);
  define_compute_average_loss(functions);
  define_scale_regularization_loss_and_log_poisson_loss(functions);
}

}  // namespace graven::engine
