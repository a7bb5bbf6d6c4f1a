#include "graven/api/clip_ops.h"

#include <limits>

#include "graven/api/apply.h"
#include "graven/api/array_ops.h"
#include "graven/api/compose.h"
#include "graven/api/math_ops.h"
#include "graven/api/op_functions.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"

namespace graven {

using internal::apply;
using internal::Composite;

Tensor clip_by_norm(const Operand& t, const Operand& clip_norm, const Axes& axes) {
  Composite composite("clip_by_norm", t.location());
  Tensor values = t.as_tensor();
  Tensor squares = reduce_sum(values * values, axes, true);
  Tensor is_positive = squares > 0;
  // A root of 1 where the norm is 0, whose gradient would be NaN.
  Tensor root = apply(engine::kSqrt, {where(is_positive, squares, ones_like(squares))});
  Tensor norm = where(is_positive, root, squares);
  Tensor scaled = values * clip_norm;
  if (!engine::are_compatible(values.shape(), scaled.shape())) {
    throw_error(
        engine::value_error("clip_norm must broadcast to the shape of t, ",
                            values.shape().to_text(), ", but gives ", scaled.shape().to_text()),
        t.location());
  }
  return scaled / apply(engine::kMaximum, {norm, clip_norm});
}

IndexedSlices clip_by_norm(const IndexedSlices& t, const Operand& clip_norm, const Axes& axes) {
  Tensor values = clip_by_norm(Operand(t.values, clip_norm.location()), clip_norm, axes);
  return {values, t.indices, t.dense_shape};
}

Tensor linalg::global_norm(const std::vector<Tensor>& t_list, Here location) {
  Composite composite("global_norm", location);
  std::vector<Tensor> halves;
  for (const Tensor& t : t_list) {
    if (!t.is_none()) halves.push_back(apply(engine::kL2Loss, {t}));
  }
  return apply(engine::kSqrt, {reduce_sum(stack(halves)) * 2.0});
}

ClippedByGlobalNorm clip_by_global_norm(const std::vector<Tensor>& t_list, const Operand& clip_norm,
                                        const std::optional<Tensor>& use_norm) {
  Composite composite("clip_by_global_norm", clip_norm.location());
  Tensor norm = use_norm ? *use_norm : linalg::global_norm(t_list);
  Tensor limit = clip_norm.as_tensor(norm.dtype());
  Tensor finite_scale = limit * apply(engine::kMinimum, {1.0 / norm, 1.0 / limit});
  Tensor is_finite = apply(engine::kIsFinite, {norm});
  Tensor scale = where(is_finite, finite_scale, std::numeric_limits<double>::quiet_NaN());
  ClippedByGlobalNorm result{{}, norm};
  for (const Tensor& t : t_list) {
    result.clipped.push_back(t.is_none() ? Tensor() : t * scale);
  }
  return result;
}

}  // namespace graven
