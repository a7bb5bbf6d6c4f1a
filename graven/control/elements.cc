#include "graven/control/elements.h"

#include <utility>

#include "graven/control/structures.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/tensor_list_ops.h"

namespace graven::engine {

Result<Elements> Elements::create(FunctionContext& c, const Value& elems) {
  Elements elements;
  elements.structure_ = with_tensor_leaves(c, elems);
  RETURN_IF_ERROR(c.status());
  elements.tensors_ = tensors_of(elements.structure_);
  if (elements.tensors_.empty()) return value_error("elems must hold at least one tensor");
  for (const Tensor& tensor : elements.tensors_) {
    if (c.rank_if_known(tensor) == 0) {
      return value_error("Elements in elems must be 1+ dimensional Tensors, not scalars");
    }
    const Tensor& first = elements.tensors_[0];
    if (CallSizes::any() && !CallSizes::is_same_size(tensor, 0, first, 0)) {
      c.static_size(tensor, 0);  // the error names it
      c.static_size(first, 0);
    }
    const auto length = c.size_if_known(tensor, 0);
    if (length && elements.length_if_known_ && *length != *elements.length_if_known_) {
      return value_error("Elements in elems must have the same first dimension, not ",
                         *elements.length_if_known_, " and ", *length);
    }
    if (length) elements.length_if_known_ = length;
  }
  if (!c.is_graph()) {
    // Their gradient is one tensor, not slices for each row.
    for (const Tensor& tensor : elements.tensors_) {
      elements.rows_.push_back(c.apply(kUnpack, {tensor}, {.num = *elements.length_if_known_}));
    }
  }
  elements.length_ = elements.length_if_known_
                         ? c.scalar(*elements.length_if_known_)
                         : element_of(c, c(kShape, {elements.tensors_[0]}), 0);
  RETURN_IF_ERROR(c.status());
  return elements;
}

Value Elements::row(Emitter& emit, const Tensor& number) const {
  std::vector<Tensor> rows;
  for (const Tensors& of_tensor : rows_) {
    rows.push_back(of_tensor[static_cast<size_t>(number.item<int32_t>())]);
  }
  for (const Tensor& tensor : rows_.empty() ? std::span(tensors_) : std::span<const Tensor>()) {
    rows.push_back(emit(kGatherV2, {tensor, number, emit.constant(Tensor::scalar<int32_t>(0))}));
  }
  return with_tensors(structure_, rows);
}

void ResultRows::put(int64_t number, Tensor row) {
  if (static_cast<size_t>(number) >= rows_.size()) rows_.resize(static_cast<size_t>(number) + 1);
  rows_[static_cast<size_t>(number)] = std::move(row);
}

Tensor ResultRows::stacked(FunctionContext& c, int64_t length) const {
  if (length > 0) {
    for (const Tensor& row : rows_) {
      if (row.shape() == rows_[0].shape()) continue;
      return c.fail(value_error("The results for the rows must have one shape, not ",
                                rows_[0].shape().to_text(), " and ", row.shape().to_text()));
    }
    const Tensors packed = c.Emitter::apply(*kPack, rows_, PackAttrs());
    return packed.empty() ? Tensor() : packed[0];
  }
  Shape shape{0};
  for (int d = 0; d < shape_.rank(); ++d) {
    shape.push_back(shape_[d].is_number() ? shape_[d] : Dim(0));
  }
  auto none = Tensor::allocate(dtype_, shape);
  return none.ok() ? *none : c.fail(none.status());
}

Tensor ResultRows::new_list(FunctionContext& c, const Elements& elements) const {
  return c(kTensorListReserve, {shape_constant(c, shape_), elements.length()}, {dtype_});
}

Tensor ResultRows::with_row(Emitter& emit, const Tensor& list, const Tensor& number,
                            const Tensor& row) {
  if (row && !shape_.has_rank()) shape_ = CallSizes::read_shape(row);
  return emit(kTensorListSetItem, {list, number, row});
}

Tensor ResultRows::stacked(FunctionContext& c, const Elements& elements, const Tensor& list) const {
  const Tensor& element = elements.tensors()[0];
  CallSizes::refresh(element);  // the function of the rows may have read its size
  const int64_t length = elements.length_if_known() ? *elements.length_if_known()
                                                    : c.size_if_known(element, 0).value_or(-1);
  const Tensor rows = c(kTensorListStack, {list, shape_constant(c, shape_)}, {dtype_, length});
  if (CallSizes::any()) CallSizes::know(rows, 0, element, 0);
  return rows;
}

}  // namespace graven::engine
