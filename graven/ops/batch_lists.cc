#include "graven/ops/batch_lists.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/tensor_list_ops.h"

namespace graven::engine {
namespace {

// The shape of elements, an input of list ops, for elements with the rows in front. Empty, after
// use_loop, if it is not known whether it is a vector.
Tensor element_shape_for_rows(BatchContext& c, int input) {
  const auto rank = c.rank(input);
  if (!rank || c.is_batched(input)) {
    c.use_loop();
    return {};
  }
  return *rank == 0 ? c.x(input) : with_rows_in_front(c, input);
}

// Applies the op for all rows, or once if nothing that it takes depends on the row.
void apply_to_list(BatchContext& c, std::span<const Tensor> inputs, bool is_batched) {
  if (c.uses_loop()) return;
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i], is_batched);
}

std::vector<Tensor> inputs_as_they_are(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.x(i));
  return inputs;
}

// [n,k,...] as [k,n,...], or back. Empty, after use_loop, if the rank is not known.
Tensor exchanged(BatchContext& c, const Tensor& x) {
  if (!x) return x;
  if (!x.shape().has_rank()) {
    c.use_loop();
    return {};
  }
  return moved_axis(c, x, x.shape().rank(), 1, 0);
}

// The elements of the list of input 0 along one axis, behind that of the rows if the list is
// batched. `shape` is the input that holds the shape of an element. Empty, after use_loop, if that
// is not known: elements that were never set would have no shape.
Tensor all_elements(BatchContext& c, DType dtype, int shape) {
  if (!c.row_shape_of_y(0).is_fully_known()) {
    c.use_loop();
    return {};
  }
  const Tensor element = c.is_batched(0) ? element_shape_for_rows(c, shape) : c.x(shape);
  if (c.uses_loop()) return {};
  const Tensor stacked = c(kTensorListStack, {c.x(0), element}, {dtype});
  return c.is_batched(0) ? exchanged(c, stacked) : stacked;
}

}  // namespace

void batch_list_push_back(BatchContext& c) {
  const Tensor inputs[] = {c.repeated(0), c.repeated(1)};
  apply_to_list(c, inputs, true);
}

void batch_list_pop_back(BatchContext& c) {
  const Tensor inputs[] = {c.x(0), element_shape_for_rows(c, 1)};
  apply_to_list(c, inputs, true);
}

void batch_list_length(BatchContext& c) { apply_to_list(c, inputs_as_they_are(c), false); }

void batch_list_element_shape(BatchContext& c) {
  const Tensor shape = c(kTensorListElementShape, {c.x(0)}, c.attrs<TensorListElementShapeAttrs>());
  if (!shape || !shape.shape().has_rank()) return c.use_loop();
  if (shape.shape().rank() == 0) return c.set_y(0, shape, false);  // -1
  const int32_t second[] = {1};
  const DType dtype = c.attrs<TensorListElementShapeAttrs>().shape_type;
  const Tensor sizes = elements_between(c, cast(c, shape, DType::kInt32), int32_vector(c, second));
  c.set_y(0, cast(c, sizes, dtype), false);
}

void batch_list_resize(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  apply_to_list(c, inputs_as_they_are(c), true);
}

void batch_list_get_item(BatchContext& c) {
  if (!c.is_batched(1)) {
    const Tensor inputs[] = {c.x(0), c.x(1), element_shape_for_rows(c, 2)};
    return apply_to_list(c, inputs, true);
  }
  // Each row reads another element.
  const Tensor all = all_elements(c, c.attrs<TensorListAttrs>().element_dtype, 2);
  if (c.uses_loop()) return;
  const Tensor axis = c.constant(Tensor::scalar<int32_t>(c.is_batched(0) ? 1 : 0));
  c.set_y(0, c(kGatherV2, {all, c.x(1), axis}, {.batch_dims = c.is_batched(0) ? 1 : 0}));
}

void batch_list_set_item(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  const Tensor inputs[] = {c.repeated(0), c.x(1), c.repeated(2)};
  apply_to_list(c, inputs, true);
}

void batch_list_stack(BatchContext& c) {
  const Tensor element = element_shape_for_rows(c, 1);
  if (c.uses_loop()) return;
  const Tensor stacked = c(kTensorListStack, {c.x(0), element}, c.attrs<TensorListStackAttrs>());
  const Tensor y = exchanged(c, stacked);
  if (!c.uses_loop()) c.set_y(0, y);
}

void batch_list_from_tensor(BatchContext& c) {
  const Tensor inputs[] = {exchanged(c, c.repeated(0)), element_shape_for_rows(c, 1)};
  apply_to_list(c, inputs, true);
}

void batch_list_gather(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  const Tensor element = element_shape_for_rows(c, 2);
  if (c.uses_loop()) return;
  const Tensor y =
      exchanged(c, c(kTensorListGather, {c.x(0), c.x(1), element}, c.attrs<TensorListAttrs>()));
  if (!c.uses_loop()) c.set_y(0, y);
}

void batch_list_scatter(BatchContext& c) {
  if (gives_up_if_batched(c, {1, 3})) return;
  const Tensor inputs[] = {exchanged(c, c.repeated(0)), c.x(1), element_shape_for_rows(c, 2),
                           c.x(3)};
  apply_to_list(c, inputs, true);
}

void batch_list_scatter_into(BatchContext& c) {
  if (gives_up_if_batched(c, {2})) return;
  const Tensor inputs[] = {c.repeated(0), exchanged(c, c.repeated(1)), c.x(2)};
  apply_to_list(c, inputs, true);
}

void batch_list_concat(BatchContext& c) {
  const auto sizes = c.integers(1);
  const bool is_known = sizes && !sizes->empty() &&
                        std::ranges::all_of(*sizes, [](int64_t size) { return size >= 0; });
  if (!c.is_batched(0) || !is_known) return c.use_loop();
  // All elements are of one length: they are stacked, and their two first axes become one.
  const Tensor stacked = c(kTensorListStack, {c.x(0), element_shape_for_rows(c, 1)},
                           {c.attrs<TensorListAttrs>().element_dtype});
  const Tensor rows = exchanged(c, stacked);
  if (c.uses_loop()) return;
  std::vector<int32_t> rest(sizes->begin() + 1, sizes->end());
  const int32_t one[] = {1};
  const Tensor count = c(kReshape, {c(kTensorListLength, {c.x(0)}), int32_vector(c, one)});
  const Tensor length = c.constant(Tensor::scalar(static_cast<int32_t>(sizes->front())));
  const Tensor shape =
      joined(c, joined(c, c.num_rows_as_vector(), c(kMul, {count, length})), int32_vector(c, rest));
  c.set_y(0, c(kReshape, {rows, shape}));
  c.set_y(1, c(kFill, {count, c.constant(Tensor::scalar(sizes->front()))}), false);
}

void batch_list_concat_lists(BatchContext& c) {
  const Tensor inputs[] = {c.repeated(0), c.repeated(1)};
  apply_to_list(c, inputs, true);
}

}  // namespace graven::engine
