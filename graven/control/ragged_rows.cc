#include "graven/control/ragged_rows.h"

#include <utility>

#include "graven/ir/static_shape.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/tensor_list_ops.h"

namespace graven::engine {
namespace {

Tensor number_vector(Emitter& emit, int32_t number) {
  return emit.constant(Tensor::vector(std::span<const int32_t>(&number, 1)));
}
Tensor axis_0(Emitter& emit) { return emit.constant(Tensor::scalar<int32_t>(0)); }

// The lengths of the rows that row splits cut.
Tensor lengths_of(Emitter& emit, const Tensor& splits) {
  const Tensor from_1 = elements_between(emit, splits, number_vector(emit, 1));
  const Tensor to_last =
      elements_between(emit, splits, number_vector(emit, 0), number_vector(emit, -1));
  return emit(kSub, {from_1, to_last});
}

// Row splits of the lengths of rows.
Tensor splits_of(Emitter& emit, const Tensor& lengths, DType dtype) {
  if (!lengths) return {};
  const Tensor wide = lengths.dtype() == dtype ? lengths : emit(kCast, {lengths}, {dtype});
  const int64_t zero = 0;
  const Tensor start = dtype == DType::kInt64
                           ? emit.constant(Tensor::vector(std::span<const int64_t>(&zero, 1)))
                           : number_vector(emit, 0);
  return emit(kConcatV2, {start, emit(kCumsum, {wide, axis_0(emit)}), axis_0(emit)});
}

// Any number of rows like those of a shape.
Shape any_rows(Shape shape) {
  if (shape.has_rank() && shape.rank() > 0) shape.set(0, Dim::unknown());
  return shape;
}

Tensor all_of(FunctionContext& c, std::vector<Tensor> parts, DType dtype, const Shape& known) {
  if (parts.empty()) {
    Shape shape{0};
    for (int d = 1; d < known.rank(); ++d) {
      shape.push_back(known[d].is_number() ? known[d] : Dim(0));
    }
    auto none = Tensor::allocate(dtype, shape);
    return none.ok() ? *none : c.fail(none.status());
  }
  if (parts.size() == 1) return parts[0];
  parts.push_back(axis_0(c));
  const Tensors all = c.Emitter::apply(*kConcatV2, parts, NoAttrs());
  return all.empty() ? Tensor() : all[0];
}

Status check_values(const Tensor& values, bool is_graph) {
  if (!values || !values.shape().has_rank() || values.shape().rank() > 0) return {};
  constexpr std::string_view kText =
      "Ragged values must have rank >= 1, not be a scalar: each result of fn is a row, as "
      "fn_output_signature says, or elems without it";
  return is_graph ? value_error(kText) : invalid_argument(kText);
}

}  // namespace

Tensor RaggedElements::Parts::part(Emitter& emit, const Tensor& number) const {
  if (!list) return at_once[static_cast<size_t>(number.item<int32_t>())];
  return emit(kTensorListGetItem, {list, number, shape_constant(emit, shape)}, {dtype});
}

RaggedElements::Parts RaggedElements::cut(FunctionContext& c, const Tensor& tensor,
                                          const Tensor& lengths) {
  Parts parts;
  if (!tensor || !lengths) return parts;
  parts.dtype = tensor.dtype();
  parts.shape = any_rows(static_shape(tensor.shape()));
  if (c.is_graph()) {
    const Tensor wide = c.cast(lengths, DType::kInt64);
    parts.list = c(kTensorListSplit, {tensor, shape_constant(c, parts.shape), wide});
  } else if (const int64_t count = lengths.shape().size(0); count > 0) {
    parts.at_once = c.apply(kSplitV, {tensor, lengths, axis_0(c)}, {.num_split = count});
  }
  return parts;
}

RaggedElements::RaggedElements(FunctionContext& c, std::span<const Tensor> tensors) {
  Tensor ends = tensors[1];  // where the rows end in the dimension that is looked at
  for (const Tensor& splits : tensors.subspan(2)) {
    lengths_.push_back(cut(c, lengths_of(c, splits), lengths_of(c, ends)));
    ends = c(kGatherV2, {splits, ends, axis_0(c)});
  }
  values_ = cut(c, tensors[0], lengths_of(c, ends));
}

std::vector<Tensor> RaggedElements::row(Emitter& emit, const Tensor& number) const {
  std::vector<Tensor> tensors{values_.part(emit, number)};
  for (const Parts& lengths : lengths_) {
    tensors.push_back(splits_of(emit, lengths.part(emit, number), lengths.dtype));
  }
  return tensors;
}

void RaggedRows::put(int64_t number, std::span<const Tensor> row) {
  if (static_cast<size_t>(number) >= rows_.size()) rows_.resize(static_cast<size_t>(number) + 1);
  rows_[static_cast<size_t>(number)] = std::vector<Tensor>(row.begin(), row.end());
}

std::vector<Tensor> RaggedRows::stacked(FunctionContext& c) const {
  std::vector<Tensor> values;
  std::vector<std::vector<Tensor>> lengths(num_tensors() - 1);
  std::vector<int64_t> counts;  // of what the outermost row splits cut
  for (const auto& row : rows_) {
    if (const Status status = check_values(row[0], /*is_graph=*/false); !status.ok()) {
      c.fail(status);
      return {};
    }
    values.push_back(row[0]);
    counts.push_back(ragged_rank_ == 1 ? row[0].shape().size(0) : row[1].shape().size(0) - 1);
    for (size_t level = 0; level < lengths.size(); ++level) {
      lengths[level].push_back(lengths_of(c, row[level + 1]));
    }
  }
  const Tensor outer = c.constant(Tensor::vector(std::span<const int64_t>(counts)));
  std::vector<Tensor> all{all_of(c, values, dtype_, values_), splits_of(c, outer, splits_dtype_)};
  for (const auto& of_level : lengths) {
    all.push_back(splits_of(c, all_of(c, of_level, splits_dtype_, Shape{0}), splits_dtype_));
  }
  return all;
}

std::vector<Tensor> RaggedRows::new_lists(FunctionContext& c, const Tensor& length) const {
  std::vector<Tensor> lists{
      c(kTensorListReserve, {shape_constant(c, any_rows(values_)), length}, {dtype_})};
  const Shape vector{Dim::unknown()};
  while (lists.size() < num_tensors()) {
    lists.push_back(c(kTensorListReserve, {shape_constant(c, vector), length}, {splits_dtype_}));
  }
  return lists;
}

std::vector<Tensor> RaggedRows::with_row(Emitter& emit, std::span<const Tensor> lists,
                                         const Tensor& number, std::span<const Tensor> row) {
  if (const Status status = check_values(row[0], /*is_graph=*/true); !status.ok()) {
    emit.fail(status);
    return {};
  }
  if (row[0] && !values_.has_rank()) values_ = static_shape(row[0].shape());
  std::vector<Tensor> next;
  for (size_t i = 0; i < row.size(); ++i) {
    const Tensor item = i == 0 ? row[0] : lengths_of(emit, row[i]);
    next.push_back(emit(kTensorListSetItem, {lists[i], number, item}));
  }
  return next;
}

std::vector<Tensor> RaggedRows::stacked(FunctionContext& c, std::span<const Tensor> lists,
                                        std::optional<int64_t> length_if_known) const {
  std::vector<Tensor> all;
  Tensor outer;
  std::vector<int64_t> none;
  const auto joined_list = [&](const Tensor& list, const Shape& shape, DType dtype) {
    const Tensor no_lengths = c.constant(Tensor::vector(std::span<const int64_t>(none)));
    return c.apply(kTensorListConcatV2, {list, shape_constant(c, any_rows(shape)), no_lengths},
                   {dtype});
  };
  for (size_t i = 0; i < lists.size(); ++i) {
    const Tensors both = i == 0 ? joined_list(lists[i], values_, dtype_)
                                : joined_list(lists[i], Shape{Dim::unknown()}, splits_dtype_);
    if (both.empty()) return {};
    all.push_back(i == 0 ? both[0] : splits_of(c, both[0], splits_dtype_));
    // Those in a row are counted by its outermost dimension.
    if (i != (lists.size() == 1 ? 0U : 1U)) continue;
    Tensor counts = both[1];
    if (length_if_known) {
      counts = c(kReshape, {counts, c.vector(std::span<const int64_t>(&*length_if_known, 1))});
    }
    outer = splits_of(c, counts, splits_dtype_);
  }
  all.insert(all.begin() + 1, outer);
  return all;
}

}  // namespace graven::engine
