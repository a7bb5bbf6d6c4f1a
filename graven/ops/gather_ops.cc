#include "graven/ops/gather_ops.h"

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_kernels.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

// --- GatherNd, ScatterNd, TensorScatter...

Status check_policy(const InferContext& c) {
  const std::string& policy = c.attrs<IndexPolicyAttrs>().bad_indices_policy;
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR" || policy == "IGNORE") return {};
  return invalid_argument("bad_indices_policy must be '', 'DEFAULT', 'ERROR' or 'IGNORE', got '",
                          policy, "'");
}

// How many axes a vector of indices names, -1 if it is not known; checked against `rank`.
Result<int> depth_of(const Shape& indices, const Shape& shape) {
  if (!indices.has_rank()) return -1;
  if (indices.rank() == 0) return invalid_argument("indices must be at least a vector");
  Dim depth = indices[indices.rank() - 1];
  if (!depth.is_number()) return -1;
  if (shape.has_rank() && depth.number() > shape.rank()) {
    return invalid_argument("index innermost dimension length must be <= params rank; saw: ",
                            depth.number(), " vs. ", shape.rank());
  }
  return static_cast<int>(depth.number());
}

// The shape of the slices that indices name; of unknown rank if the two shapes are not known
// enough.
Result<Shape> shape_at_indices(const Shape& indices, const Shape& shape) {
  ASSIGN_OR_RETURN(int depth, depth_of(indices, shape));
  if (depth < 0 || !shape.has_rank()) return Shape::unknown_rank();
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = depth; i < shape.rank(); ++i) out.push_back(shape[i]);
  return out;
}

Status check_updates(const Shape& indices, const Shape& shape, const Shape& updates) {
  ASSIGN_OR_RETURN(Shape expected, shape_at_indices(indices, shape));
  if (are_compatible(expected, updates)) return {};
  return invalid_argument("The inner dimensions of output shape ", shape.to_message(),
                          " and updates ", updates.to_message(), " by indices of shape ",
                          indices.to_message(), " do not match: updates must have shape ",
                          expected.to_message());
}

Status tensor_scatter_shape(InferContext& c) {
  RETURN_IF_ERROR(check_policy(c));
  c.set_shape(0, c.shape(0));
  return check_updates(c.shape(1), c.shape(0), c.shape(2));
}

// --- GatherV2 and Gather.

Result<int> checked_batch_dims(int64_t given, const Shape& params, const Shape& indices) {
  const int64_t batch_dims = given < 0 ? given + indices.rank() : given;
  if (batch_dims < 0 || batch_dims > indices.rank()) {
    return invalid_argument("Expected batch_dims in the range [", -indices.rank(), ", ",
                            indices.rank(), "], but got ", given);
  }
  if (batch_dims >= params.rank()) {
    return invalid_argument("batch_dims (", batch_dims, ") must be less than rank(params) (",
                            params.rank(), ").");
  }
  return static_cast<int>(batch_dims);
}

Status gathered_shape(InferContext& c, int64_t given_axis, int64_t given_batch_dims) {
  const Shape &params = c.shape(0), &indices = c.shape(1);
  if (!params.has_rank() || !indices.has_rank()) return unknown_outputs(c);
  const int rank = params.rank();
  if (given_axis < -rank || given_axis >= rank) {
    return invalid_argument("Expected axis in the range [", -rank, ", ", rank, "), but got ",
                            given_axis);
  }
  const int axis = static_cast<int>(given_axis < 0 ? given_axis + rank : given_axis);
  ASSIGN_OR_RETURN(const int batch_dims, checked_batch_dims(given_batch_dims, params, indices));
  if (batch_dims > axis) {
    return invalid_argument("batch_dims (", batch_dims, ") must be less than or equal to axis (",
                            axis, ").");
  }
  Shape out;
  for (int i = 0; i < axis; ++i) {
    Dim size = params[i];
    if (i < batch_dims) {
      auto merged = c.merge(params[i], indices[i]);
      if (!merged.ok()) {
        return invalid_argument("params.shape[", i, "]: ", params.size(i),
                                " should be equal to indices.shape[", i, "]: ", indices.size(i));
      }
      size = *merged;
    }
    out.push_back(size);
  }
  for (int i = batch_dims; i < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = axis + 1; i < rank; ++i) out.push_back(params[i]);
  c.set_shape(0, out);
  if (rank != 1 || !c.is_graph() || out.rank() > 1) return {};
  auto sizes = c.sizes(0);
  Tensor at = c.value(1);
  if (!sizes || !at) return {};
  SymbolicValue gathered;
  for (int64_t i = 0; i < at.num_elements(); ++i) {
    int64_t index = integer_at(at, i);
    bool fits = index >= 0 && index < static_cast<int64_t>(sizes->size());
    gathered.push_back(fits ? (*sizes)[index] : Dim::unknown());
  }
  c.set_sizes(0, gathered);
  return {};
}

Status gather_v2_shape(InferContext& c) {
  Tensor axis = c.value(2);
  if (axis && axis.num_elements() != 1) {
    return invalid_argument("axis must be scalar, got shape ", axis.shape().to_message());
  }
  const int64_t given = c.attrs<GatherV2Attrs>().batch_dims;
  if (axis) return gathered_shape(c, integer_at(axis, 0), given);
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return unknown_outputs(c);
  ASSIGN_OR_RETURN(const int batch_dims, checked_batch_dims(given, c.shape(0), c.shape(1)));
  Shape out;
  const int rank = c.shape(0).rank() - 1 + c.shape(1).rank() - batch_dims;
  for (int i = 0; i < rank; ++i) out.push_back(Dim::unknown());
  c.set_shape(0, out);
  return {};
}

Status refuse_gathered(int64_t index, int, int64_t size, int64_t) {
  return invalid_argument("indices = ", index, " is not in [0, ", size, ")");
}

// Of one index: the slice that it names.
std::optional<Movement> slice_read(const ReadsContext& c, int64_t given_axis) {
  const Shape& params = c.shape(0);
  auto axis = normalized_axis(given_axis, params.rank());
  if (!axis.ok() || c.shape(1).rank() != 0) return std::nullopt;
  Movement movement = one_read(c.output(), Read{});
  Movement::Piece& piece = movement.pieces[0];
  for (int k = 0; k < params.rank(); ++k) {
    piece.read.axes.push_back({});
    if (k != *axis) piece.read.axes.back().terms = {{k < *axis ? k : k - 1, 1}};
  }
  const Tensor& index = c.value(1);
  const int64_t at = index ? integer_at(index, 0) : -1;
  if (at >= 0 && at < params[*axis].number_or_minus_one()) {
    piece.read.axes[*axis].offset = at;
  } else {
    piece.offsets.push_back({*axis, 1, 0, false, refuse_gathered});
  }
  return movement;
}

// Row i of dy goes to row indices[i] of the gradient, the others are zero.
IndexedSlices gathered_rows(GradientContext& c) {
  const int32_t flat[] = {-1};
  Tensor indices = c.x(1), flat_indices = c(kReshape, {indices, int32_vector(c, flat)});
  Tensor values = c.dy();
  if (const Shape& at = c.static_shape_of_x(1); !at.has_rank() || at.rank() != 1) {
    Tensor rows =
        shape_of_rows(c, indices, c.static_shape_of_x(0), [&] { return c.shape_of_x(0); });
    values = c(kReshape, {values, rows});
  }
  return {values, flat_indices, c.shape_of_x(0)};
}

// The sizes around the axis of a gather, with axes merged: params are [batches, outer, limit,
// inner], indices [batches, n].
struct Around {
  Size batches, outer, limit, inner, n;
};

Result<Around> known_around(GradientContext& c, const Tensor& known_axis) {
  const SizeList params = sizes_of_x(c, 0), indices = sizes_of_x(c, 1);
  const int rank = static_cast<int>(params.size()), num_indices = static_cast<int>(indices.size());
  ASSIGN_OR_RETURN(const int axis, normalized_axis(integer_at(known_axis, 0), rank));
  const int64_t given = c.attrs<GatherV2Attrs>().batch_dims;
  const int batch_dims = static_cast<int>(given < 0 ? given + num_indices : given);
  auto part = [&](const SizeList& sizes, int begin, int end) {
    return product(c, std::span(sizes).subspan(begin, end - begin));
  };
  return Around{part(params, 0, batch_dims), part(params, batch_dims, axis), params[axis],
                part(params, axis + 1, rank), part(indices, batch_dims, num_indices)};
}

// The same where the axis or a rank is found when it runs.
Around around_at_run_time(GradientContext& c) {
  const int32_t one_element[] = {1}, zero[] = {0};
  auto vector = [&](const Tensor& x) { return c(kReshape, {x, int32_vector(c, one_element)}); };
  const Tensor params = c.shape_of_x(0);
  const Tensor start = int32_vector(c, zero);
  const Formula axis(c, vector(c(kFloorMod, {cast(c, c.x(2), DType::kInt32), c(kSize, {params})})));
  const Tensor next = axis + 1;
  const int64_t given = c.attrs<GatherV2Attrs>().batch_dims;
  const Tensor limit = elements_between(c, params, axis, next);
  auto part = [&](const Tensor& sizes, const Tensor& begin, const Tensor& end) {
    return product_of(c, elements_between(c, sizes, begin, end));
  };
  Around around = {1, part(params, start, axis), product_of(c, limit), part(params, next, {}), 1};
  if (given == 0) {
    around.n = Size(c(kSize, {c.x(1)}));
    return around;
  }
  const Tensor indices = c.shape_of_x(1);
  Tensor batch_dims = vector(Size(given).tensor(c));
  if (given < 0) batch_dims = Formula(c, batch_dims) + Formula(c, vector(c(kSize, {indices})));
  around.batches = part(params, start, batch_dims);
  around.outer = part(params, batch_dims, axis);
  around.n = part(indices, batch_dims, {});
  return around;
}

// The gradient along any axis, with batches: the axis and the batches become rows, which are summed
// by their indices.
Tensor summed_by_index(GradientContext& c, const Around& around) {
  const auto& [batches, outer, limit, inner, n] = around;
  auto reshape = [&](const Tensor& x, const SizeList& sizes) {
    return c(kReshape, {x, vector_of(c, sizes)});
  };
  const int32_t axis_to_front[] = {0, 2, 1, 3};
  Tensor order = int32_vector(c, axis_to_front);
  Tensor dy = reshape(c.dy(), {batches, outer, n, inner});
  Size rows = multiply(c, batches, n);
  dy = reshape(c(kTranspose, {dy, order}), {rows, outer, inner});
  Tensor ids = reshape(c.x(1), {batches, n});
  if (!batches.is_number() || batches.number() != 1) {
    auto scalar = [&](const Size& size) { return size.tensor(c); };
    Formula first(c, reshape(c(kRange, {scalar(0), scalar(batches), scalar(1)}), {batches, 1}));
    Tensor offsets = first * Formula(c, scalar(limit));
    ids = Formula(c, cast(c, ids, DType::kInt64)) + Formula(c, cast(c, offsets, DType::kInt64));
  }
  Tensor segments = multiply(c, batches, limit).tensor(c);
  Tensor sums = c(kUnsortedSegmentSum, {dy, reshape(ids, {rows}), segments});
  sums = c(kTranspose, {reshape(sums, {batches, limit, outer, inner}), order});
  return c(kReshape, {sums, c.shape_of_x(0)});
}

void gather_v2_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  Tensor axis = c.x(2);
  Tensor known = known_value(axis);
  const Shape &params = c.static_shape_of_x(0), &indices = c.static_shape_of_x(1);
  if (known && (integer_at(known, 0) == 0 ||
                (params.has_rank() && integer_at(known, 0) == -params.rank()))) {
    return c.set_dx(0, gathered_rows(c));
  }
  if (!known || !params.has_rank() || !indices.has_rank()) {
    return c.set_dx(0, summed_by_index(c, around_at_run_time(c)));
  }
  auto around = known_around(c, known);
  if (!around.ok()) return c.fail(around.status());
  c.set_dx(0, summed_by_index(c, *around));
}

constexpr DTypeSet kAllIndexTypes = kIndexTypes | DTypeSet{DType::kInt16};

// Gathers along an axis of a row. Without batch_dims an input that is the same for all rows is read
// as it is.
void gather_for_rows(BatchContext& c, int64_t axis, int64_t batch_dims) {
  const auto rank = c.rank(0), rank_of_indices = c.rank(1);
  if (batch_dims < 0 && !rank_of_indices) return c.use_loop();
  if (batch_dims < 0) batch_dims += *rank_of_indices;
  if (axis < 0 && rank) axis += *rank;
  const auto at = [&](int64_t place) {
    return c.constant(Tensor::scalar(static_cast<int32_t>(place)));
  };
  if (!c.is_batched(0) && batch_dims == 0) {
    if (axis != 0 && (!rank || !rank_of_indices)) return c.use_loop();
    const Tensor y = c(kGatherV2, {c.x(0), c.x(1), at(axis)});
    if (axis == 0) return c.set_y(0, y);
    const int rank_of_y = *rank + *rank_of_indices;
    return c.set_y(0, moved_axis(c, y, rank_of_y, static_cast<int>(axis), 0));
  }
  const Tensor place = at(shifted_axis(axis));
  if (!c.is_batched(1) && batch_dims == 0) {
    return c.set_y(0, c(kGatherV2, {c.x(0), c.x(1), place}));
  }
  c.set_y(0, c(kGatherV2, {c.repeated(0), c.repeated(1), place}, {batch_dims + 1}));
}

void batch_gather_v2(BatchContext& c) {
  const auto axis = c.integers(2);
  if (!axis) return c.use_loop();
  gather_for_rows(c, (*axis)[0], c.attrs<GatherV2Attrs>().batch_dims);
}

void batch_gather(BatchContext& c) { gather_for_rows(c, 0, 0); }

void define_gather_v2_and_gather(OpRegistry& ops) {
  kGatherV2 = ops.define<GatherV2Attrs>({
      .name = "GatherV2",
      .summary = "The slices of params along an axis that the indices name.",
      .details = "The first batch_dims axes of params and indices belong together.",
      .inputs = {"params: Tparams", "indices: Tindices", "axis: Taxis"},
      .outputs = {"output: Tparams"},
      .types = {{"Tparams", kAllTypes}, {"Tindices", kAllIndexTypes}, {"Taxis", kIndexTypes}},
      .infer = gather_v2_shape,
      .gradient = gather_v2_gradient,
      .batch = batch_gather_v2,
      .body = kernel(gather_kernel),
      .values_for_inference = {2},
      .reads = [](const ReadsContext& c) -> std::optional<Movement> {
        if (!c.value(2) || c.attrs<GatherV2Attrs>().batch_dims != 0) return std::nullopt;
        return slice_read(c, integer_at(c.value(2), 0));
      },
      .cost = cost_of_outputs,
  });
  kGather = ops.define<GatherAttrs>({
      .name = "Gather",
      .summary = "The rows of params that the indices name.",
      .inputs = {"params: Tparams", "indices: Tindices"},
      .outputs = {"output: Tparams"},
      .types = {{"Tparams", kAllTypes}, {"Tindices", kIndexTypes}},
      .infer = [](InferContext& c) -> Status { return gathered_shape(c, 0, 0); },
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) c.set_dx(0, gathered_rows(c));
          },
      .batch = batch_gather,
      .body = kernel(gather_kernel),
      .reads = [](const ReadsContext& c) -> std::optional<Movement> { return slice_read(c, 0); },
      .cost = cost_of_outputs,
  });
}

Status gather_nd_shape(InferContext& c) {
  RETURN_IF_ERROR(check_policy(c));
  ASSIGN_OR_RETURN(Shape out, shape_at_indices(c.shape(1), c.shape(0)));
  if (out.has_rank() && c.shape(0).is_fully_known() && c.shape(0).num_elements() == 0 &&
      out.is_fully_known() && out.num_elements() > 0) {
    return invalid_argument("Requested more than 0 entries, but params is empty.  Params shape: ",
                            c.shape(0).to_message());
  }
  c.set_shape(0, out);
  return {};
}

void gather_nd_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  const Shape& indices = c.static_shape_of_x(1);
  if (indices.has_rank() && indices.rank() == 2 && indices[1] == Dim(1)) {
    const int32_t flat[] = {-1};
    c.set_dx(0,
             IndexedSlices{c.dy(), c(kReshape, {c.x(1), int32_vector(c, flat)}), c.shape_of_x(0)});
    return;
  }
  DType dtype = c.dtype_of_x(1) == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  c.set_dx(0, c(kScatterNd, {cast(c, c.x(1), dtype), c.dy(), cast(c, c.shape_of_x(0), dtype)},
                c.attrs<IndexPolicyAttrs>()));
}

// Vectors of indices into tensors with the axis of the rows in front. Empty, after use_loop, if
// their rank is not known.
Tensor indices_with_row_numbers(BatchContext& c, int input) {
  const auto rank = c.rank(input);
  if (!rank || *rank == 0) {
    c.use_loop();
    return {};
  }
  const Tensor indices = c.repeated(input);
  const int32_t zero[] = {0}, minus_one[] = {-1}, one[] = {1};
  const Tensor places =
      elements_between(c, c(kShape, {indices}), int32_vector(c, zero), int32_vector(c, minus_one));
  const Tensor numbers = c(kBroadcastTo, {row_numbers(c, c.dtype(input), *rank),
                                          joined(c, places, int32_vector(c, one))});
  return c(kConcatV2, {numbers, indices, c.constant(Tensor::scalar<int32_t>(-1))});
}

void batch_gather_nd(BatchContext& c) {
  const Tensor indices = c.is_batched(0) ? indices_with_row_numbers(c, 1) : c.x(1);
  if (c.uses_loop()) return;
  const Tensor inputs[] = {c.x(0), indices};
  apply_to_rows(c, inputs);
}

void define_gather_nd(OpRegistry& ops) {
  kGatherNd = ops.define<IndexPolicyAttrs>({
      .name = "GatherNd",
      .summary = "The slices of params that vectors of indices, along the last axis, name.",
      .inputs = {"params: Tparams", "indices: Tindices"},
      .outputs = {"output: Tparams"},
      .types = {{"Tparams", kAllTypes}, {"Tindices", kAllIndexTypes}},
      .infer = gather_nd_shape,
      .gradient = gather_nd_gradient,
      .batch = batch_gather_nd,
      .body = kernel(gather_nd_kernel),
  });
}

Status scatter_nd_shape(InferContext& c) {
  RETURN_IF_ERROR(check_policy(c));
  ASSIGN_OR_RETURN(Shape shape, shape_from_input(c, 2));
  c.set_shape(0, shape);
  RETURN_IF_ERROR(check_updates(c.shape(0), shape, c.shape(1)));
  if (shape.is_fully_known() && shape.num_elements() == 0 && c.shape(1).is_fully_known() &&
      c.shape(1).num_elements() > 0) {
    return invalid_argument("Indices and updates specified for empty output shape");
  }
  return {};
}

void batch_scatter_nd(BatchContext& c) {
  if (gives_up_if_batched(c, {2})) return;
  const Tensor indices = indices_with_row_numbers(c, 0);
  if (c.uses_loop()) return;
  const Tensor inputs[] = {indices, c.repeated(1), with_rows_in_front(c, 2)};
  apply_to_rows(c, inputs);
}

void batch_tensor_scatter(BatchContext& c) {
  const Tensor indices = indices_with_row_numbers(c, 1);
  if (c.uses_loop()) return;
  const Tensor inputs[] = {c.repeated(0), indices, c.repeated(2)};
  apply_to_rows(c, inputs);
}

void define_scatter_nd(OpRegistry& ops) {
  kScatterNd = ops.define<IndexPolicyAttrs>({
      .name = "ScatterNd",
      .python = "scatter_nd",
      .summary = "Zeros of the given shape, with each update added to the slice that its vector of "
                 "indices names.",
      .inputs = {"indices: Tindices", "updates: T", "shape: Tindices"},
      .outputs = {"output: T"},
      .types = {{"T", kValueTypes, kAllTypes},
                {"Tindices", kIndexTypes, kIndexTypes | DTypeSet{DType::kInt16}}},
      .infer = scatter_nd_shape,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(1)) {
              c.set_dx(1, c(kGatherNd, {c.dy(), c.x(0)}, c.attrs<IndexPolicyAttrs>()));
            }
          },
      .batch = batch_scatter_nd,
      .body = kernel(scatter_nd_kernel),
      .values_for_inference = {2},
  });
}

void tensor_scatter_update_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<IndexPolicyAttrs>();
  if (c.wants(0)) {
    Tensor zeros = c(kFill, {c.shape_of_x(2), constant_like(Formula(c, c.dy()), 0)});
    c.set_dx(0, c(kTensorScatterUpdate, {c.dy(), c.x(1), zeros}, attrs));
  }
  if (c.wants(2)) c.set_dx(2, c(kGatherNd, {c.dy(), c.x(1)}, attrs));
}

void define_tensor_scatter(OpRegistry& ops, OpHandle<IndexPolicyAttrs>& handle, const char* name,
                           const char* python, const char* summary, DTypeSet types,
                           GradientFunction gradient, KernelFunction f,
                           DTypeSet declared_indices = {}) {
  ops.define(handle,
             {
                 .name = name,
                 .python = python,
                 .summary = summary,
                 .details = "Each vector of indices, along the last axis, names a slice.",
                 .inputs = {"tensor: T", "indices: Tindices", "updates: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", types, kAllTypes}, {"Tindices", kIndexTypes, declared_indices}},
                 .infer = tensor_scatter_shape,
                 .gradient = gradient,
                 .batch = batch_tensor_scatter,
                 .body = kernel(f),
                 .overwrites = 0,
             });
}

void define_tensor_scatter_update(OpRegistry& ops) {
  define_tensor_scatter(
      ops, kTensorScatterUpdate, "TensorScatterUpdate", "tensor_scatter_nd_update",
      "The tensor, with "
      "updates in place of the slices that indices name.",
      kValueTypes, tensor_scatter_update_gradient, tensor_scatter_kernel<TensorScatter::kUpdate>,
      {DType::kInt16, DType::kUInt16});
}

void tensor_scatter_add_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c.dy());
  if (c.wants(2)) c.set_dx(2, c(kGatherNd, {c.dy(), c.x(1)}, c.attrs<IndexPolicyAttrs>()));
}

void define_tensor_scatter_add(OpRegistry& ops) {
  define_tensor_scatter(ops, kTensorScatterAdd, "TensorScatterAdd", "tensor_scatter_nd_add",
                        "The tensor, with updates added to the slices that indices name.",
                        kNumberTypes, tensor_scatter_add_gradient,
                        tensor_scatter_kernel<TensorScatter::kAdd>);
}

void tensor_scatter_sub_gradient(GradientContext& c) {
  if (c.wants(0)) c.set_dx(0, c.dy());
  if (!c.wants(2)) return;
  c.set_dx(2, -Formula(c, c(kGatherNd, {c.dy(), c.x(1)}, c.attrs<IndexPolicyAttrs>())));
}

void define_tensor_scatter_sub(OpRegistry& ops) {
  define_tensor_scatter(ops, kTensorScatterSub, "TensorScatterSub", "tensor_scatter_nd_sub",
                        "The tensor, with updates subtracted from the slices that indices name.",
                        kNumberTypes, tensor_scatter_sub_gradient,
                        tensor_scatter_kernel<TensorScatter::kSub>);
}

// The values that equal the extremum share the gradient evenly.
void tensor_scatter_extremum_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<IndexPolicyAttrs>();
  Tensor indices = c.x(1);
  Formula x(c, c.x(0)), updates(c, c.x(2)), y(c, c.y(0)), dy(c, c.dy());
  auto is_equal = [&](const Formula& a, const Tensor& b) {
    return Formula(c, cast(c, c(kEqual, {a, b}), dy.dtype()));
  };
  Formula x_won = is_equal(x, y);
  Formula update_won = is_equal(updates, c(kGatherNd, {y, indices}, attrs));
  Tensor shape = cast(c, c.shape_of_x(0), c.dtype_of_x(1));
  Formula winners = x_won + Formula(c, c(kScatterNd, {indices, update_won, shape}, attrs));
  if (c.wants(0)) c.set_dx(0, dy * x_won / winners);
  if (!c.wants(2)) return;
  c.set_dx(2, Formula(c, c(kGatherNd, {dy / winners, indices}, attrs)) * update_won);
}

void define_tensor_scatter_min_and_kin(OpRegistry& ops) {
  define_tensor_scatter(ops, kTensorScatterMin, "TensorScatterMin", "tensor_scatter_nd_min",
                        "The tensor, with the lesser of updates and slices that indices name.",
                        kRealTypes, tensor_scatter_extremum_gradient,
                        tensor_scatter_kernel<TensorScatter::kMin>);
  define_tensor_scatter(ops, kTensorScatterMax, "TensorScatterMax", "tensor_scatter_nd_max",
                        "The tensor, with the greater of updates and slices that indices name.",
                        kRealTypes, tensor_scatter_extremum_gradient,
                        tensor_scatter_kernel<TensorScatter::kMax>);
}

}  // namespace

void define_gather_ops(OpRegistry& ops) {
  define_gather_v2_and_gather(ops);
  define_gather_nd(ops);
  define_scatter_nd(ops);
  define_tensor_scatter_update(ops);
  define_tensor_scatter_add(ops);
  define_tensor_scatter_sub(ops);
  define_tensor_scatter_min_and_kin(ops);
}

}  // namespace graven::engine
