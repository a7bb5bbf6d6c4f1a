#include "graven/ops/segment_ops.h"

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/segment_kernels.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

Tensor as_column(GradientContext& c, const Tensor& vector) {
  const Shape& data = c.static_shape_of_x(0);
  if (data.has_rank()) {
    std::vector<int32_t> sizes(static_cast<size_t>(data.rank()), 1);
    sizes[0] = -1;
    return c(kReshape, {vector, int32_vector(c, sizes)});
  }
  const int32_t second[] = {1}, all[] = {-1};
  const Tensor rest = elements_between(c, c.shape_of_x(0), int32_vector(c, second));
  return c(kReshape, {vector, joined(c, int32_vector(c, all), c(kOnesLike, {rest}))});
}

namespace {

// --- Gradients, which sorted and unsorted segments share.

bool is_sorted(const GradientContext& c) { return c.num_inputs() == 2; }

// For each row of the data the row of its segment; 0 for a row that was dropped. A vector of
// conditions chooses rows, whatever the rank of the rest.
Formula rows_of(GradientContext& c, const Tensor& segments) {
  Tensor axis = constant(c, Tensor::scalar<int32_t>(0));
  if (is_sorted(c)) return {c, c(kGatherV2, {segments, c.x(1), axis})};
  const int32_t flat[] = {-1};
  Formula id(c, c(kReshape, {c.x(1), int32_vector(c, flat)}));
  if (id.dtype() == DType::kInt16) id = Formula(c, cast(c, id, DType::kInt32));
  Formula zero = constant_like(id, 0);
  Tensor rows = c(kGatherV2, {segments, call(kMaximum, id, zero), axis});
  Tensor kept = c(kSelect, {call(kGreaterEqual, id, zero), rows, c(kZerosLike, {rows})});
  return {c, c(kReshape, {kept, c.shape_of_x(0)})};
}

// Combines rows, which are like those of the data, by the segments of the op.
Formula segments_of(GradientContext& c, const OpHandle<NoAttrs>& sorted,
                    const OpHandle<NoAttrs>& unsorted, const Tensor& rows) {
  if (is_sorted(c)) return {c, c(sorted, {rows, c.x(1)})};
  return {c, c(unsorted, {rows, c.x(1), c.x(2)})};
}

Formula sums_of(GradientContext& c, const Tensor& rows) {
  return segments_of(c, kSegmentSum, kUnsortedSegmentSum, rows);
}

// Each row has the gradient of the sum that it went into.
void sum_gradient(GradientContext& c) { c.set_dx(0, rows_of(c, c.dy())); }

// No row reads an empty segment. Its quotient is 0 and not NaN, which would spread in the second
// gradient.
void mean_gradient(GradientContext& c) {
  Formula dy(c, c.dy());
  const Tensor ones = c(kFill, {c.shape_of_x(1), constant_like(dy, 1)});
  Formula counts(c, as_column(c, sums_of(c, ones)));
  c.set_dx(0, rows_of(c, call(kDivNoNan, dy, counts)));
}

// The rows that are the extremum share its gradient.
void extremum_gradient(GradientContext& c) {
  Formula dy(c, c.dy());
  const Tensor is_best = c(kEqual, {c.x(0), rows_of(c, c.y(0))});
  Formula count = sums_of(c, cast(c, is_best, dy.dtype()));
  const Tensor share = rows_of(c, call(kDivNoNan, dy, count));
  c.set_dx(0, c(kSelectV2, {is_best, share, constant_like(dy, 0)}));
}

// The product of the other rows: where no element is 0 the product divided by the element; beside
// one 0 nothing but that element has a gradient, and beside several none.
void product_gradient(GradientContext& c) {
  Formula x(c, c.x(0)), dy(c, c.dy());
  Formula is_zero = call(kEqual, x, constant_like(x, 0));
  Formula num_zeros = sums_of(c, cast(c, is_zero, DType::kInt32));
  const Tensor is_lost = call(kGreater, num_zeros, constant_like(num_zeros, 1));
  const Tensor passed = c(kSelectV2, {is_lost, constant_like(dy, 0), dy});
  Formula divisor(c, c(kSelectV2, {is_zero, constant_like(x, 1), x}));
  Formula others = segments_of(c, kSegmentProd, kUnsortedSegmentProd, divisor);
  Formula factor(c, c(kSelectV2, {is_zero, rows_of(c, others), rows_of(c, c.y(0)) / divisor}));
  c.set_dx(0, rows_of(c, passed) * conj(factor));
}

// --- Sorted ids.

Status sorted_shape(InferContext& c) {
  const Shape &data = c.shape(0), &ids = c.shape(1);
  if (data.has_rank() && data.rank() == 0) {
    return invalid_argument("input must be at least rank 1");
  }
  if (ids.has_rank() && ids.rank() != 1) {
    return invalid_argument("segment_ids should be a vector.");
  }
  if (!data.has_rank()) return unknown_outputs(c);
  if (ids.has_rank() && !c.merge(data[0], ids[0]).ok()) {
    return invalid_argument("segment_ids should be the same size as dimension 0 of input.");
  }
  Shape out = data;
  out.set(0, c.new_symbol("segments"));
  c.set_shape(0, out);
  return {};
}

void define_sorted(OpRegistry& ops, OpHandle<NoAttrs>& handle, const char* name, const char* python,
                   const char* result, const char* empty, DTypeSet types, GradientFunction gradient,
                   KernelFunction f) {
  ops.define(handle,
             {
                 .name = name,
                 .python = python,
                 .summary = str_cat("output[i] is the ", result,
                                    " of the rows of data whose segment id is i."),
                 .details = str_cat("The ids are sorted, and none is negative. There is a row for "
                                    "each id up to the last; a segment without rows is ",
                                    empty, "."),
                 .inputs = {"data: T", "segment_ids: Tindices"},
                 .outputs = {"output: T"},
                 .types = {{"T", types}, {"Tindices", kIndexTypes}},
                 .infer = sorted_shape,
                 .gradient = gradient,
                 .batch = batch_rows_behind,
                 .body = kernel(f),
             });
}

// --- Unsorted ids.

Status unsorted_shape(InferContext& c) {
  const Shape &data = c.shape(0), &ids = c.shape(1);
  if (c.shape(2).has_rank() && c.shape(2).rank() != 0) {
    return invalid_argument("num_segments should be a scalar, not shape ", c.shape(2).to_message());
  }
  auto num_segments = c.sizes(2);
  if (Tensor value = c.value(2); value && integer_at(value, 0) < 0) {
    return invalid_argument("Input num_segments == ", integer_at(value, 0),
                            " must not be negative.");
  }
  if (!data.has_rank() || !ids.has_rank()) return unknown_outputs(c);
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) fits = c.merge(data[i], ids[i]).ok();
  if (!fits) {
    return invalid_argument("data.shape = ", data.to_message(),
                            " does not start with segment_ids.shape = ", ids.to_message());
  }
  Shape out = {num_segments ? (*num_segments)[0] : Dim::unknown()};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  c.set_shape(0, out);
  return {};
}

// Each row has segments of its own, those of one row after those of the row before. Negative ids
// stay.
void batch_unsorted(BatchContext& c) {
  const auto rank = c.rank(1);
  if (gives_up_if_batched(c, {2}) || !rank || !c.rank(0)) return c.use_loop();
  DType dtype = c.dtype(1) == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  const Formula ids(c, cast(c, c.repeated(1), dtype));
  const Formula numbers(c, row_numbers(c, dtype, *rank));
  const Formula own = ids + numbers * Formula(c, cast(c, c.x(2), dtype));
  const Tensor moved = c(kSelectV2, {call(kLess, ids, constant_like(ids, 0)), ids, own});
  const auto rows = c.num_rows_if_known();
  const Size num_rows = rows ? Size(*rows) : Size(c.num_rows());
  const auto known = c.integers(2);
  const Size segments = known ? Size((*known)[0]) : Size(cast(c, c.x(2), DType::kInt32));
  const Tensor all = cast(c, multiply(c, num_rows, segments).tensor(c), c.dtype(2));
  const Tensor inputs[] = {c.repeated(0), moved, all};
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  if (made.empty()) return;
  const SizeList sizes = sizes_of(c, made[0].shape(), [&] { return c(kShape, {made[0]}); });
  SizeList shape = {num_rows, segments};
  shape.insert(shape.end(), sizes.begin() + 1, sizes.end());
  c.set_y(0, c(kReshape, {made[0], vector_of(c, shape)}));
}

void define_unsorted(OpRegistry& ops, OpHandle<NoAttrs>& handle, const char* name,
                     const char* python, const char* result, const char* empty, DTypeSet types,
                     DTypeSet index_types, GradientFunction gradient, KernelFunction f) {
  ops.define(handle,
             {
                 .name = name,
                 .python = python,
                 .summary = str_cat("output[i] is the ", result,
                                    " of the rows of data whose segment id is i."),
                 .details = str_cat("Rows of a negative id are dropped; a segment without rows is ",
                                    empty, "."),
                 .inputs = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"},
                 .outputs = {"output: T"},
                 .types = {{"T", types}, {"Tindices", index_types}, {"Tnumsegments", kIndexTypes}},
                 .infer = unsorted_shape,
                 .gradient = gradient,
                 .batch = batch_unsorted,
                 .body = kernel(f),
                 .values_for_inference = {2},
             });
}

}  // namespace

void define_segment_ops(OpRegistry& ops) {
  define_sorted(ops, kSegmentSum, "SegmentSum", "math.segment_sum", "sum", "0", kNumberTypes,
                sum_gradient, segment_kernel<SegmentKind::kSum>);
  define_sorted(ops, kSegmentMean, "SegmentMean", "math.segment_mean", "mean", "0", kNumberTypes,
                mean_gradient, segment_kernel<SegmentKind::kMean>);
  define_sorted(ops, kSegmentProd, "SegmentProd", "math.segment_prod", "product", "1", kNumberTypes,
                product_gradient, segment_kernel<SegmentKind::kProd>);
  define_sorted(ops, kSegmentMin, "SegmentMin", "math.segment_min", "least", "0", kRealTypes,
                extremum_gradient, segment_kernel<SegmentKind::kMin>);
  define_sorted(ops, kSegmentMax, "SegmentMax", "math.segment_max", "greatest", "0", kRealTypes,
                extremum_gradient, segment_kernel<SegmentKind::kMax>);
  define_unsorted(ops, kUnsortedSegmentSum, "UnsortedSegmentSum", "math.unsorted_segment_sum",
                  "sum", "0", kNumberTypes, kIndexTypes | DTypeSet{DType::kInt16}, sum_gradient,
                  unsorted_segment_kernel<SegmentKind::kSum>);
  define_unsorted(ops, kUnsortedSegmentProd, "UnsortedSegmentProd", "math.unsorted_segment_prod",
                  "product", "1", kNumberTypes, kIndexTypes, product_gradient,
                  unsorted_segment_kernel<SegmentKind::kProd>);
  define_unsorted(ops, kUnsortedSegmentMin, "UnsortedSegmentMin", "math.unsorted_segment_min",
                  "least", "the largest number of the dtype", kRealTypes, kIndexTypes,
                  extremum_gradient, unsorted_segment_kernel<SegmentKind::kMin>);
  define_unsorted(ops, kUnsortedSegmentMax, "UnsortedSegmentMax", "math.unsorted_segment_max",
                  "greatest", "the lowest number of the dtype", kRealTypes, kIndexTypes,
                  extremum_gradient, unsorted_segment_kernel<SegmentKind::kMax>);
}

}  // namespace graven::engine
