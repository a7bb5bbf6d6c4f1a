#include "graven/library/axes.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "graven/ir/graph.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::engine {
namespace {

std::vector<int64_t> all_axes(const Tensor& x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Formula number(FunctionContext& c, int64_t value) { return c(c.scalar(value)); }
Formula rank_of(FunctionContext& c, const Tensor& x) { return c(c(kRank, {x})); }
Formula range(FunctionContext& c, const Formula& start, const Formula& limit) {
  return c(c(kRange, {start, limit, c.scalar(1)}));
}
Formula select(FunctionContext& c, const Tensor& condition, const Formula& x, const Formula& y) {
  return c(c(kSelectV2, {condition, x, y}));
}
Tensor are_equal(FunctionContext& c, const Tensor& x, const Tensor& y) { return c(kEqual, {x, y}); }

// An axis counted from the front; the rank, which is no axis, if it is out of range.
Formula place(FunctionContext& c, const Formula& rank, int64_t axis) {
  if (axis >= 0) return number(c, axis);
  Formula found = rank + number(c, axis);
  return select(c, c(kLess, {found, number(c, 0)}), rank, found);
}

// The axes that are not among those of a vector.
Tensor other_axes(FunctionContext& c, const Formula& rank, const Tensor& given) {
  const Tensor each = c(kExpandDims, {range(c, number(c, 0), rank), c.scalar(1)});
  const Tensor is_given = c(kAny, {are_equal(c, each, given), c.scalar(1)});
  const Tensor others = c(kWhere, {c(kLogicalNot, {is_given})});
  const int64_t flat[] = {-1};
  return c.cast(c(kReshape, {others, c.vector(flat)}), DType::kInt32);
}

}  // namespace

int64_t axis_of(FunctionContext& c, const Tensor& x, int64_t axis) {
  const auto rank = c.rank_if_known(x);
  if (!rank) return axis;
  if (axis < -*rank || axis >= *rank) {
    c.fail(value_error("axis must be in [", -*rank, ", ", *rank, "), got ", axis));
    return 0;
  }
  return axis < 0 ? axis + *rank : axis;
}

bool is_last(FunctionContext& c, const Tensor& x, int64_t axis) {
  const auto rank = c.rank_if_known(x);
  return axis == -1 || (rank && axis == *rank - 1);
}

void set_known_shape(FunctionContext& c, const Tensor& result, const Shape& shape) {
  if (!result || !result.is_symbolic()) return;
  Status status = static_cast<SymbolicTensor*>(result.get())->set_shape(shape);
  if (!status.ok()) c.fail(std::move(status));
}

Tensor swapped_with_last(FunctionContext& c, const Tensor& x, int64_t axis) {
  if (c.rank_if_known(x)) {
    std::vector<int64_t> order = all_axes(x);
    const int64_t at = axis_of(c, x, axis);
    if (!order.empty()) std::swap(order[static_cast<size_t>(at)], order.back());
    return c.vector(order, "perm");
  }
  Formula rank = rank_of(c, x), last = rank - 1.0, swapped = place(c, rank, axis);
  Formula places = range(c, number(c, 0), rank);
  return select(c, are_equal(c, places, swapped), last,
                select(c, are_equal(c, places, last), swapped, places));
}

Tensor moved_to_end(FunctionContext& c, const Tensor& x, int64_t axis) {
  if (c.rank_if_known(x)) {
    std::vector<int64_t> order = all_axes(x);
    const auto moved = order.begin() + axis_of(c, x, axis);
    if (!order.empty()) std::rotate(moved, moved + 1, order.end());
    return c.vector(order, "perm");
  }
  Formula rank = rank_of(c, x), moved = place(c, rank, axis), behind = moved + 1.0;
  Formula rest = range(c, behind, call(kMaximum, rank, behind));
  Tensor last = c(kExpandDims, {moved, c.scalar(0)});
  return c(kConcatV2, {range(c, number(c, 0), moved), rest, last, c.scalar(0)});
}

Tensor sizes_but_one(FunctionContext& c, const Tensor& x, int64_t axis, const Size& size,
                     int64_t elsewhere) {
  if (const auto rank = c.rank_if_known(x)) {
    SizeList sizes(static_cast<size_t>(*rank), Size(elsewhere));
    sizes[static_cast<size_t>(axis < 0 ? axis + *rank : axis)] = size;
    return vector_of(c, sizes);
  }
  Formula rank = rank_of(c, x);
  const Tensor is_there = are_equal(c, range(c, number(c, 0), rank),
                                    axis < 0 ? rank + number(c, axis) : number(c, axis));
  return c(kSelectV2, {is_there, size.tensor(c), c.scalar(elsewhere)});
}

std::pair<Tensor, Tensor> axes_apart(FunctionContext& c, const Tensor& x,
                                     std::span<const int64_t> axes) {
  if (c.rank_if_known(x)) {
    std::vector<int64_t> given, others = all_axes(x);
    for (int64_t axis : axes) given.push_back(axis_of(c, x, axis));
    std::erase_if(others,
                  [&](int64_t axis) { return std::ranges::find(given, axis) != given.end(); });
    return {c.vector(others), c.vector(given)};
  }
  Formula rank = rank_of(c, x);
  std::vector<Tensor> places;
  for (int64_t axis : axes) places.push_back(place(c, rank, axis));
  Tensor given = c.vector({});
  if (!places.empty()) {
    const Tensors packed = c.apply(*kPack, places, PackAttrs());
    if (packed.empty()) return {};
    given = packed[0];
  }
  return {other_axes(c, rank, given), given};
}

std::pair<Tensor, Tensor> axes_apart(FunctionContext& c, const Tensor& x, const Tensor& axes) {
  Formula rank = rank_of(c, x), found = rank + c(axes);
  const Tensor given = select(c, c(kLess, {axes, number(c, 0)}), found, c(axes));
  return {other_axes(c, rank, given), given};
}

}  // namespace graven::engine
