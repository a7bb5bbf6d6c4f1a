#include <cmath>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

// --- L2Loss.

Scalar square(Scalar x) { return x * x; }

Scalar half_of(Scalar sum, Scalar) { return sum * 0.5; }

void batch_l2_loss(BatchContext& c) {
  const auto rank = c.rank(0);
  if (!rank) return c.use_loop();
  std::vector<int32_t> axes;
  for (int d = 1; d <= *rank; ++d) axes.push_back(d);
  const Formula x(c, c.x(0));
  c.set_y(0, 0.5 * Formula(c, c(kSum, {call(kSquare, x), int32_vector(c, axes)})));
}

void define_l2_loss(OpRegistry& ops) {
  ops.define(kL2Loss, {
                          .name = "L2Loss",
                          .python = "nn.l2_loss",
                          .summary = "Half the sum of the squares of all elements.",
                          .inputs = {"t: T"},
                          .outputs = {"output: T"},
                          .types = {{"T", kFloatTypes}},
                          .infer = scalar_output,
                          .gradient =
                              [](GradientContext& c) {
                                c.set_dx(0, Formula(c, c.x(0)) * Formula(c, c.dy()));
                              },
                          .batch = batch_l2_loss,
                          .body = reduction({.identity = zero_like,
                                             .combine = [](Scalar a, Scalar b) { return a + b; },
                                             .prepare = square,
                                             .finish = half_of}),
                      });
}

// --- InTopKV2.

Status in_top_k_shape(InferContext& c) {
  const Shape &predictions = c.shape(0), &targets = c.shape(1), &k = c.shape(2);
  if (predictions.has_rank() && predictions.rank() != 2) {
    return invalid_argument("predictions must be 2-dimensional, got shape ",
                            predictions.to_message());
  }
  if (targets.has_rank() && targets.rank() != 1) {
    return invalid_argument("targets must be 1-dimensional, got shape ", targets.to_message());
  }
  if (k.has_rank() && k.rank() != 0) {
    return invalid_argument("k must be a scalar, got shape ", k.to_message());
  }
  auto rows = c.merge(predictions.has_rank() ? predictions[0] : Dim::unknown(),
                      targets.has_rank() ? targets[0] : Dim::unknown());
  if (!rows.ok()) {
    return invalid_argument("First dimension of predictions ", predictions[0].number(),
                            " must match length of targets ", targets[0].number());
  }
  c.set_shape(0, {*rows});
  return {};
}

// False also for a target out of range and for a prediction that is not finite.
bool is_in_top(std::span<const float> predictions, int64_t target, int64_t k) {
  if (target < 0 || target >= static_cast<int64_t>(predictions.size())) return false;
  if (!std::isfinite(predictions[target])) return false;
  int64_t num_better = 0;
  for (float prediction : predictions) {
    num_better += prediction > predictions[target];
    if (!std::isfinite(prediction) || num_better >= k) return false;
  }
  return num_better < k;
}

Status in_top_k_kernel(KernelContext& c) {
  const Tensor &predictions = c.input(0), &targets = c.input(1);
  const int64_t columns = predictions.shape().size(1), k = integer_at(c.input(2), 0);
  for_ranges(targets.num_elements(), (1 << 15) / std::max<int64_t>(columns, 1),
             [&](int64_t begin, int64_t end) {
               for (int64_t row = begin; row < end; ++row) {
                 c.out<bool>(0)[row] =
                     is_in_top(predictions.data<float>().subspan(row * columns, columns),
                               integer_at(targets, row), k);
               }
             });
  return {};
}

void define_in_top_kv2(OpRegistry& ops) {
  ops.define(kInTopKV2,
             {
                 .name = "InTopKV2",
                 .summary = "Whether the target of each row is among the k largest predictions. "
                            "Targets that equal the k-th are; false if a prediction is not finite "
                            "or the target is no column.",
                 .inputs = {"predictions: float32", "targets: T", "k: T"},
                 .outputs = {"precision: bool"},
                 .types = {{"T", kIndexTypes}},
                 .infer = in_top_k_shape,
                 .gradient = not_differentiable,
                 .batch = batch_by_folding<0, 1>,
                 .body = kernel(in_top_k_kernel),
             });
}

}  // namespace

void define_loss_ops(OpRegistry& ops) {
  define_l2_loss(ops);
  define_in_top_kv2(ops);
}

}  // namespace graven::engine
