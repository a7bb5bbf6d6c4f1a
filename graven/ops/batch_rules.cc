#include "graven/ops/batch_rules.h"

#include <algorithm>
#include <utility>

#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

Tensor integers_like(BatchContext& c, int input, std::span<const int64_t> values) {
  if (c.dtype(input) == DType::kInt64) return c.constant(Tensor::vector(values));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return int32_vector(c, narrow);
}

Tensor scalar_like(BatchContext& c, int input, int64_t value) {
  return c.constant(c.dtype(input) == DType::kInt64 ? Tensor::scalar(value)
                                                    : Tensor::scalar(static_cast<int32_t>(value)));
}

Tensor zero_axis(BatchContext& c) { return c.constant(Tensor::scalar<int32_t>(0)); }

SizeList sizes_of_tensor(BatchContext& c, const Tensor& x) {
  return sizes_of(c, x.shape(), [&] { return c(kShape, {x}); });
}

}  // namespace

bool gives_up_if_batched(BatchContext& c, std::initializer_list<int> inputs) {
  if (!c.any_batched(inputs)) return false;
  c.use_loop();
  return true;
}

Tensor shifted_axes(BatchContext& c, int input) {
  if (auto known = c.integers(input)) {
    for (int64_t& axis : *known) axis = shifted_axis(axis);
    if (c.value(input).shape().rank() == 0) return scalar_like(c, input, (*known)[0]);
    return integers_like(c, input, *known);
  }
  const Tensor counts_from_start = c(kGreater, {c.x(input), scalar_like(c, input, -1)});
  return c(kAddV2, {c.x(input), cast(c, counts_from_start, c.dtype(input))});
}

Tensor with_front(BatchContext& c, int input, int64_t front) {
  if (auto known = c.integers(input)) {
    known->insert(known->begin(), front);
    return integers_like(c, input, *known);
  }
  return c(kConcatV2, {integers_like(c, input, {&front, 1}), c.x(input), zero_axis(c)});
}

Tensor with_rows_in_front(BatchContext& c, int input) {
  if (const auto rows = c.num_rows_if_known()) return with_front(c, input, *rows);
  return c(kConcatV2, {c.num_rows_as_vector(c.dtype(input)), c.x(input), zero_axis(c)});
}

Tensor with_front_row(BatchContext& c, int input, int32_t first, int32_t second) {
  const int32_t values[] = {first, second}, shape[] = {1, 2};
  const Tensor row = c(kReshape, {int32_vector(c, values), int32_vector(c, shape)});
  return c(kConcatV2, {cast(c, row, c.dtype(input)), c.x(input), zero_axis(c)});
}

Tensor row_sizes(BatchContext& c, int input) {
  const Shape known = c.row_shape(input);
  if (known.has_rank()) {
    const int first = c.is_batched(input) ? 1 : 0;
    Tensor shape;
    SizeList sizes;
    for (int d = 0; d < known.rank(); ++d) {
      if (known[d].is_number()) {
        sizes.emplace_back(known.size(d));
        continue;
      }
      if (!shape) shape = c(kShape, {c.x(input)});
      sizes.emplace_back(element_of(c, shape, first + d));
    }
    return vector_of(c, sizes);
  }
  const Tensor shape = c(kShape, {c.x(input)});
  const int32_t one[] = {1};
  return c.is_batched(input) ? elements_between(c, shape, int32_vector(c, one)) : shape;
}

Tensor moved_axis(BatchContext& c, const Tensor& x, int rank, int from, int to) {
  if (from == to) return x;
  std::vector<int32_t> order;
  for (int d = 0; d < rank; ++d) {
    if (d != from) order.push_back(d);
  }
  order.insert(order.begin() + to, from);
  return c(kTranspose, {x, int32_vector(c, order)});
}

Tensor folded(BatchContext& c, const Tensor& x) {
  if (!x) return x;
  if (!x.shape().has_rank() || x.shape().rank() < 2) {
    c.use_loop();
    return {};
  }
  SizeList sizes = sizes_of_tensor(c, x);
  sizes[1] = multiply(c, sizes[0], sizes[1]);
  sizes.erase(sizes.begin());
  return c(kReshape, {x, vector_of(c, sizes)});
}

Tensor unfolded(BatchContext& c, const Tensor& x, int like) {
  if (!x) return x;
  const Shape row = c.row_shape(like);
  if (!x.shape().has_rank() || !row.has_rank() || row.rank() < 1) {
    c.use_loop();
    return {};
  }
  SizeList sizes = sizes_of_tensor(c, x);
  sizes[0] = row[0].is_number() ? Size(row.size(0)) : Size(element_of(c, row_sizes(c, like), 0));
  const auto known = c.num_rows_if_known();
  sizes.insert(sizes.begin(), known ? Size(*known) : Size(c.num_rows()));
  return c(kReshape, {x, vector_of(c, sizes)});
}

Tensor row_numbers(BatchContext& c, DType dtype, int rank) {
  const Tensor numbers =
      c(kRange, {zero_axis(c), c.num_rows(), c.constant(Tensor::scalar<int32_t>(1))});
  std::vector<int32_t> shape(static_cast<size_t>(rank) + 1, 1);
  shape[0] = -1;
  return c(kReshape, {cast(c, numbers, dtype), int32_vector(c, shape)});
}

void apply_to_rows(BatchContext& c, std::span<const Tensor> inputs) {
  apply_to_rows(c, inputs, c.raw_attrs());
}

void apply_to_rows(BatchContext& c, std::span<const Tensor> inputs, AttrsRef attrs) {
  const Tensors made = c.apply(c.op(), inputs, attrs);
  for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i]);
}

void batch_data(BatchContext& c, std::initializer_list<int> data) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const bool is_data = std::ranges::find(data, i) != data.end();
    if (!is_data && gives_up_if_batched(c, {i})) return;
    inputs.push_back(is_data ? c.repeated(i) : c.x(i));
  }
  apply_to_rows(c, inputs);
}

void batch_folding(BatchContext& c, std::initializer_list<int> data) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const bool is_data = std::ranges::find(data, i) != data.end();
    if (!is_data && gives_up_if_batched(c, {i})) return;
    inputs.push_back(is_data ? folded(c, c.repeated(i)) : c.x(i));
    if (c.uses_loop()) return;
  }
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) {
    c.set_y(static_cast<int>(i), unfolded(c, made[i], *data.begin()));
  }
}

void batch_folding_sizes(BatchContext& c, int sizes, int data) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != data && gives_up_if_batched(c, {i})) return;
    inputs.push_back(i == data ? folded(c, c.repeated(i)) : c.x(i));
    if (c.uses_loop()) return;
  }
  // The first of the sizes counts items.
  const int32_t one[] = {1};
  const Tensor given = cast(c, c.x(sizes), DType::kInt32);
  const auto rows = c.num_rows_if_known();
  const Size items = multiply(c, Size(element_of(c, row_sizes(c, data), 0)),
                              rows ? Size(*rows) : Size(c.num_rows()));
  const Tensor all = vector_of(c, {&items, 1});
  const Tensor rest = elements_between(c, given, int32_vector(c, one));
  inputs[static_cast<size_t>(sizes)] = cast(c, joined(c, all, rest), c.dtype(sizes));
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) {
    c.set_y(static_cast<int>(i), unfolded(c, made[i], data));
  }
}

void batch_along(BatchContext& c, int data, int axis) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != data && gives_up_if_batched(c, {i})) return;
    inputs.push_back(i == axis ? shifted_axes(c, i) : c.x(i));
  }
  apply_to_rows(c, inputs);
}

void batch_rows_behind(BatchContext& c) {
  const auto rank = c.rank(0);
  if (!rank) return c.use_loop();
  std::vector<Tensor> inputs = {c.x(0)};
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (gives_up_if_batched(c, {i})) return;
    inputs.push_back(c.x(i));
  }
  inputs[0] = moved_axis(c, inputs[0], *rank + 1, 0, *rank);
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) {
    const Shape& shape = made[i].shape();
    if (!shape.has_rank()) return c.use_loop();
    c.set_y(static_cast<int>(i), moved_axis(c, made[i], shape.rank(), shape.rank() - 1, 0));
  }
}

void batch_broadcast_to_output(BatchContext& c) {
  int rank = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.rank(i)) return c.use_loop();
    rank = std::max(rank, *c.rank(i));
  }
  Tensor shape;
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back(c.aligned(i, rank));
    const Tensor own = c(kShape, {inputs.back()});
    shape = i == 0 ? own : c(kBroadcastArgs, {shape, own});
  }
  for (Tensor& input : inputs) input = c(kBroadcastTo, {input, shape});
  apply_to_rows(c, inputs);
}

void batch_draw(BatchContext& c, int shape) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (gives_up_if_batched(c, {i})) return;
    inputs.push_back(i == shape ? with_rows_in_front(c, i) : c.x(i));
  }
  apply_to_rows(c, inputs);
}

}  // namespace graven::engine
