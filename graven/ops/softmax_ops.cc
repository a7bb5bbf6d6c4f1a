#include <array>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/row_kernels.h"
#include "graven/ops/structural_ops.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

using Scalars = std::span<const Scalar>;

// --- Rows. The largest element is taken off first, so that no exponential overflows. half and
// bfloat16 are computed in float32 and rounded once.

struct ShiftedRows {
  RowsRecorder::Value x, largest, exponential, sum;
};
ShiftedRows shifted_rows(RowsRecorder& rows, DType dtype) {
  ShiftedRows r;
  r.x = rows.input(dtype);
  r.largest = rows.max({r.x}, [](Scalars x) { return computed_float(x[0]); });
  r.exponential =
      rows.map({r.x, r.largest}, [](Scalars x) { return exp(computed_float(x[0]) - x[1]); });
  r.sum = rows.sum({r.exponential}, [](Scalars x) { return x[0]; });
  return r;
}

Result<RowsExpression> softmax_rows(std::span<const DType> dtypes, AttrsRef) {
  const DType dtype = dtypes[0];
  RowsRecorder rows;
  ShiftedRows r = shifted_rows(rows, dtype);
  auto factor = rows.map({r.sum}, [](Scalars x) { return 1 / x[0]; });
  return rows.finish(
      {rows.map({r.exponential, factor}, [=](Scalars x) { return cast(x[0] * x[1], dtype); })});
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

// The softmax, and of each row the largest element and the logarithm of the sum.
Result<RowsExpression> sparse_cross_entropy_rows(DType dtype) {
  RowsRecorder rows;
  ShiftedRows r = shifted_rows(rows, dtype);
  auto factor = rows.map({r.sum}, [](Scalars x) { return 1 / x[0]; });
  auto log_of_sum = rows.map({r.sum}, [](Scalars x) { return log(x[0]); });
  auto softmax =
      rows.map({r.exponential, factor}, [=](Scalars x) { return cast(x[0] * x[1], dtype); });
  return rows.finish({softmax, r.largest, log_of_sum});
}

// The loss and its gradient. A label of 0 costs nothing, even where the logit is infinite.
Result<RowsExpression> cross_entropy_rows(DType dtype) {
  RowsRecorder rows;
  ShiftedRows r = shifted_rows(rows, dtype);
  auto labels = rows.input(dtype);
  auto factor = rows.map({r.sum}, [](Scalars x) { return 1 / x[0]; });
  auto log_of_sum = rows.map({r.sum}, [](Scalars x) { return log(x[0]); });
  auto loss = rows.sum({r.x, r.largest, log_of_sum, labels}, [](Scalars x) {
    Scalar label = computed_float(x[3]);
    return select(label == 0, zero_like(label), label * (x[2] - (computed_float(x[0]) - x[1])));
  });
  return rows.finish({rows.map({loss}, [=](Scalars x) { return cast(x[0], dtype); }),
                      rows.map({r.exponential, factor, labels}, [=](Scalars x) {
                        return cast(x[0] * x[1] - computed_float(x[2]), dtype);
                      })});
}

// --- Softmax and LogSoftmax.

Status at_least_a_vector(InferContext& c) {
  if (c.shape(0).has_rank() && c.shape(0).rank() == 0) {
    return invalid_argument("logits must have >= 1 dimension, got ", c.shape(0).to_message());
  }
  return same_as_input(c);
}

// The sum over the last axis, which is kept.
Formula sum_of_rows(GradientContext& c, const Formula& x) {
  const int32_t last[] = {-1};
  return {c, c(kSum, {x, int32_vector(c, last)}, {.keep_dims = true})};
}

void softmax_gradient(GradientContext& c) {
  Formula y(c, c.y(0)), dy(c, c.dy());
  c.set_dx(0, (dy - sum_of_rows(c, dy * y)) * y);
}

void log_softmax_gradient(GradientContext& c) {
  Formula y(c, c.y(0)), dy(c, c.dy());
  c.set_dx(0, dy - sum_of_rows(c, dy) * call(kExp, y));
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

Status check_labels(const Tensor& labels, int64_t num_classes) {
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    const int64_t label = integer_at(labels, i);
    if (label >= 0 && label < num_classes) continue;
    std::string all;
    constexpr int64_t kMaxShown = 100;
    for (int64_t k = 0; k < std::min(kMaxShown, labels.num_elements()); ++k) {
      all += str_cat(k ? " " : "", integer_at(labels, k));
    }
    if (labels.num_elements() > kMaxShown) all += " ...";
    return invalid_argument("Received a label value of ", label,
                            " which is outside the valid range of [0, ", num_classes,
                            ").  Label values: ", all);
  }
  return {};
}

Status sparse_cross_entropy_kernel(KernelContext& c) {
  const Tensor &logits = c.input(0), &labels = c.input(1);
  const int64_t rows = logits.shape().size(0), columns = logits.shape().size(1);
  if (columns == 0) {
    return invalid_argument("Must have at least one class, but got logits shape ",
                            logits.shape().to_message());
  }
  RETURN_IF_ERROR(check_labels(labels, columns));
  const auto& program = rows_of<sparse_cross_entropy_rows>(logits.dtype());
  RETURN_IF_ERROR(program.status());
  const DType computing = computing_type(logits.dtype());
  ASSIGN_OR_RETURN(Tensor largest, Tensor::allocate(computing, {rows}));
  ASSIGN_OR_RETURN(Tensor log_of_sum, Tensor::allocate(computing, {rows}));
  const void* input = logits.raw_data();
  void* outputs[] = {c.output(1).mutable_raw_data(), largest.mutable_raw_data(),
                     log_of_sum.mutable_raw_data()};
  RETURN_IF_ERROR(run_rows(**program, rows, columns, {&input, 1}, outputs));
  visit_plain(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kFloatTypes.contains(kDTypeOf<T>)) {
      using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const F *most = largest.data<F>().data(), *log_sum = log_of_sum.data<F>().data();
      const T* x = logits.data<T>().data();
      T *loss = c.out<T>(0).data(), *backprop = c.out<T>(1).data();
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t at = row * columns + integer_at(labels, row);
        loss[row] = T(log_sum[row] - (static_cast<F>(x[at]) - most[row]));
        backprop[at] = T(static_cast<F>(backprop[at]) - F(1));
      }
    }
  });
  return {};
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

// Input i, broadcast to the shape.
Result<Tensor> broadcast_input(KernelContext& c, int i, const Shape& shape) {
  const Tensor& x = c.input(i);
  if (x.shape() == shape) return x;
  const int64_t sizes[] = {shape.size(0), shape.size(1)};
  Tensor inputs[] = {x, Tensor::vector(std::span<const int64_t>(sizes))};
  Tensors outputs;
  RETURN_IF_ERROR(run_op(*kBroadcastTo, {}, inputs, /*reusable=*/0, /*state=*/nullptr, outputs,
                         c.queue().device().name()));
  return outputs[0];
}

Status cross_entropy_kernel(KernelContext& c) {
  const Shape& shape = c.output(1).shape();
  const auto& program = rows_of<cross_entropy_rows>(c.input(0).dtype());
  RETURN_IF_ERROR(program.status());
  ASSIGN_OR_RETURN(Tensor logits, broadcast_input(c, 0, shape));
  ASSIGN_OR_RETURN(Tensor labels, broadcast_input(c, 1, shape));
  const void* inputs[] = {logits.raw_data(), labels.raw_data()};
  void* outputs[] = {c.output(0).mutable_raw_data(), c.output(1).mutable_raw_data()};
  return run_rows(**program, shape.size(0), shape.size(1), inputs, outputs);
}

// A vector as a column.
Formula column(GradientContext& c, const Formula& x) {
  const int32_t shape[] = {-1, 1};
  return {c, c(kReshape, {x, int32_vector(c, shape)})};
}

// What comes in for the loss is multiplied with the second output, softmax - labels, which is the
// derivative; what comes in for that output goes through the softmax.
Formula logits_gradient(GradientContext& c) {
  Formula dx = column(c, Formula(c, c.dy(0))) * Formula(c, c.y(1));
  if (!c.has_dy(1)) return dx;
  Formula softmax = call(kSoftmax, Formula(c, c.x(0))), d_backprop(c, c.dy(1));
  return dx + (d_backprop - sum_of_rows(c, d_backprop * softmax)) * softmax;
}

void sparse_cross_entropy_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, logits_gradient(c));
}

void cross_entropy_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, reduce_to_shape(c, logits_gradient(c), 0));
  if (!c.wants(1)) return;
  Formula dx = -column(c, Formula(c, c.dy(0))) * call(kLogSoftmax, Formula(c, c.x(0)));
  c.set_dx(1, reduce_to_shape(c, c.has_dy(1) ? dx - Formula(c, c.dy(1)) : dx, 1));
}

}  // namespace

void define_softmax_ops(OpRegistry& ops) {
  ops.define(kSoftmax, {
                           .name = "Softmax",
                           .summary = "exp(logits) / sum(exp(logits)) over the last axis.",
                           .inputs = {"logits: T"},
                           .outputs = {"softmax: T"},
                           .types = {{"T", kFloatTypes}},
                           .infer = at_least_a_vector,
                           .gradient = softmax_gradient,
                           .body = rows(softmax_rows),
                       });
  ops.define(kLogSoftmax, {
                              .name = "LogSoftmax",
                              .summary = "logits - log(sum(exp(logits))) over the last axis.",
                              .inputs = {"logits: T"},
                              .outputs = {"logsoftmax: T"},
                              .types = {{"T", kFloatTypes}},
                              .infer = at_least_a_vector,
                              .gradient = log_softmax_gradient,
                              .body = rows(log_softmax_rows),
                          });
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
                 .body = kernel(cross_entropy_kernel),
             });
  ops.define(kSparseSoftmaxCrossEntropyWithLogits,
             {
                 .name = "SparseSoftmaxCrossEntropyWithLogits",
                 .summary = "For each row minus the logarithm of its label's element in the "
                            "softmax of the features; and the gradient. Labels are class numbers.",
                 .inputs = {"features: T", "labels: Tlabels"},
                 .outputs = {"loss: T", "backprop: T"},
                 .types = {{"T", kFloatTypes}, {"Tlabels", kIndexTypes}},
                 .infer = sparse_cross_entropy_shape,
                 .gradient = sparse_cross_entropy_gradient,
                 .body = kernel(sparse_cross_entropy_kernel),
             });
}

}  // namespace graven::engine
