#include "graven/ops/reduction_ops.h"

#include <algorithm>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/sort_ops.h"

namespace graven::engine {

namespace {

// One for each axis that is reduced and zero for the others, found at run time.
Formula is_reduced(GradientContext& c) {
  Tensor rank = c(kSize, {c.shape_of_x(0)});
  const int32_t flat[] = {-1};
  Formula axes(c, c(kReshape, {cast(c, c.x(1), DType::kInt32), int32_vector(c, flat)}));
  Formula positive = call(kFloorMod, axes, Formula(c, rank));
  return {c, c(kUnsortedSegmentSum, {call(kOnesLike, positive), positive, rank})};
}

}  // namespace

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
  Formula given = is_reduced(c);
  return Formula(c, shape) * (1.0 - given) + given;
}

namespace {

// dy, or y, with the reduced axes, of size 1.
Formula with_kept_axes(GradientContext& c, Tensor of_output) {
  if (!c.attrs<ReductionAttrs>().keep_dims) {
    of_output = c(kReshape, {of_output, shape_with_kept_axes(c)});
  }
  return {c, of_output};
}

Formula repeated_like_x(GradientContext& c, const Formula& x) {
  return {c, c(kBroadcastTo, {x, c.shape_of_x(0)})};
}

Scalar add(Scalar accumulator, Scalar value) { return accumulator + value; }

void define_sum(OpRegistry& ops) {
  ops.define(kSum, {
                       .name = "Sum",
                       .summary = "The sum of the elements along the given axes.",
                       .inputs = {"input: T", "reduction_indices: Tidx"},
                       .outputs = {"output: T"},
                       .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                       .infer = reduction_shape,
                       .gradient =
                           [](GradientContext& c) {
                             c.set_dx(0, repeated_like_x(c, with_kept_axes(c, c.dy())));
                           },
                       .body = reduction({.identity = zero_like, .combine = add}),
                       .values_for_inference = {1},
                       .renamed = {{"reduction_indices", "axis"}},
                   });
}

// How many elements of the input became one of the output, as a scalar of dy's dtype.
Formula reduced_count(GradientContext& c, const Formula& dy) {
  const Shape &x = c.static_shape_of_x(0), &y = c.static_shape_of_y(0);
  if (x.is_fully_known() && y.is_fully_known()) {
    return constant_like(dy, static_cast<double>(x.num_elements()) /
                                 static_cast<double>(std::max<int64_t>(y.num_elements(), 1)));
  }
  const int32_t all[] = {0};
  auto size = [&](const Tensor& shape) {
    return Formula(c, c(kProd, {shape, int32_vector(c, all)}));
  };
  Formula of_y = size(c.shape_of_y(0));
  Formula count =
      call(kFloorDiv, size(c.shape_of_x(0)), call(kMaximum, of_y, constant_like(of_y, 1)));
  return {c, cast(c, count, dy.dtype())};
}

// The sum that a mean divides; a sum of integers must not wrap around before that.
DType accumulator_of_mean(DType x) {
  if (is_integer(x)) return kUnsignedIntTypes.contains(x) ? DType::kUInt64 : DType::kInt64;
  return is_complex(x) ? x : computing_type(x);
}

// Integers are divided as TensorFlow does, rounded towards zero.
Scalar divided_by_count(Scalar accumulator, Scalar count) {
  return accumulator / cast(count, accumulator.dtype());
}

void define_mean(OpRegistry& ops) {
  ops.define(
      kMean,
      {
          .name = "Mean",
          .summary =
              "The mean of the elements along the given axes: their sum divided by "
              "their number. Integers are added in 64 bits, and the mean is rounded towards zero.",
          .inputs = {"input: T", "reduction_indices: Tidx"},
          .outputs = {"output: T"},
          .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
          .infer = reduction_shape,
          .gradient =
              [](GradientContext& c) {
                Formula dy(c, c.dy());
                if (!dy.tensor()) return;
                c.set_dx(0, repeated_like_x(c, with_kept_axes(c, dy / reduced_count(c, dy))));
              },
          .body = reduction({.identity = zero_like,
                             .combine = add,
                             .finish = divided_by_count,
                             .accumulator = accumulator_of_mean}),
          .values_for_inference = {1},
          .renamed = {{"reduction_indices", "axis"}},
      });
}

// The product of the other elements along an axis, by those before and those after each. Nothing is
// divided, as elements may be zero and the product of all out of the dtype's range.
Formula product_of_others(const Formula& x, int axis) {
  Tensor along = Size(axis).tensor(x.emit());
  auto scan = [&](bool reverse) {
    return Formula(x.emit(),
                   x.emit()(kCumprod, {x, along}, {.exclusive = true, .reverse = reverse}));
  };
  return scan(false) * scan(true);
}

// The same over the first axes, which are made one.
Formula product_of_others(GradientContext& c, const Formula& x, const Tensor& perm,
                          const Size& reduced, const Size& kept) {
  Formula permuted(c, c(kTranspose, {x, perm}));
  const Size sizes[] = {reduced, kept};
  Formula rows(c, c(kReshape, {permuted, vector_of(c, sizes)}));
  Formula others(c, c(kReshape, {product_of_others(rows, 0), c(kShape, {permuted})}));
  return {c, c(kTranspose, {others, call(kInvertPermutation, Formula(c, perm))})};
}

// The same over the axes of x, sorted.
Formula product_of_others(GradientContext& c, const Formula& x, std::span<const int> axes) {
  if (axes.empty()) return call(kOnesLike, x);
  if (axes.size() == 1) return product_of_others(x, axes[0]);
  const SizeList sizes = sizes_of_x(c, 0);
  SizeList merged, reduced, kept;
  std::vector<int32_t> perm(axes.begin(), axes.end());
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    bool is_kept = std::find(axes.begin(), axes.end(), i) == axes.end();
    (is_kept ? kept : reduced).push_back(sizes[i]);
    if (is_kept) perm.push_back(i);
    if (i == axes[0] || is_kept) merged.push_back(sizes[i]);
  }
  const Size all = product(c, reduced);
  if (axes.back() - axes.front() + 1 > static_cast<int>(axes.size())) {
    return product_of_others(c, x, int32_vector(c, perm), all, product(c, kept));
  }
  merged[axes[0]] = all;  // neighbours
  Formula rows(c, c(kReshape, {x, vector_of(c, merged)}));
  return {c, c(kReshape, {product_of_others(rows, axes[0]), c.shape_of_x(0)})};
}

void prod_gradient(GradientContext& c) {
  Formula x(c, c.x(0)), dy = with_kept_axes(c, c.dy());
  Tensor axes = c.x(1);
  if (!dy.tensor()) return;
  const Shape& known = c.static_shape_of_x(0);
  Tensor known_axes = known_value(axes);
  if (known.has_rank() && known_axes) {
    auto reduced = normalized_axes(known_axes, known.rank());
    if (!reduced.ok()) {
      c.fail(reduced.status());
      return;
    }
    std::vector<int> sorted(reduced->begin(), reduced->end());
    std::sort(sorted.begin(), sorted.end());
    c.set_dx(0, dy * conj(product_of_others(c, x, sorted)));
    return;
  }
  Formula shape(c, c.shape_of_x(0)), mask = is_reduced(c);
  // The axes that are reduced come first, as equal elements keep their order.
  const Tensor keys[] = {mask, c(kSize, {shape})};
  Tensors sorted = c.apply(*kTopKV2.op, keys, TopKV2Attrs());
  if (sorted.empty()) return;
  c.set_dx(0,
           dy * conj(product_of_others(c, x, sorted[1], product_of(c, shape * mask + (1.0 - mask)),
                                       product_of(c, shape * (1.0 - mask) + mask))));
}

void define_prod(OpRegistry& ops) {
  ops.define(
      kProd,
      {
          .name = "Prod",
          .summary = "The product of the elements along the given axes.",
          .inputs = {"input: T", "reduction_indices: Tidx"},
          .outputs = {"output: T"},
          .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
          .infer = reduction_shape,
          .gradient = prod_gradient,
          .body = reduction({.identity = one_like,
                             .combine = [](Scalar product, Scalar x) { return product * x; }}),
          .values_for_inference = {1},
          .renamed = {{"reduction_indices", "axis"}},
      });
}

// Equal extrema share the gradient.
void extremum_gradient(GradientContext& c) {
  Formula dy(c, with_kept_axes(c, c.dy())), y = with_kept_axes(c, c.y(0));
  if (!dy.tensor()) return;
  Formula chosen(c, cast(c, call(kEqual, y, Formula(c, c.x(0))), dy.dtype()));
  Formula count = call(kSum, chosen, Formula(c, c.x(1)), {.keep_dims = true});
  c.set_dx(0, chosen / count * dy);
}

// Of nothing, the maximum is the least there is.
Scalar least(Scalar like) {
  return is_integer(like.dtype()) ? lowest_like(like) : -infinity_like(like);
}

void define_max(OpRegistry& ops) {
  ops.define(kMax, {
                       .name = "Max",
                       .summary = "The largest element along the given axes; NaN if one is NaN.",
                       .inputs = {"input: T", "reduction_indices: Tidx"},
                       .outputs = {"output: T"},
                       .types = {{"T", kRealTypes}, {"Tidx", kIndexTypes}},
                       .infer = reduction_shape,
                       .gradient = extremum_gradient,
                       .body = reduction({.identity = least,
                                          .combine = [](Scalar a, Scalar b) { return max(a, b); }}),
                       .values_for_inference = {1},
                       .renamed = {{"reduction_indices", "axis"}},
                   });
}

Scalar greatest(Scalar like) {
  return is_integer(like.dtype()) ? highest_like(like) : infinity_like(like);
}

void define_min(OpRegistry& ops) {
  ops.define(kMin, {
                       .name = "Min",
                       .summary = "The smallest element along the given axes; NaN if one is NaN.",
                       .inputs = {"input: T", "reduction_indices: Tidx"},
                       .outputs = {"output: T"},
                       .types = {{"T", kRealTypes}, {"Tidx", kIndexTypes}},
                       .infer = reduction_shape,
                       .gradient = extremum_gradient,
                       .body = reduction({.identity = greatest,
                                          .combine = [](Scalar a, Scalar b) { return min(a, b); }}),
                       .values_for_inference = {1},
                       .renamed = {{"reduction_indices", "axis"}},
                   });
}

Scalar square_of_magnitude(Scalar x) { return x * conj(x); }

Scalar root(Scalar accumulator, Scalar) {
  if (!is_integer(accumulator.dtype())) return sqrt(accumulator);
  return cast(sqrt(cast(accumulator, DType::kFloat64)), accumulator.dtype());
}

void define_euclidean_norm_and_kin(OpRegistry& ops) {
  ops.define(kEuclideanNorm,
             {
                 .name = "EuclideanNorm",
                 .summary = "The square root of the sum of squared magnitudes along the given "
                            "axes. Integers wrap around, and the root is rounded towards zero.",
                 .inputs = {"input: T", "reduction_indices: Tidx"},
                 .outputs = {"output: T"},
                 .types = {{"T", kNumberTypes}, {"Tidx", kIndexTypes}},
                 .infer = reduction_shape,
                 .gradient =
                     [](GradientContext& c) {
                       Formula dy = with_kept_axes(c, c.dy()), y = with_kept_axes(c, c.y(0));
                       c.set_dx(0, Formula(c, c.x(0)) / (y / dy));
                     },
                 .body = reduction({.identity = zero_like,
                                    .combine = add,
                                    .prepare = square_of_magnitude,
                                    .finish = root}),
                 .values_for_inference = {1},
                 .renamed = {{"reduction_indices", "axis"}},
             });
  ops.define(kAny, {
                       .name = "Any",
                       .summary = "Whether some element along the given axes is true.",
                       .inputs = {"input: bool", "reduction_indices: Tidx"},
                       .outputs = {"output: bool"},
                       .types = {{"Tidx", kIndexTypes}},
                       .infer = reduction_shape,
                       .gradient = not_differentiable,
                       .body = reduction({.identity = zero_like,
                                          .combine = [](Scalar a, Scalar b) { return a | b; }}),
                       .values_for_inference = {1},
                       .renamed = {{"reduction_indices", "axis"}},
                   });
  ops.define(kAll, {
                       .name = "All",
                       .summary = "Whether all elements along the given axes are true.",
                       .inputs = {"input: bool", "reduction_indices: Tidx"},
                       .outputs = {"output: bool"},
                       .types = {{"Tidx", kIndexTypes}},
                       .infer = reduction_shape,
                       .gradient = not_differentiable,
                       .body = reduction({.identity = one_like,
                                          .combine = [](Scalar a, Scalar b) { return a & b; }}),
                       .values_for_inference = {1},
                       .renamed = {{"reduction_indices", "axis"}},
                   });
}

}  // namespace

void define_reduction_ops(OpRegistry& ops) {
  define_sum(ops);
  define_mean(ops);
  define_prod(ops);
  define_max(ops);
  define_min(ops);
  define_euclidean_norm_and_kin(ops);
}

}  // namespace graven::engine
