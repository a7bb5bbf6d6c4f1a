#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "graven/base/strings.h"
#include "graven/ir/emitter.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

// The sum over the last axis, which is kept.
Formula sum_of_rows(Emitter& c, const Formula& x) {
  const int32_t last[] = {-1};
  return {c, c(kSum, {x, int32_vector(c, last)}, {.keep_dims = true})};
}

using Scalars = std::span<const Scalar>;

// --- Rows. The largest element is taken off first, so that no exponential overflows. half and
// bfloat16 are computed in float32 and rounded once.

Result<RowsExpression> softmax_rows(std::span<const DType> dtypes, AttrsRef) {
  const DType dtype = dtypes[0];
  RowsRecorder rows;
  auto x = rows.input(dtype);
  auto largest = rows.max({x}, [](Scalars x) { return computed_float(x[0]); });
  auto exponential =
      rows.map({x, largest}, [](Scalars x) { return exp(computed_float(x[0]) - x[1]); });
  auto sum = rows.sum({exponential}, [](Scalars x) { return x[0]; });
  auto factor = rows.map({sum}, [](Scalars x) { return 1 / x[0]; });
  return rows.finish(
      {rows.map({exponential, factor}, [=](Scalars x) { return cast(x[0] * x[1], dtype); })});
}

// --- Softmax and LogSoftmax.

Status at_least_a_vector(InferContext& c) {
  if (c.shape(0).has_rank() && c.shape(0).rank() == 0) {
    return invalid_argument("logits must have >= 1 dimension, got ", c.shape(0).to_message());
  }
  return same_as_input(c);
}

void define_softmax(OpRegistry& ops) {
  ops.define(kSoftmax, {
                           .name = "Softmax",
                           .summary = "exp(logits) / sum(exp(logits)) over the last axis.",
                           .inputs = {"logits: T"},
                           .outputs = {"softmax: T"},
                           .types = {{"T", kFloatTypes}},
                           .infer = at_least_a_vector,
                           .gradient =
                               [](GradientContext& c) {
                                 Formula y(c, c.y(0)), dy(c, c.dy());
                                 c.set_dx(0, (dy - sum_of_rows(c, dy * y)) * y);
                               },
                           .body = rows(softmax_rows),
                       });
}

Result<RowsExpression> log_softmax_rows(std::span<const DType> dtypes, AttrsRef) {
  const DType dtype = dtypes[0];
  RowsRecorder rows;
  auto x = rows.input(dtype);
  auto largest = rows.max({x}, [](Scalars x) { return computed_float(x[0]); });
  auto sum = rows.sum({x, largest}, [](Scalars x) { return exp(computed_float(x[0]) - x[1]); });
  auto log_of_sum = rows.map({sum}, [](Scalars x) { return log(x[0]); });
  return rows.finish({rows.map({x, largest, log_of_sum}, [=](Scalars x) {
    return cast((computed_float(x[0]) - x[1]) - x[2], dtype);
  })});
}

void define_log_softmax(OpRegistry& ops) {
  ops.define(kLogSoftmax, {
                              .name = "LogSoftmax",
                              .summary = "logits - log(sum(exp(logits))) over the last axis.",
                              .inputs = {"logits: T"},
                              .outputs = {"logsoftmax: T"},
                              .types = {{"T", kFloatTypes}},
                              .infer = at_least_a_vector,
                              .gradient =
                                  [](GradientContext& c) {
                                    Formula y(c, c.y(0)), dy(c, c.dy());
                                    c.set_dx(0, dy - sum_of_rows(c, dy) * call(kExp, y));
                                  },
                              .body = rows(log_softmax_rows),
                          });
}

// Rows of logits minus their largest element, in the dtype of the computation.
struct ShiftedRows {
  ShiftedRows(CompositeContext& c, const Tensor& logits)
      : shifted(c, cast(c, logits, computing_type(logits.dtype()))) {
    const int32_t last[] = {-1};
    shifted = shifted - Formula(c, c(kMax, {shifted, int32_vector(c, last)}, {.keep_dims = true}));
    exponential = call(kExp, shifted);
    sum = sum_of_rows(c, exponential);
  }
  Formula softmax() const { return exponential * (constant_like(sum, 1) / sum); }
  Formula log_of_sum() const { return call(kLog, sum); }

  Formula shifted, exponential{shifted}, sum{shifted};
};

// A loss for each row, [rows, 1], as the vector that is returned.
Tensor loss_of_rows(CompositeContext& c, const Formula& loss, DType dtype) {
  return c(kSqueeze, {cast(c, loss, dtype)}, {.squeeze_dims = {1}});
}

Status cross_entropy_shape(InferContext& c) {
  const Shape &logits = c.shape(0), &labels = c.shape(1);
  auto both = c.broadcast(logits, labels);
  if (!both.ok()) {
    return invalid_argument("logits and labels must be broadcastable: logits_size=",
                            logits.to_message(), " labels_size=", labels.to_message());
  }
  Shape shape = *both;
  if (!shape.has_rank()) {
    shape = {Dim::unknown(), Dim::unknown()};
  } else if (shape.rank() != 2) {
    return invalid_argument(
        "logits and labels must be either 2-dimensional, or broadcasted to be "
        "2-dimensional, got shapes ",
        logits.to_message(), " and ", labels.to_message());
  }
  c.set_shape(0, {shape[0]});
  c.set_shape(1, shape);
  return {};
}

bool surely_equal_sizes(const Shape& a, const Shape& b) {
  return a.has_rank() && a == b &&
         std::ranges::none_of(a.dims(), [](Dim dim) { return dim.is_unknown(); });
}

// Whether two shapes surely broadcast to a matrix.
bool surely_make_matrix(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || std::max(a.rank(), b.rank()) != 2) return false;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const Dim m = a[a.rank() - i], n = b[b.rank() - i];
    if (!(m == Dim(1)) && !(n == Dim(1)) && (m.is_unknown() || !(m == n))) return false;
  }
  return true;
}

// A tensor, broadcast to the matrix that it makes with another.
Tensor broadcast_to_matrix(CompositeContext& c, const Tensor& x, const Tensor& other) {
  const Shape &shape = x.shape(), &with = other.shape();
  if (shape.rank() == 2 && (with.rank() < 2 || shape == with)) return x;
  const SizeList own = sizes_of(c, shape, [&] { return c(kShape, {x}); });
  const SizeList others = sizes_of(c, with, [&] { return c(kShape, {other}); });
  SizeList wanted;
  for (int i = 2; i > 0; --i) {
    const bool is_own = shape.rank() >= i && !(shape[shape.rank() - i] == Dim(1));
    const bool is_others = !is_own && with.rank() >= i;
    wanted.push_back(is_own      ? own[own.size() - static_cast<size_t>(i)]
                     : is_others ? others[others.size() - static_cast<size_t>(i)]
                                 : Size(1));
  }
  return c(kBroadcastTo, {x, vector_of(c, wanted)});
}

// A label of 0 costs nothing, even where the logit is infinite.
void cross_entropy(CompositeContext& c) {
  if (!surely_make_matrix(c.x(0).shape(), c.x(1).shape())) return c.stay_whole();
  const DType dtype = c.x(0).dtype();
  const ShiftedRows rows(c, broadcast_to_matrix(c, c.x(0), c.x(1)));
  const Formula labels(c, cast(c, c.x(1), rows.sum.dtype())), none = constant_like(labels, 0);
  const Formula costs = labels * (rows.log_of_sum() - rows.shifted);
  const Formula paid(c, c(kSelectV2, {call(kEqual, labels, none), none, costs}));
  c.set_output(loss_of_rows(c, sum_of_rows(c, paid), dtype));
  c.set_output(cast(c, rows.softmax() - labels, dtype));
}

// A vector as a column.
Formula column(GradientContext& c, const Formula& x) {
  const int32_t shape[] = {-1, 1};
  return {c, c(kReshape, {x, int32_vector(c, shape)})};
}

// The logits, broadcast to the matrix of the second output.
Formula whole_logits(GradientContext& c) {
  const Tensor &logits = c.x(0), &backprop = c.y(1);
  if (surely_equal_sizes(logits.shape(), backprop.shape())) return {c, logits};
  return {c, c(kBroadcastTo, {logits, c(kShape, {backprop})})};
}

// The incoming gradient of the loss is multiplied by its derivative, the second output softmax -
// labels. The incoming gradient of the second output goes through the softmax.
Formula logits_gradient(GradientContext& c) {
  Formula dx = column(c, Formula(c, c.dy(0))) * Formula(c, c.y(1));
  if (!c.has_dy(1)) return dx;
  Formula softmax = call(kSoftmax, whole_logits(c)), d_backprop(c, c.dy(1));
  return dx + (d_backprop - sum_of_rows(c, d_backprop * softmax)) * softmax;
}

void cross_entropy_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, reduce_to_shape(c, logits_gradient(c), 0));
  if (!c.wants(1)) return;
  Formula dx = -column(c, Formula(c, c.dy(0))) * call(kLogSoftmax, whole_logits(c));
  c.set_dx(1, reduce_to_shape(c, c.has_dy(1) ? dx - Formula(c, c.dy(1)) : dx, 1));
}

// Rows and their items as one axis, once both inputs have the same sizes.
void batch_cross_entropy(BatchContext& c) {
  const Shape features = c.row_shape(0), labels = c.row_shape(1);
  if (!features.has_rank() || !labels.has_rank()) return c.use_loop();
  if (features.rank() == 2 && surely_equal_sizes(features, labels)) {
    return batch_folding(c, {0, 1});
  }
  const Tensor x = c.aligned(0, 2), y = c.aligned(1, 2);
  if (c.uses_loop()) return;
  const Tensor shape = c(kBroadcastArgs, {c(kShape, {x}), c(kShape, {y})});
  const Size rows(element_of(c, shape, 0)), items(element_of(c, shape, 1)),
      classes(element_of(c, shape, 2));
  const Tensor flat = vector_of(c, SizeList{multiply(c, rows, items), classes});
  const Tensors made =
      c.apply(c.op(),
              std::vector<Tensor>{c(kReshape, {c(kBroadcastTo, {x, shape}), flat}),
                                  c(kReshape, {c(kBroadcastTo, {y, shape}), flat})},
              c.raw_attrs());
  if (made.empty()) return;
  c.set_y(0, c(kReshape, {made[0], vector_of(c, SizeList{rows, items})}));
  c.set_y(1, c(kReshape, {made[1], shape}));
}

void define_softmax_cross_entropy_with_logits(OpRegistry& ops) {
  ops.define(kSoftmaxCrossEntropyWithLogits,
             {
                 .name = "SoftmaxCrossEntropyWithLogits",
                 .summary = "For each row the cross entropy of its labels, a distribution, and the "
                            "softmax of its features; and softmax - labels, the gradient.",
                 .inputs = {"features: T", "labels: T"},
                 .outputs = {"loss: T", "backprop: T"},
                 .types = {{"T", kFloatTypes}},
                 .infer = cross_entropy_shape,
                 .gradient = cross_entropy_gradient,
                 .batch = batch_cross_entropy,
                 .body = composite(cross_entropy),
             });
}

// --- Cross entropies.

Status sparse_cross_entropy_shape(InferContext& c) {
  Shape logits = c.shape(0);
  const Shape& labels = c.shape(1);
  if (logits.has_rank() && logits.rank() != 2) {
    return invalid_argument("logits must be 2-D, but got shape ", logits.to_message());
  }
  if (labels.has_rank() && labels.rank() != 1) {
    return invalid_argument("labels must be 1-D, but got shape ", labels.to_message());
  }
  if (!logits.has_rank()) logits = {Dim::unknown(), Dim::unknown()};
  Dim batch = labels.has_rank() ? labels[0] : Dim::unknown();
  auto rows = c.merge(logits[0], batch);
  if (!rows.ok()) {
    return invalid_argument(
        "logits and labels must have the same first dimension, got logits "
        "shape ",
        logits.to_message(), " and labels shape ", labels.to_message(), ". ",
        rows.status().message());
  }
  logits.set(0, *rows);
  c.set_shape(0, {*rows});
  c.set_shape(1, logits);
  return {};
}

// So many classes have numbers that fit an int32, which are compared faster.
constexpr int64_t kMaxShort = std::numeric_limits<int32_t>::max();

// Labels are compared with the numbers of all classes, as nothing in a row is read by its number.
void sparse_cross_entropy(CompositeContext& c) {
  const Shape &logits = c.x(0).shape(), &labels = c.x(1).shape();
  const bool fit =
      logits.has_rank() && labels.has_rank() && !logits[0].is_unknown() && logits[0] == labels[0];
  if (!fit) return c.stay_whole();
  // Of known classes only their number is asked for, so that logits need not be there before.
  const int64_t known[] = {-1, logits[1].number_or_minus_one()};
  const Tensor shape = logits[1].is_number()
                           ? constant(c, Tensor::vector(std::span<const int64_t>(known)))
                           : c(kShape, {c.x(0)}, {DType::kInt64});
  const bool is_short = logits[1].is_number() && logits[1].number() <= kMaxShort;
  const ShapeAttrs out_type{is_short ? DType::kInt32 : c.x(1).dtype()};
  const Tensors checked = c.apply(*kCheckLabels, std::vector<Tensor>{c.x(1), shape}, out_type);
  if (checked.empty()) return;
  const Formula is_label = call(kEqual, Formula(c, checked[0]), Formula(c, checked[1]));
  const ShiftedRows rows(c, c.x(0));
  const Formula of_label(c, c(kSelectV2, {is_label, rows.shifted, constant_like(rows.shifted, 0)}));
  const DType dtype = c.x(0).dtype();
  c.set_output(loss_of_rows(c, rows.log_of_sum() - sum_of_rows(c, of_label), dtype));
  c.set_output(cast(c, rows.softmax() - Formula(c, cast(c, is_label, rows.sum.dtype())), dtype));
}

void define_sparse_softmax_cross_entropy_with_logits(OpRegistry& ops) {
  ops.define(kSparseSoftmaxCrossEntropyWithLogits,
             {
                 .name = "SparseSoftmaxCrossEntropyWithLogits",
                 .summary = "For each row minus the logarithm of its label's element in the "
                            "softmax of the features; and the gradient. Labels are class numbers.",
                 .inputs = {"features: T", "labels: Tlabels"},
                 .outputs = {"loss: T", "backprop: T"},
                 .types = {{"T", kFloatTypes}, {"Tlabels", kIndexTypes}},
                 .infer = sparse_cross_entropy_shape,
                 .gradient =
                     [](GradientContext& c) {
                       if (c.wants(0)) c.set_dx(0, logits_gradient(c));
                     },
                 .batch = batch_by_folding<0, 1>,
                 .body = composite(sparse_cross_entropy),
             });
}

// --- _CheckLabels.

Status check_labels_shape(InferContext& c) {
  const Shape& labels = c.shape(0);
  if (labels.has_rank() && labels.rank() != 1) {
    return invalid_argument("labels must be 1-D, but got shape ", labels.to_message());
  }
  if (auto fits = merge_shapes(c.shape(1), Shape{2}); !fits.ok()) {
    return invalid_argument("logits_shape must have 2 elements, got shape ",
                            c.shape(1).to_message());
  }
  const auto sizes = c.sizes(1);
  c.set_shape(0, {labels.has_rank() ? labels[0] : Dim::unknown(), 1});
  c.set_shape(1, {sizes ? (*sizes)[1] : Dim::unknown()});
  return {};
}

Status check_labels_kernel(KernelContext& c) {
  const Tensor& labels = c.input(0);
  const int64_t num_classes = integer_at(c.input(1), 1);
  // The user called another op.
  const std::string_view name = kSparseSoftmaxCrossEntropyWithLogits.op->name();
  if (num_classes <= 0) {
    return invalid_argument("[", name, "] Must have at least one class, but got logits shape [",
                            labels.num_elements(), ",", num_classes, "]");
  }
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    const int64_t label = integer_at(labels, i);
    if (label >= 0 && label < num_classes) continue;
    std::string all;
    constexpr int64_t kMaxShown = 100;
    for (int64_t k = 0; k < std::min(kMaxShown, labels.num_elements()); ++k) {
      all += str_cat(k ? " " : "", integer_at(labels, k));
    }
    if (labels.num_elements() > kMaxShown) all += " ...";
    return invalid_argument("[", name, "] Received a label value of ", label,
                            " which is outside the valid range of [0, ", num_classes,
                            ").  Label values: ", all);
  }
  const DType dtype = c.attrs<ShapeAttrs>().out_type;
  ASSIGN_OR_RETURN(Tensor column, Tensor::allocate(dtype, {labels.num_elements(), 1}));
  ASSIGN_OR_RETURN(Tensor classes, Tensor::allocate(dtype, {num_classes}));
  auto fill = [&](auto zero) {
    using T = decltype(zero);
    int64_t next = 0;
    for (T& label : column.mutable_data<T>()) label = static_cast<T>(integer_at(labels, next++));
    std::iota(classes.mutable_data<T>().begin(), classes.mutable_data<T>().end(), T());
  };
  dtype == DType::kInt32 ? fill(int32_t()) : fill(int64_t());
  c.set_output(0, std::move(column));
  c.set_output(1, std::move(classes));
  return {};
}

// The labels of all rows are checked at once.
void batch_check_labels(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  const int32_t flat[] = {-1};
  const Tensors made =
      c.apply(c.op(), std::vector<Tensor>{c(kReshape, {c.x(0), int32_vector(c, flat)}), c.x(1)},
              c.raw_attrs());
  if (made.empty()) return;
  const auto rows = c.num_rows_if_known();
  const Size items(element_of(c, row_sizes(c, 0), 0));
  const SizeList sizes = {rows ? Size(*rows) : Size(c.num_rows()), items, Size(1)};
  c.set_y(0, c(kReshape, {made[0], vector_of(c, sizes)}));
  c.set_y(1, made[1], false);
}

void define__check_labels(OpRegistry& ops) {
  ops.define(kCheckLabels,
             {
                 .name = "_CheckLabels",
                 .summary = "A part of SparseSoftmaxCrossEntropyWithLogits: labels that are "
                            "classes, as a column, and the numbers of all classes.",
                 .inputs = {"labels: T", "logits_shape: int64"},
                 .outputs = {"column: out_type", "classes: out_type"},
                 .types = {{"T", kIndexTypes}, {"out_type", kIndexTypes}},
                 .infer = check_labels_shape,
                 .gradient = not_differentiable,
                 .batch = batch_check_labels,
                 .body = kernel(check_labels_kernel),
                 .allocates_outputs = true,
                 .values_for_inference = {1},
             });
}

}  // namespace

void define_softmax_ops(OpRegistry& ops) {
  define_softmax(ops);
  define_log_softmax(ops);
  define_softmax_cross_entropy_with_logits(ops);
  define_sparse_softmax_cross_entropy_with_logits(ops);
  define__check_labels(ops);
}

}  // namespace graven::engine
