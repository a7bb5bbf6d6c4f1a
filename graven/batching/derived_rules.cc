#include "graven/batching/derived_rules.h"

#include <utility>

#include "graven/ir/batch_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {
namespace {

void batch_elementwise(BatchContext& c) {
  if (c.num_inputs() == 1) return batch_any_shape(c);
  if (c.op().record().infer == same_shapes) return batch_leading_axes(c);
  batch_broadcasting(c);
}

void batch_reduction(BatchContext& c) {
  if (c.num_inputs() < 2 || c.is_batched(1)) return c.use_loop();
  const Tensor one = c.constant(c.dtype(1) == DType::kInt64 ? Tensor::scalar<int64_t>(1)
                                                            : Tensor::scalar<int32_t>(1));
  const Tensor minus_one = c.constant(c.dtype(1) == DType::kInt64 ? Tensor::scalar<int64_t>(-1)
                                                                  : Tensor::scalar<int32_t>(-1));
  // Axes that count from the end stay.
  Tensor axes;
  if (const auto known = c.integers(1)) {
    std::vector<int64_t> moved = *known;
    for (int64_t& axis : moved) axis += axis >= 0 ? 1 : 0;
    const std::vector<int32_t> narrow(moved.begin(), moved.end());
    const Tensor vector = c.dtype(1) == DType::kInt64
                              ? Tensor::vector(std::span<const int64_t>(moved))
                              : Tensor::vector(std::span<const int32_t>(narrow));
    axes = c.constant(c.value(1).shape().rank() == 0 ? vector.with_shape(Shape()) : vector);
  } else {
    const Tensor counts_from_start = c(kGreater, {c.x(1), minus_one});
    axes = c(kAddV2, {c.x(1), c(kCast, {counts_from_start}, {.DstT = c.dtype(1)})});
  }
  const Tensor inputs[] = {c.x(0), axes};
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  if (!made.empty()) c.set_y(0, made[0]);
}

}  // namespace

BatchFunction batch_rule_of(const Op& op) {
  if (op.record().batch) return op.record().batch;
  // A kernel that stands in for such a body, as for strings, does the same.
  switch (op.record().body.kind()) {
    case OpBody::Kind::kElementwise:
      return batch_elementwise;
    case OpBody::Kind::kReduction:
      return batch_reduction;
    case OpBody::Kind::kRows:
      return batch_leading_axes;
    case OpBody::Kind::kNone:
    case OpBody::Kind::kKernel:
    case OpBody::Kind::kComposite:  // expanded before
      break;
  }
  return nullptr;
}

}  // namespace graven::engine
