#include "graven/control/elements.h"

#include <utility>

#include "graven/control/row_types.h"
#include "graven/control/structures.h"
#include "graven/ir/call_sizes.h"
#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/tensor_list_ops.h"

namespace graven::engine {

Result<std::optional<int64_t>> Elements::length_of(FunctionContext& c, const Tensor& tensor,
                                                   int ragged_rank) {
  if (c.rank_if_known(tensor) == 0) {
    return value_error("Elements in elems must be 1+ dimensional Tensors, not scalars");
  }
  const auto size = c.size_if_known(tensor, 0);
  return size && ragged_rank > 0 ? *size - 1 : size;
}

Result<Elements> Elements::create(FunctionContext& c, const Value& elems) {
  Elements elements;
  elements.structure_ = with_tensor_leaves(c, elems);
  RETURN_IF_ERROR(c.status());
  ASSIGN_OR_RETURN(const auto ranks, ragged_ranks_of(elements.structure_, "elems may not hold"));
  ASSIGN_OR_RETURN(elements.row_structure_, row_of(elements.structure_));
  const std::vector<Tensor> tensors = tensors_of(elements.structure_);
  if (tensors.empty()) return value_error("elems must hold at least one tensor");
  RETURN_IF_ERROR(elements.cut(c, tensors, ranks));
  RETURN_IF_ERROR(c.status());
  return elements;
}

Status Elements::cut(FunctionContext& c, std::span<const Tensor> tensors,
                     std::span<const int> ranks) {
  size_t next = 0;
  Tensor size;  // of the first part, if it is not known
  for (const int rank : ranks) {
    const Tensor& tensor = tensors[next];
    const Tensor& cut_by = rank > 0 ? tensors[next + 1] : tensor;
    if (rank == 0 && !first_dense_) first_dense_ = tensor;
    if (rank == 0 && CallSizes::any() && !CallSizes::is_same_size(tensor, 0, first_dense_, 0)) {
      c.static_size(tensor, 0);  // the error names it
      c.static_size(first_dense_, 0);
    }
    ASSIGN_OR_RETURN(const auto length, length_of(c, cut_by, rank));
    if (length && length_if_known_ && *length != *length_if_known_) {
      return value_error("Elements in elems must have the same first dimension, not ",
                         *length_if_known_, " and ", *length);
    }
    if (length) length_if_known_ = length;
    next += static_cast<size_t>(rank) + 1;
  }
  next = 0;
  for (const int rank : ranks) {
    const auto own = tensors.subspan(next, static_cast<size_t>(rank) + 1);
    Part& part = parts_.emplace_back();
    part.tensor = own[0];
    if (rank > 0) {
      part.ragged.emplace(c, own);
    } else if (!c.is_graph()) {
      // Their gradient is one tensor, not slices for each row.
      part.rows = c.apply(kUnpack, {own[0]}, {.num = *length_if_known_});
    }
    next += own.size();
  }
  if (length_if_known_) {
    length_ = c.scalar(*length_if_known_);
  } else if (first_dense_) {
    length_ = element_of(c, c(kShape, {first_dense_}), 0);
  } else {
    length_ = c(kSub, {element_of(c, c(kShape, {tensors[1]}), 0), c.scalar(1)});
  }
  return {};
}

Value Elements::row(Emitter& emit, const Tensor& number) const {
  std::vector<Tensor> rows;
  for (const Part& part : parts_) {
    if (part.ragged) {
      const std::vector<Tensor> own = part.ragged->row(emit, number);
      rows.insert(rows.end(), own.begin(), own.end());
    } else if (!part.rows.empty()) {
      rows.push_back(part.rows[static_cast<size_t>(number.item<int32_t>())]);
    } else {
      const Tensor axis = emit.constant(Tensor::scalar<int32_t>(0));
      rows.push_back(emit(kGatherV2, {part.tensor, number, axis}));
    }
  }
  return with_tensors(row_structure_, rows);
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
  const Tensor& element = elements.first_dense();
  // The function of the rows may have read its size.
  if (element) CallSizes::refresh(element);
  std::optional<int64_t> length = elements.length_if_known();
  if (element && !length) length = c.size_if_known(element, 0);
  const Tensor rows =
      c(kTensorListStack, {list, shape_constant(c, shape_)}, {dtype_, length.value_or(-1)});
  if (element && CallSizes::any()) CallSizes::know(rows, 0, element, 0);
  return rows;
}

}  // namespace graven::engine
