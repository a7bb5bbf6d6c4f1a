#include "graven/ir/batch_context.h"

#include <algorithm>
#include <utility>

#include "graven/base/function_ref.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/tensor/resource.h"
#include "graven/tensor/tensor_list.h"

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
  const auto known = num_rows_if_known();
  const Tensor rows = known ? Tensor::scalar(static_cast<int32_t>(*known)) : num_rows();
  Tensor all = repeat_for_rows(*this, x, rows);
  if (!all && status().ok()) use_loop();
  return all;
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

namespace {

// Sizes as an int32 vector: the number of rows, and those of a shape behind it.
Tensor rows_and(Emitter& emit, const Tensor& num_rows, const Shape& known,
                FunctionRef<Tensor()> shape) {
  const Tensor zero = emit.constant(Tensor::scalar<int32_t>(0));
  if (!num_rows.is_symbolic() && known.is_fully_known()) {
    std::vector<int32_t> sizes = {num_rows.item<int32_t>()};
    for (int d = 0; d < known.rank(); ++d) sizes.push_back(static_cast<int32_t>(known.size(d)));
    return emit.constant(Tensor::vector(std::span<const int32_t>(sizes)));
  }
  const Tensor rows = num_rows.is_symbolic() ? num_rows : emit.constant(num_rows);
  return emit(kConcatV2, {emit(kExpandDims, {rows, zero}), shape(), zero});
}

// True if no element of the list was ever set, as far as that is known.
bool is_new_list(const Tensor& list) {
  if (list.is_symbolic()) {
    const Op& made_by = symbolic(list).node().op();
    return &made_by == kEmptyTensorList.op || &made_by == kTensorListReserve.op;
  }
  const auto* held = dynamic_cast<const TensorList*>(held_resource(list));
  if (!held) return false;
  for (int64_t i = 0; i < held->length(); ++i) {
    if (held->is_set(i)) return false;
  }
  return true;
}

Tensor repeat_list(Emitter& emit, const Tensor& list, const Tensor& num_rows) {
  // Nothing reads a list that only another branch has.
  if (list.is_symbolic() && &symbolic(list).node().op() == kFakeParam.op) return list;
  const HeldType held = held_in(list);
  if (held.dtype == DType::kInvalid || held.dtype == DType::kVariant) return {};
  const Tensor zero = emit.constant(Tensor::scalar<int32_t>(0));
  const Tensor element = shape_constant(emit, held.shape);
  const bool has_rank = held.shape.has_rank();
  const Tensor rows =
      has_rank ? rows_and(emit, num_rows, held.shape, [&] { return element; }) : element;
  const Tensor length = emit(kTensorListLength, {list});
  if (is_new_list(list)) return emit(kTensorListReserve, {rows, length}, {held.dtype});
  if (!held.shape.is_fully_known()) return {};
  // Elements that were never set are read as zeros, so they may as well be set to those.
  const Tensor stacked = emit(kTensorListStack, {list, element}, {held.dtype});
  const Tensor apart = emit(kExpandDims, {stacked, emit.constant(Tensor::scalar<int32_t>(1))});
  const Tensor sizes = emit(kConcatV2, {emit(kExpandDims, {length, zero}), rows, zero});
  return emit(kTensorListFromTensor, {emit(kBroadcastTo, {apart, sizes}), rows});
}

}  // namespace

HeldType held_in(const Tensor& variant) {
  if (!variant.is_symbolic()) {
    const auto data = handle_data_of(variant);
    return data ? data->value() : HeldType();
  }
  const SymbolicTensor& tensor = symbolic(variant);
  const auto& data = tensor.node().output(tensor.output().index).handle_data;
  return data ? data->value() : HeldType();
}

Tensor repeat_for_rows(Emitter& emit, const BatchedTensor& x, const Tensor& num_rows) {
  if (x.is_batched || !x.tensor) return x.tensor;
  if (x.tensor.dtype() == DType::kVariant) return repeat_list(emit, x.tensor, num_rows);
  return emit(kBroadcastTo, {x.tensor, rows_and(emit, num_rows, x.tensor.shape(),
                                                [&] { return emit(kShape, {x.tensor}); })});
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

namespace {

// One input of any rank beside scalars that are the same for all rows.
bool is_tensor_beside_scalars(const BatchContext& c) {
  int tensors = 0;
  for (int i = 0; i < c.num_inputs(); ++i) tensors += c.is_batched(i) || c.rank(i) != 0;
  return tensors == 1;
}

}  // namespace

void batch_broadcasting(BatchContext& c) {
  int rank = 0;
  const bool needs_rank = !is_tensor_beside_scalars(c);
  for (int i = 0; i < c.num_inputs() && needs_rank; ++i) {
    const auto own = c.rank(i);
    if (!own) return c.use_loop();
    rank = std::max(rank, *own);
  }
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    inputs.push_back(needs_rank ? c.aligned(i, rank) : c.x(i));
  }
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i]);
}

void batch_leading_axes(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.repeated(i));
  if (c.uses_loop()) return;
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) c.set_y(static_cast<int>(i), made[i]);
}

}  // namespace graven::engine
