#include "graven/control/tensor_array.h"

#include <algorithm>
#include <utility>

#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/tensor_list_ops.h"

namespace graven::engine {
namespace {

Shape shape_of_rows(const Shape& shape) {
  Shape row = static_shape(shape);
  if (row.has_rank() && row.rank() > 0) row.erase(0);
  return row;
}

std::optional<int64_t> length_of(const Shape& shape) {
  if (!shape.has_rank() || shape.rank() == 0 || !shape[0].is_number()) return std::nullopt;
  return shape[0].number();
}

// The integers of a vector that is known now.
std::optional<std::span<const int64_t>> known_lengths(const Tensor& lengths) {
  if (!lengths) return std::nullopt;
  Tensor value = lengths;
  if (lengths.is_symbolic()) {
    const Node& node = symbolic(lengths).node();
    if (&node.op() != kConst.op) return std::nullopt;
    value = node.attrs().as<ConstAttrs>().value;
  }
  return value.data<int64_t>();
}

}  // namespace

TensorArray TensorArray::reserved(Emitter& emit, const Tensor& size) const {
  TensorArray made = *this;
  made.flow = emit(kTensorListReserve, {shape_constant(emit, element_shape), size}, {dtype});
  const bool is_value = size && !size.is_symbolic() && size.num_elements() == 1;
  if (is_value && size.dtype() == DType::kInt32) made.known_size = size.data<int32_t>()[0];
  return made;
}

Tensor TensorArray::size(Emitter& emit) const { return emit(kTensorListLength, {flow}); }

Tensor TensorArray::read(Emitter& emit, const Tensor& index) const {
  return emit(kTensorListGetItem, {flow, index, shape_constant(emit, element_shape)}, {dtype});
}

Tensor TensorArray::stack(Emitter& emit) const {
  const int64_t size = dynamic_size ? -1 : known_size.value_or(-1);
  return emit(kTensorListStack, {flow, shape_constant(emit, element_shape)}, {dtype, size});
}

Tensor TensorArray::gather(Emitter& emit, const Tensor& indices) const {
  return emit(kTensorListGather, {flow, indices, shape_constant(emit, element_shape)}, {dtype});
}

Tensor TensorArray::concat(Emitter& emit) const {
  Shape shape = element_shape;
  if (shape.has_rank() && shape.rank() > 0) shape.set(0, Dim::unknown());
  if (shape.has_rank() && shape.rank() == 0) shape = Shape::unknown_rank();  // refused when it runs
  const Tensor none = emit.constant(Tensor::vector(std::span<const int64_t>()));
  return emit(kTensorListConcatV2, {flow, shape_constant(emit, shape), none}, {dtype});
}

TensorArray TensorArray::with_element(Emitter& emit, const Tensor& value,
                                      const Shape& element) const {
  TensorArray made = *this;
  if (value && value.dtype() != dtype) {
    emit.fail(invalid_argument("TensorArray dtype is ", dtype_name(dtype),
                               " but Op is trying to write dtype ", dtype_name(value.dtype())));
  } else if (auto merged = merge_shapes(element_shape, element); !merged.ok()) {
    emit.fail(value_error("Inconsistent shapes: saw ", element.to_text(), " but expected ",
                          element_shape.to_text()));
  } else if (infer_shape) {
    made.element_shape = std::move(*merged);
  }
  return made;
}

TensorArray TensorArray::write(Emitter& emit, const Tensor& index, const Tensor& value) const {
  TensorArray made = with_element(emit, value, value ? static_shape(value.shape()) : Shape());
  made.flow = emit(kTensorListSetItem, {flow, index, value}, {dynamic_size});
  if (dynamic_size) made.known_size.reset();
  return made;
}

TensorArray TensorArray::unstack(Emitter& emit, const Tensor& value) const {
  if (value && value.shape().has_rank() && value.shape().rank() == 0) {
    emit.fail(invalid_argument("unstack needs a tensor of rank 1 at least, not a scalar"));
    return *this;
  }
  const Shape element = value ? shape_of_rows(value.shape()) : Shape();
  TensorArray made = with_element(emit, value, element);
  made.known_size = value ? length_of(value.shape()) : std::nullopt;
  made.flow = emit(kTensorListFromTensor, {value, shape_constant(emit, element)});
  return made;
}

TensorArray TensorArray::scatter(Emitter& emit, const Tensor& indices, const Tensor& value) const {
  TensorArray made = with_element(emit, value, value ? shape_of_rows(value.shape()) : Shape());
  made.flow = emit(kTensorListScatterIntoExistingList, {flow, value, indices});
  made.known_size.reset();  // as long as the indices need
  return made;
}

TensorArray TensorArray::split(Emitter& emit, const Tensor& value, const Tensor& lengths) const {
  Shape part = value ? static_shape(value.shape()) : Shape::unknown_rank();
  const auto known = known_lengths(lengths);
  const bool is_uniform = known && !known->empty() &&
                          std::ranges::all_of(*known, [&](int64_t n) { return n == (*known)[0]; });
  if (part.has_rank() && part.rank() > 0) {
    part.set(0, is_uniform ? Dim((*known)[0]) : Dim::unknown());
  }
  TensorArray made = with_element(emit, value, part);
  // Parts of several lengths say nothing of the one shape of the elements.
  if (!is_uniform) made.element_shape = element_shape;
  made.known_size = lengths ? length_of(lengths.shape()) : std::nullopt;
  made.flow =
      emit(kTensorListSplit, {value, shape_constant(emit, made.element_shape), lengths}, {});
  return made;
}

}  // namespace graven::engine
