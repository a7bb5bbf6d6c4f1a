#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/structural_kernels.h"

namespace graven::engine {
namespace {

Status concat_shape(InferContext& c) {
  const int n = c.num_inputs() - 1;
  if (n == 0) return invalid_argument("ConcatV2 needs at least one value");
  int rank = -1;
  for (int i = 0; i < n; ++i) {
    if (!c.shape(i).has_rank()) continue;
    if (c.shape(i).rank() == 0) {
      return invalid_argument("Can't concatenate scalars (use tf.stack instead)");
    }
    if (rank >= 0 && c.shape(i).rank() != rank) {
      return invalid_argument(
          "Ranks of all inputs should match: shape[0] = ", c.shape(0).to_message(), " vs. shape[",
          i, "] = ", c.shape(i).to_message());
    }
    rank = c.shape(i).rank();
  }
  Tensor axis_value = c.value(n);
  if (rank < 0 || !axis_value) {
    Shape out = Shape::unknown_rank();
    if (rank >= 0) out = Shape();
    for (int i = 0; i < rank; ++i) out.push_back(Dim::unknown());
    c.set_shape(0, out);
    return {};
  }
  if (axis_value.num_elements() != 1) {
    return invalid_argument("axis must be a scalar, got shape ", axis_value.shape().to_message());
  }
  int64_t given_axis = integer_at(axis_value, 0);
  if (given_axis < -rank || given_axis >= rank) {
    return invalid_argument("ConcatOp : Expected concatenating dimensions in the range [", -rank,
                            ", ", rank, "), but got ", given_axis);
  }
  int axis = static_cast<int>(given_axis < 0 ? given_axis + rank : given_axis);
  Shape out;
  for (int d = 0; d < rank; ++d) {
    Dim size = d == axis ? Dim(0) : Dim::unknown();
    for (int i = 0; i < n; ++i) {
      Dim next = c.shape(i).has_rank() ? c.shape(i)[d] : Dim::unknown();
      if (d == axis) {
        size = c.add(size, next);
        continue;
      }
      auto merged = c.merge(size, next);
      if (!merged.ok()) {
        return invalid_argument("ConcatOp : Dimension ", d, " in both shapes must be equal: ",
                                "shape[0] = ", c.shape(0).to_message(), " vs. shape[", i,
                                "] = ", c.shape(i).to_message());
      }
      size = *merged;
    }
    out.push_back(size);
  }
  c.set_shape(0, out);
  if (rank != 1 || !c.is_graph()) return {};
  SymbolicValue all;
  for (int i = 0; i < n; ++i) {
    auto part = c.sizes(i);
    if (!part) return {};
    for (Dim dim : *part) all.push_back(dim);
  }
  c.set_sizes(0, all);
  return {};
}

// The pieces of dy, cut where the values were joined.
void concat_gradient(GradientContext& c) {
  const int n = c.num_inputs() - 1;
  Tensor axis = c.x(n);
  Tensor known_axis = known_value(axis);
  std::vector<Size> sizes;
  for (int i = 0; i < n; ++i) {
    const Shape& x = c.static_shape_of_x(i);
    if (known_axis && x.has_rank()) {
      auto at = normalized_axis(integer_at(known_axis, 0), x.rank());
      if (!at.ok()) return c.fail(at.status());
      Dim size = x[*at];
      sizes.push_back(size.is_number() ? Size(size.number())
                                       : Size(element_of(c, c.shape_of_x(i), *at)));
    } else {
      Tensor shape = c.shape_of_x(i);
      Tensor rank = c(kSize, {shape});
      Tensor at = c(kFloorMod, {cast(c, axis, DType::kInt32), rank});
      sizes.push_back(Size(c(kGatherV2, {shape, at, constant(c, Tensor::scalar<int32_t>(0))})));
    }
  }
  Tensors pieces = c.apply(*kSplitV, {{c.dy(), vector_of(c, sizes), cast(c, axis, DType::kInt32)}},
                           SplitAttrs{n});
  for (int i = 0; i < static_cast<int>(pieces.size()); ++i) {
    if (c.wants(i)) c.set_dx(i, pieces[i]);
  }
}

}  // namespace

void batch_concat(BatchContext& c) {
  const int axis = c.num_inputs() - 1;
  if (gives_up_if_batched(c, {axis})) return;
  std::vector<Tensor> inputs;
  for (int i = 0; i < axis; ++i) inputs.push_back(c.repeated(i));
  inputs.push_back(shifted_axes(c, axis));
  apply_to_rows(c, inputs);
}

void define_concat_ops(OpRegistry& ops) {
  kConcatV2 = ops.define<NoAttrs>({
      .name = "ConcatV2",
      .python = "concat",
      .summary = "The values one after another along an axis.",
      .inputs = {"values: N * T", "axis: Tidx"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tidx", kIndexTypes}},
      .infer = concat_shape,
      .gradient = concat_gradient,
      .batch = batch_concat,
      .body = kernel(concat_kernel),
      .values_for_inference = {-1},
      .reads = concat_reads,
      .default_node_name = "concat",
  });
}

}  // namespace graven::engine
