#include "graven/ir/batch_context.h"

#include <algorithm>
#include <utility>

#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

bool BatchContext::any_batched() const {
  for (int i = 0; i < num_inputs(); ++i) {
    if (is_batched(i)) return true;
  }
  return false;
}

bool BatchContext::any_batched(std::initializer_list<int> inputs) const {
  return std::ranges::any_of(inputs, [this](int i) { return is_batched(i); });
}

DType BatchContext::dtype(int i) const {
  const OutputRef input = node().inputs()[static_cast<size_t>(i)];
  return input.node->output(input.index).dtype;
}

Shape BatchContext::row_shape(int i) const {
  const OutputRef input = node().inputs()[static_cast<size_t>(i)];
  const Shape& traced = input.node->output(input.index).shape;
  if (traced.has_rank() || !x(i) || !x(i).shape().has_rank()) return traced;
  const Shape& given = x(i).shape();
  Shape shape;
  for (int d = is_batched(i) ? 1 : 0; d < given.rank(); ++d) {
    shape.push_back(given[d].is_number() ? given[d] : Dim::unknown());
  }
  return shape;
}

const Shape& BatchContext::row_shape_of_y(int i) const { return node().output(i).shape; }

std::optional<int> BatchContext::rank(int i) const {
  const Shape shape = row_shape(i);
  return shape.has_rank() ? std::optional(shape.rank()) : std::nullopt;
}

Tensor BatchContext::value(int i) const {
  if (is_batched(i) || !x(i)) return {};
  if (!x(i).is_symbolic()) return x(i);
  const Node& made_by = symbolic(x(i)).node();
  return &made_by.op() == kConst.op ? made_by.attrs().as<ConstAttrs>().value : Tensor();
}

std::optional<std::vector<int64_t>> BatchContext::integers(int i) const {
  const Tensor known = value(i);
  if (!known || !kIndexTypes.contains(known.dtype())) return std::nullopt;
  if (known.dtype() == DType::kInt64) {
    const auto values = known.data<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  const auto values = known.data<int32_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

std::optional<int64_t> BatchContext::num_rows_if_known() const {
  const Tensor& rows = num_rows();
  if (!rows) return std::nullopt;
  if (!rows.is_symbolic()) return rows.data<int32_t>()[0];
  const Node& made_by = symbolic(rows).node();
  if (&made_by.op() != kConst.op) return std::nullopt;
  return made_by.attrs().as<ConstAttrs>().value.data<int32_t>()[0];
}

Tensor BatchContext::num_rows_as_vector(DType dtype) {
  if (const auto known = num_rows_if_known()) {
    const auto narrow = static_cast<int32_t>(*known);
    return constant(dtype == DType::kInt64 ? Tensor::vector(std::span<const int64_t>(&*known, 1))
                                           : Tensor::vector(std::span<const int32_t>(&narrow, 1)));
  }
  const Tensor vector = (*this)(kExpandDims, {num_rows(), constant(Tensor::scalar<int32_t>(0))});
  return dtype == DType::kInt32 ? vector : (*this)(kCast, {vector}, {.DstT = dtype});
}

Tensor BatchContext::repeated(int i) { return repeated(input(i)); }

Tensor BatchContext::repeated(const BatchedTensor& x) {
  if (x.is_batched) return x.tensor;
  const Tensor shape = (*this)(kShape, {x.tensor});
  return (*this)(kBroadcastTo,
                 {x.tensor, (*this)(kConcatV2, {num_rows_as_vector(), shape,
                                                constant(Tensor::scalar<int32_t>(0))})});
}

Tensor BatchContext::aligned(int i, int rank) {
  const auto own = this->rank(i);
  if (!own || *own > rank) {
    use_loop();
    return {};
  }
  Tensor tensor = x(i);
  if (!is_batched(i)) return tensor;
  for (int d = *own; d < rank; ++d) {
    tensor = (*this)(kExpandDims, {tensor, constant(Tensor::scalar<int32_t>(1))});
  }
  return tensor;
}

void batch_any_shape(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.x(i));
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) {
    const auto number = static_cast<int>(i);
    c.set_y(number, made[i], c.is_batched(number));
  }
}

void batch_broadcasting(BatchContext& c) {
  int rank = 0;
  for (int i = 0; i < c.num_inputs() && c.num_inputs() > 1; ++i) {
    const auto own = c.rank(i);
    if (!own) return c.use_loop();
    rank = std::max(rank, *own);
  }
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back(c.num_inputs() == 1 ? c.x(i) : c.aligned(i, rank));
  }
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i]);
}

void batch_leading_axes(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.repeated(i));
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i]);
}

}  // namespace graven::engine
