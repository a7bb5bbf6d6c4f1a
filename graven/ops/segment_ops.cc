#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/structural_kernels.h"

namespace graven::engine {
namespace {

Status segment_sum_shape(InferContext& c) {
  const Shape &data = c.shape(0), &ids = c.shape(1);
  if (!data.has_rank() || !ids.has_rank()) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) fits = c.merge(data[i], ids[i]).ok();
  if (!fits) {
    return invalid_argument("data.shape = ", data.to_message(),
                            " does not start with segment_ids.shape = ", ids.to_message());
  }
  if (c.shape(2).has_rank() && c.shape(2).rank() != 0) {
    return invalid_argument("num_segments must be a scalar, got shape ", c.shape(2).to_message());
  }
  auto num_segments = c.sizes(2);
  if (Tensor value = c.value(2); value && integer_at(value, 0) < 0) {
    return invalid_argument("num_segments must be >= 0, got ", integer_at(value, 0));
  }
  Shape out = {num_segments ? (*num_segments)[0] : Dim::unknown()};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  c.set_shape(0, out);
  return {};
}

// Each row has the gradient of the sum that it went into, none if it was dropped. A vector of
// conditions chooses rows, whatever the rank of the rest.
void segment_sum_gradient(GradientContext& c) {
  const int32_t flat[] = {-1};
  Formula id(c, c(kReshape, {c.x(1), int32_vector(c, flat)}));
  if (id.dtype() == DType::kInt16) id = Formula(c, cast(c, id, DType::kInt32));
  Formula zero = constant_like(id, 0);
  Tensor axis = constant(c, Tensor::scalar<int32_t>(0));
  Tensor rows = c(kGatherV2, {c.dy(), call(kMaximum, id, zero), axis});
  Tensor kept = c(kSelect, {call(kGreaterEqual, id, zero), rows, c(kZerosLike, {rows})});
  c.set_dx(0, c(kReshape, {kept, c.shape_of_x(0)}));
}

}  // namespace

void define_segment_ops(OpRegistry& ops) {
  ops.define(kUnsortedSegmentSum,
             {
                 .name = "UnsortedSegmentSum",
                 .python = "math.unsorted_segment_sum",
                 .summary = "output[i] is the sum of the rows of data whose segment id is i.",
                 .details = "Rows of a negative id are dropped; a segment without rows is 0.",
                 .inputs = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"},
                 .outputs = {"output: T"},
                 .types = {{"T", kNumberTypes},
                           {"Tindices", kIndexTypes | DTypeSet{DType::kInt16}},
                           {"Tnumsegments", kIndexTypes}},
                 .infer = segment_sum_shape,
                 .gradient = segment_sum_gradient,
                 .body = kernel(unsorted_segment_sum_kernel),
                 .values_for_inference = {2},
             });
}

}  // namespace graven::engine
