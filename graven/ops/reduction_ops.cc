#include "graven/ops/reduction_ops.h"

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/structural_ops.h"

namespace graven::engine {

Tensor shape_with_kept_axes(GradientContext& c) {
  Tensor shape = c.shape_of_x(0);
  Tensor axes = c.x(1);
  const Shape& x = c.static_shape_of_x(0);
  Tensor known_axes = known_value(axes);
  if (x.has_rank() && known_axes) {
    auto reduced = normalized_axes(known_axes, x.rank());
    if (!reduced.ok()) {
      c.fail(reduced.status());
      return {};
    }
    // Sizes that are not known are taken from the shape at run time: 0 here stands for them.
    InlineVector<int32_t, 6> taken(static_cast<size_t>(x.rank()), 1), given = taken;
    for (int i = 0; i < x.rank(); ++i) given[i] = 0;
    for (int axis : *reduced) {
      taken[axis] = 0;
      given[axis] = 1;
    }
    if (x.is_fully_known()) {
      for (int i = 0; i < x.rank(); ++i) {
        if (taken[i]) given[i] = static_cast<int32_t>(x.size(i));
      }
      return int32_vector(c, {given.data(), given.size()});
    }
    Formula mask(c, int32_vector(c, {taken.data(), taken.size()}));
    return Formula(c, shape) * mask + Formula(c, int32_vector(c, {given.data(), given.size()}));
  }
  // One for each reduced axis, at its place, found at run time.
  Tensor rank = c(kSize, {shape});
  const int32_t flat[] = {-1};
  Formula flat_axes(c, c(kReshape, {cast(c, axes, DType::kInt32), int32_vector(c, flat)}));
  Formula positive = call(kFloorMod, flat_axes, Formula(c, rank));
  Formula ones = call(kOnesLike, positive);
  Formula given(c, c(kUnsortedSegmentSum, {ones, positive, rank}));
  return Formula(c, shape) * (1.0 - given) + given;
}

namespace {

void sum_gradient(GradientContext& c) {
  Tensor dy = c.dy();
  if (!c.attrs<ReductionAttrs>().keep_dims) dy = c(kReshape, {dy, shape_with_kept_axes(c)});
  c.set_dx(0, c(kBroadcastTo, {dy, c.shape_of_x(0)}));
}

}  // namespace

void define_reduction_ops(OpRegistry& ops) {
  ops.define(
      kSum, {
                .name = "Sum",
                .summary = "The sum of the elements along the given axes.",
                .inputs = {"input: T", "reduction_indices: Tidx"},
                .outputs = {"output: T"},
                .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                .infer = reduction_shape,
                .gradient = sum_gradient,
                .body = reduction({
                    .identity = zero_like,
                    .combine = [](Scalar accumulator, Scalar value) { return accumulator + value; },
                }),
                .values_for_inference = {1},
            });
}

}  // namespace graven::engine
