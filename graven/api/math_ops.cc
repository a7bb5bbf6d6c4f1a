#include "graven/api/math_ops.h"

#include <algorithm>

#include "graven/api/apply.h"
#include "graven/api/array_ops.h"
#include "graven/api/compose.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"

namespace graven {
namespace {

using internal::apply;
using internal::at;

Tensor reduce(const engine::OpHandle<engine::ReductionAttrs>& op, const Operand& x,
              const Axes& axis, bool keepdims) {
  Tensor input = x.as_tensor();
  Tensor axes = axis.as_tensor(input, x.location());
  return apply(op, {at(input, x.location()), at(axes, x.location())}, {.keep_dims = keepdims});
}

}  // namespace

// --- Reductions.

Tensor reduce_sum(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kSum, x, axis, keepdims);
}
Tensor reduce_mean(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kMean, x, axis, keepdims);
}
Tensor reduce_prod(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kProd, x, axis, keepdims);
}
Tensor reduce_max(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kMax, x, axis, keepdims);
}
Tensor reduce_min(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kMin, x, axis, keepdims);
}
Tensor reduce_any(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kAny, x, axis, keepdims);
}
Tensor reduce_all(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kAll, x, axis, keepdims);
}

Tensor argmax(const Operand& input, int axis, DType output_type) {
  return apply(engine::kArgMax, {input, Operand(axis, input.location())},
               {.output_type = output_type});
}
Tensor argmin(const Operand& input, int axis, DType output_type) {
  return apply(engine::kArgMin, {input, Operand(axis, input.location())},
               {.output_type = output_type});
}

// --- Mathematics.

Tensor matmul(const Operand& a, const Operand& b, bool transpose_a, bool transpose_b,
              bool adjoint_a, bool adjoint_b) {
  const Here& location = a.location();
  if ((transpose_a && adjoint_a) || (transpose_b && adjoint_b)) {
    throw_error(engine::value_error("Only one of `transpose_a` and `adjoint_a`, and of "
                                    "`transpose_b` and `adjoint_b`, can be true"),
                location);
  }
  Tensor x = a.as_tensor(b.dtype()), y = b.as_tensor(a.dtype());
  auto may_be_matrix = [](const Tensor& t) {
    return t.is_none() || !t.shape().has_rank() || t.rank() == 2;
  };
  auto conjugate = [&](const Tensor& t) {
    return engine::is_complex(t.dtype()) ? apply(engine::kConj, {at(t, location)}) : t;
  };
  bool one_known = (!x.is_none() && x.shape().has_rank()) || (!y.is_none() && y.shape().has_rank());
  if (may_be_matrix(x) && may_be_matrix(y) && one_known) {
    if (adjoint_a) x = conjugate(x);
    if (adjoint_b) y = conjugate(y);
    return apply(
        engine::kMatMul, {at(x, location), at(y, location)},
        {.transpose_a = transpose_a || adjoint_a, .transpose_b = transpose_b || adjoint_b});
  }
  if (transpose_a) x = conjugate(x);
  if (transpose_b) y = conjugate(y);
  return apply(engine::kBatchMatMulV2, {at(x, location), at(y, location)},
               {.adj_x = transpose_a || adjoint_a, .adj_y = transpose_b || adjoint_b}, "MatMul");
}

Tensor add(const Operand& x, const Operand& y) { return x + y; }
Tensor divide(const Operand& x, const Operand& y) { return x / y; }

Tensor abs(const Operand& x) {
  if (!engine::is_complex(x.dtype())) return apply(engine::kAbs, {x});
  return apply(engine::kComplexAbs, {x}, {.Tout = engine::real_part_type(x.dtype())});
}

Tensor equal(const Operand& x, const Operand& y) { return apply(engine::kEqual, {x, y}); }
Tensor not_equal(const Operand& x, const Operand& y) { return apply(engine::kNotEqual, {x, y}); }

Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                     const Operand& clip_value_max) {
  Tensor below = apply(engine::kMinimum, {t, clip_value_max});
  return apply(engine::kMaximum, {at(below, t.location()), clip_value_min});
}

}  // namespace graven
