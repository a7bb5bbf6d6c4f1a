#include "graven/api/array_ops.h"

#include <algorithm>

#include "graven/api/apply.h"
#include "graven/api/compose.h"
#include "graven/api/variable.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/structural_ops.h"

namespace graven {

using internal::apply;
using internal::at;
using internal::integers;

// --- Making tensors.

Tensor zeros(const Sizes& shape, DType dtype, Here location) {
  Operand zero = dtype == DType::kString ? Operand("", location)
                 : dtype == DType::kBool ? Operand(false, location)
                                         : Operand(0, location);
  return fill(shape, at(zero.as_tensor(dtype), location));
}

Tensor ones(const Sizes& shape, DType dtype, Here location) {
  Operand one = dtype == DType::kBool ? Operand(true, location) : Operand(1, location);
  return fill(shape, at(one.as_tensor(dtype), location));
}

Tensor fill(const Sizes& dims, const Operand& value) {
  return apply(engine::kFill, {at(dims.as_tensor(value.location()), value.location()), value});
}

Tensor zeros_like(const Operand& input) { return apply(engine::kZerosLike, {input}); }
Tensor ones_like(const Operand& input) { return apply(engine::kOnesLike, {input}); }

Tensor range(const Operand& start, const Operand& limit, const Operand& delta) {
  // The widest of the dtypes, in this order.
  constexpr DType kOrder[] = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64};
  Tensor parts[] = {start.as_tensor(), limit.as_tensor(), delta.as_tensor()};
  size_t widest = 0;
  for (const Tensor& part : parts) {
    auto place = std::find(std::begin(kOrder), std::end(kOrder), part.dtype());
    if (place == std::end(kOrder)) {
      throw_error(engine::value_error("range takes no ", engine::dtype_name(part.dtype())),
                  start.location());
    }
    widest = std::max<size_t>(widest, place - std::begin(kOrder));
  }
  for (Tensor& part : parts) part = cast(at(part, start.location()), kOrder[widest]);
  return apply(engine::kRange, {at(parts[0], start.location()), at(parts[1], start.location()),
                                at(parts[2], start.location())});
}

Tensor range(const Operand& limit) {
  return range(Operand(0, limit.location()), limit, Operand(1, limit.location()));
}

Tensor one_hot(const Operand& indices, int64_t depth, int64_t axis, DType dtype) {
  const Here& location = indices.location();
  bool is_bool = dtype == DType::kBool;
  Operand on = is_bool ? Operand(true, location) : Operand(1, location);
  Operand off = is_bool ? Operand(false, location) : Operand(0, location);
  return apply(engine::kOneHot,
               {indices, Operand(depth, location), at(on.as_tensor(dtype), location),
                at(off.as_tensor(dtype), location)},
               {.axis = axis});
}

Tensor cast(const Operand& x, DType dtype) {
  Tensor tensor = x.as_tensor();
  if (!tensor.is_none() && tensor.dtype() == dtype) return tensor;
  return apply(engine::kCast, {at(tensor, x.location())}, {.DstT = dtype});
}

// --- Shapes and movement.

Tensor shape(const Operand& input, DType out_type) {
  return apply(engine::kShape, {input}, {.out_type = out_type});
}

Tensor reshape(const Operand& tensor, const Sizes& shape) {
  Tensor sizes = shape.as_tensor(tensor.location());
  return apply(engine::kReshape, {tensor, at(sizes, tensor.location())});
}

Tensor transpose(const Operand& a, const std::vector<int64_t>& perm) {
  const Here& location = a.location();
  Tensor x = a.as_tensor();
  std::vector<int64_t> order = perm;
  if (order.empty() && !x.is_none()) {
    if (!x.shape().has_rank()) {
      throw_error(engine::value_error("transpose needs perm for a tensor of unknown rank"),
                  location);
    }
    for (int i = x.rank(); i > 0; --i) order.push_back(i - 1);
  }
  return apply(engine::kTranspose, {at(x, location), at(integers(order, location), location)});
}

Tensor expand_dims(const Operand& input, const Operand& axis) {
  return apply(engine::kExpandDims, {input, axis});
}

Tensor squeeze(const Operand& input, const std::vector<int64_t>& axis) {
  return apply(engine::kSqueeze, {input}, {.squeeze_dims = axis});
}

Tensor concat(const std::vector<Tensor>& values, int axis, Here location) {
  std::vector<engine::Tensor> inputs(values.begin(), values.end());
  inputs.push_back(Tensor(axis, location));
  return apply(*engine::kConcatV2, inputs, engine::NoAttrs(), location)[0];
}

Tensor stack(const std::vector<Tensor>& values, int axis, Here location) {
  std::vector<engine::Tensor> inputs(values.begin(), values.end());
  return apply(*engine::kPack, inputs, engine::PackAttrs{axis}, location)[0];
}

std::vector<Tensor> unstack(const Operand& value, int axis) {
  Tensor x = value.as_tensor();
  int rank = x.is_none() ? 0 : x.rank();
  int place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank || !x.shape()[place].is_number()) {
    throw_error(
        engine::value_error("Cannot infer argument `num` from shape ",
                            x.is_none() ? "None" : x.shape().to_text(), " along axis ", axis),
        value.location());
  }
  const engine::Tensor inputs[] = {x};
  engine::Tensors parts = apply(*engine::kUnpack, inputs,
                                engine::UnpackAttrs{x.shape().size(place), axis}, value.location());
  return std::vector<Tensor>(parts.begin(), parts.end());
}

std::vector<Tensor> split(const Operand& value, int64_t num_or_size_splits, int axis) {
  const engine::Tensor inputs[] = {Tensor(axis, value.location()), value.as_tensor()};
  engine::Tensors parts =
      apply(*engine::kSplit, inputs, engine::SplitAttrs{num_or_size_splits}, value.location());
  return std::vector<Tensor>(parts.begin(), parts.end());
}

Tensor slice(const Operand& input, const Sizes& begin, const Sizes& size) {
  const Here& location = input.location();
  return apply(engine::kSlice, {input, at(begin.as_tensor(location), location),
                                at(size.as_tensor(location), location)});
}

Tensor gather(const Operand& params, const Operand& indices, int axis, int64_t batch_dims) {
  return apply(engine::kGatherV2, {params, indices, Operand(axis, params.location())},
               {.batch_dims = batch_dims});
}

Tensor gather(const Variable& params, const Operand& indices) {
  return params.sparse_read(indices);
}

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  return apply(engine::kSelectV2, {condition, x, y});
}
Tensor where(const Operand& condition) { return apply(engine::kWhere, {condition}); }

}  // namespace graven
