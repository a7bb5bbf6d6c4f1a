#include "graven/ops/movement_ops.h"

#include <algorithm>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/structural_kernels.h"

namespace graven::engine {
namespace {

// --- Orders of axes.

void set_unknown_dims(InferContext& c, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(Dim::unknown());
  c.set_shape(0, shape);
}

// --- Transpose.

// Axes from 0 on. Each is in range, but one may be there twice.
Result<InlineVector<int, 6>> axes_of(const Tensor& perm, int rank) {
  InlineVector<int, 6> axes;
  for (int64_t i = 0; i < perm.num_elements(); ++i) {
    const int64_t axis = integer_at(perm, i);
    if (axis < -rank || axis >= rank) {
      return invalid_argument("perm dim ", axis, " is out of range of input rank ", rank);
    }
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  return axes;
}

// The same for a permutation. As in TensorFlow it is checked only at run time: a branch that is
// never taken may hold a bad constant.
Result<InlineVector<int, 6>> permutation_of(const Tensor& perm, int rank) {
  ASSIGN_OR_RETURN(auto axes, axes_of(perm, rank));
  for (int axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    std::string list;
    for (int given : axes) list += str_cat(list.empty() ? "" : ",", given);
    return invalid_argument(axis, " is missing from {", list, "}.");
  }
  return axes;
}

Status transpose_shape(InferContext& c) {
  const Shape &x = c.shape(0), &perm = c.shape(1);
  if (perm.has_rank() && perm.rank() != 1) {
    return invalid_argument("perm must be rank 1, got shape ", perm.to_message());
  }
  Tensor order = c.value(1);
  if (!x.has_rank()) {
    if (!perm.has_rank() || !perm[0].is_number()) return unknown_outputs(c);
    if (perm.size(0) > kMaxRank) return invalid_argument("a rank of ", perm.size(0));
    const int rank = static_cast<int>(perm.size(0));
    if (order) RETURN_IF_ERROR(axes_of(order, rank).status());
    set_unknown_dims(c, rank);
    return {};
  }
  if (perm.has_rank() && perm[0].is_number() && perm.size(0) != x.rank()) {
    return invalid_argument("transpose expects a vector of size ", x.rank(),
                            ". But input(1) is a vector of size ", perm.size(0));
  }
  if (!order) {
    set_unknown_dims(c, x.rank());
    return {};
  }
  ASSIGN_OR_RETURN(auto axes, axes_of(order, x.rank()));
  Shape out;
  for (int axis : axes) out.push_back(x[axis]);
  c.set_shape(0, out);
  return {};
}

std::optional<Movement> transpose_reads(const ReadsContext& c) {
  if (!c.value(1)) return std::nullopt;
  auto order = permutation_of(c.value(1), c.shape(0).rank());
  if (!order.ok()) return std::nullopt;
  Read read{Read::Axes(order->size())};
  for (size_t i = 0; i < order->size(); ++i) {
    read.axes[(*order)[i]].terms = {{static_cast<int>(i), 1}};
  }
  return one_read(c.output(), std::move(read));
}

Status transpose_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(auto order, permutation_of(c.input(1), x.rank()));
  Shape shape;
  for (int axis : order) shape.push_back(x.shape()[axis]);
  ASSIGN_OR_RETURN(Tensor y, Tensor::allocate(x.dtype(), shape));
  auto from = row_major_strides(x.shape()), to = row_major_strides(y.shape());
  CopyAxes axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back({y.shape().size(i), from[order[i]], to[i]});
  copy_strided(x.dtype(), axes, x.raw_data(), y.mutable_raw_data());
  c.set_output(0, std::move(y));
  return {};
}

// The permutation that undoes another one: a constant if that is.
Tensor inverse_of(Emitter& emit, const Tensor& perm) {
  Tensor known = known_value(perm);
  if (!known) return emit(kInvertPermutation, {perm});
  const int rank = static_cast<int>(known.num_elements());
  auto axes = permutation_of(known, rank);
  if (!axes.ok()) {
    emit.fail(axes.status());
    return {};
  }
  std::vector<int32_t> inverse(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) inverse[(*axes)[i]] = i;
  return int32_vector(emit, inverse);
}

void batch_transpose(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  const int32_t first[] = {0};
  const Tensor zero = cast(c, int32_vector(c, first), c.dtype(1));
  const Tensor axis = c.constant(Tensor::scalar<int32_t>(0));
  const Tensor order = c(kConcatV2, {zero, shifted_axes(c, 1), axis});
  const Tensor inputs[] = {c.x(0), order};
  apply_to_rows(c, inputs);
}

void define_transpose_and_conjugate_transpose(OpRegistry& ops) {
  kTranspose = ops.define<NoAttrs>({
      .name = "Transpose",
      .summary = "The tensor with its axes in another order: axis i of y is axis perm[i] of x.",
      .inputs = {"x: T", "perm: Tperm"},
      .outputs = {"y: T"},
      .types = {{"T", kAllTypes}, {"Tperm", kIndexTypes}},
      .infer = transpose_shape,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) c.set_dx(0, c(kTranspose, {c.dy(), inverse_of(c, c.x(1))}));
          },
      .batch = batch_transpose,
      .body = kernel(transpose_kernel),
      .allocates_outputs = true,  // after it has checked the axes
      .values_for_inference = {1},
      .reads = transpose_reads,
      .default_node_name = "transpose",
  });
  kConjugateTranspose = ops.define<NoAttrs>({
      .name = "ConjugateTranspose",
      .summary = "The complex conjugate of the tensor with its axes in another order.",
      .inputs = {"x: T", "perm: Tperm"},
      .outputs = {"y: T"},
      .types = {{"T", kPlainTypes, kAllTypes}, {"Tperm", kIndexTypes}},
      .infer = transpose_shape,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) c.set_dx(0, c(kConjugateTranspose, {c.dy(), inverse_of(c, c.x(1))}));
          },
      .body = composite([](CompositeContext& c) {
        c.set_output(conj(Formula(c, c(kTranspose, {c.x(0), c.x(1)}))));
      }),
      .values_for_inference = {1},
  });
}

// --- InvertPermutation.

Status vector_like_input(InferContext& c) {
  if (c.shape(0).has_rank() && c.shape(0).rank() != 1) {
    return invalid_argument("invert_permutation expects a 1D vector, got shape ",
                            c.shape(0).to_message());
  }
  c.set_shape(0, c.shape(0).has_rank() ? c.shape(0) : Shape({Dim::unknown()}));
  return {};
}

template <typename T>
Status invert(std::span<const T> x, std::span<T> y) {
  std::fill(y.begin(), y.end(), T(-1));
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0 || static_cast<size_t>(x[i]) >= x.size()) {
      return invalid_argument(x[i], " is not between 0 and ", x.size());
    }
    if (y[x[i]] != T(-1)) return invalid_argument(x[i], " is duplicated in the input.");
    y[x[i]] = static_cast<T>(i);
  }
  return {};
}

void define_invert_permutation(OpRegistry& ops) {
  kInvertPermutation = ops.define<NoAttrs>({
      .name = "InvertPermutation",
      .python = "math.invert_permutation",
      .summary = "The permutation y with y[x[i]] = i.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kIndexTypes}},
      .infer = vector_like_input,
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        if (c.input(0).dtype() == DType::kInt32) return invert(c.in<int32_t>(0), c.out<int32_t>(0));
        return invert(c.in<int64_t>(0), c.out<int64_t>(0));
      }),
  });
}

// --- Squeeze and ExpandDims: views.

// A new shape keeps the known integers of an input of rank 0 or 1.
void keep_sizes(InferContext& c, const Shape& out) {
  if (!c.is_graph() || out.rank() > 1) return;
  if (auto sizes = c.sizes(0)) c.set_sizes(0, *sizes);
}

Status squeezed(InferContext& c) {
  const auto& dims = c.attrs<SqueezeAttrs>().squeeze_dims;
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return unknown_outputs(c);
  std::vector<bool> drops(static_cast<size_t>(x.rank()), false);
  for (int64_t dim : dims) {
    if (dim < -x.rank() || dim >= x.rank()) {
      return invalid_argument("Tried to squeeze dim index ", dim, " for tensor with ", x.rank(),
                              " dimensions.");
    }
    int at = static_cast<int>(dim < 0 ? dim + x.rank() : dim);
    if (x[at].is_number() && x.size(at) != 1) {
      return invalid_argument("Can not squeeze dim[", at, "], expected a dimension of 1, got ",
                              x.size(at));
    }
    drops[at] = true;
  }
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (dims.empty() && !x[i].is_number()) return unknown_outputs(c);
    if (dims.empty() ? x[i] != Dim(1) : !drops[i]) out.push_back(x[i]);
  }
  c.set_shape(0, out);
  keep_sizes(c, out);
  return {};
}

Status view_kernel(KernelContext& c) {
  c.set_output(0, c.input(0).with_shape(c.output(0).shape()));
  return {};
}

void reshape_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c(kReshape, {c.dy(), c.shape_of_x(0)}));
}

// The sizes of a row that are not 1 are found when it runs.
void squeeze_unknown_sizes(BatchContext& c) {
  const int32_t flat[] = {-1};
  const Tensor sizes = row_sizes(c, 0);
  const Tensor others = c(kNotEqual, {sizes, c.constant(Tensor::scalar<int32_t>(1))});
  const Tensor places = c(kReshape, {c(kWhere, {others}), int32_vector(c, flat)});
  const Tensor axis = c.constant(Tensor::scalar<int32_t>(0));
  const Tensor left = c(kGatherV2, {sizes, places, axis});
  c.set_y(0, c(kReshape, {c.x(0), joined(c, c.num_rows_as_vector(), left)}));
}

void batch_squeeze(BatchContext& c) {
  SqueezeAttrs attrs = c.attrs<SqueezeAttrs>();
  const Shape row = c.row_shape(0);
  if (attrs.squeeze_dims.empty()) {  // all axes of size 1, but not that of the rows
    if (!row.is_fully_known()) return squeeze_unknown_sizes(c);
    for (int d = 0; d < row.rank(); ++d) {
      if (row.size(d) == 1) attrs.squeeze_dims.push_back(d);
    }
    if (attrs.squeeze_dims.empty()) return c.set_y(0, c.x(0));
  }
  for (int64_t& axis : attrs.squeeze_dims) axis = shifted_axis(axis);
  const Tensor inputs[] = {c.x(0)};
  apply_to_rows(c, inputs, attrs);
}

void define_squeeze(OpRegistry& ops) {
  kSqueeze = ops.define<SqueezeAttrs>({
      .name = "Squeeze",
      .summary = "The tensor without axes of size 1: all of them, or those in axis.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = squeezed,
      .gradient = reshape_gradient,
      .batch = batch_squeeze,
      .body = kernel(view_kernel),
      .view_of = 0,
      .reads = reshape_reads,
      .renamed = {{"squeeze_dims", "axis"}},
  });
}

Status expanded(InferContext& c) {
  const Shape& x = c.shape(0);
  Tensor dim = c.value(1);
  if (dim && dim.num_elements() != 1) {
    return invalid_argument("'dim' must be a tensor with a single value, got shape ",
                            dim.shape().to_message());
  }
  if (!x.has_rank()) return unknown_outputs(c);
  if (!dim) {
    set_unknown_dims(c, x.rank() + 1);
    return {};
  }
  int64_t axis = integer_at(dim, 0);
  if (axis < -x.rank() - 1 || axis > x.rank()) {
    return invalid_argument("Tried to expand dim index ", axis, " for tensor with ", x.rank(),
                            " dimensions.");
  }
  Shape out = x;
  out.insert(static_cast<int>(axis < 0 ? axis + x.rank() + 1 : axis), 1);
  c.set_shape(0, out);
  keep_sizes(c, out);
  return {};
}

void define_expand_dims(OpRegistry& ops) {
  kExpandDims = ops.define<NoAttrs>({
      .name = "ExpandDims",
      .summary =
          "The tensor with a new axis of size 1 before the given one; -1 is behind the last.",
      .inputs = {"input: T", "dim: Tdim"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tdim", kIndexTypes}},
      .infer = expanded,
      .gradient = reshape_gradient,
      .batch = batch_along_axis<0, 1>,
      .body = kernel(view_kernel),
      .values_for_inference = {1},
      .view_of = 0,
      .reads = reshape_reads,
      .renamed = {{"dim", "axis"}},
  });
}

}  // namespace

void define_movement_ops(OpRegistry& ops) {
  define_transpose_and_conjugate_transpose(ops);
  define_invert_permutation(ops);
  define_squeeze(ops);
  define_expand_dims(ops);
}

}  // namespace graven::engine
