#include "graven/api/axes.h"

#include <algorithm>
#include <numeric>

#include "graven/api/apply.h"
#include "graven/api/compose.h"
#include "graven/api/op_functions.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/shape_ops.h"

namespace graven::internal {
namespace {

std::vector<int64_t> all_axes(const Tensor& x) {
  std::vector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Tensor rank_of(const Tensor& x, const Here& location) {
  return apply(engine::kRank, {at(x, location)});
}

// An axis counted from the front; the rank, which is none, if it is before that.
Tensor place(const Tensor& rank, int64_t axis, const Here& location) {
  if (axis >= 0) return Tensor(static_cast<int>(axis), location);
  Tensor found = rank + axis;
  return where(found < 0, rank, found);
}

}  // namespace

int axis_of(const Tensor& x, int axis, const Here& location) {
  if (!x.shape().has_rank()) return axis;
  int rank = x.rank();
  if (axis < -rank || axis >= rank) {
    throw_error(engine::value_error("axis must be in [", -rank, ", ", rank, "), got ", axis),
                location);
  }
  return axis < 0 ? axis + rank : axis;
}

bool is_last(const Tensor& x, int axis) {
  return axis == -1 || (x.shape().has_rank() && axis == x.rank() - 1);
}

Axes swapped_with_last(const Tensor& x, int axis, const Here& location) {
  if (x.shape().has_rank()) {
    std::vector<int64_t> order = all_axes(x);
    std::swap(order[axis_of(x, axis, location)], order.back());
    return order;
  }
  LineScope line(location);
  Tensor rank = rank_of(x, location);
  Tensor last = rank - 1, swapped = place(rank, axis, location), places = range(rank);
  return where(graven::equal(places, swapped), last,
               where(graven::equal(places, last), swapped, places));
}

Axes moved_to_end(const Tensor& x, int axis, const Here& location) {
  if (x.shape().has_rank()) {
    std::vector<int64_t> order = all_axes(x);
    auto moved = order.begin() + axis_of(x, axis, location);
    std::rotate(moved, moved + 1, order.end());
    return order;
  }
  LineScope line(location);
  Tensor rank = rank_of(x, location), moved = place(rank, axis, location), behind = moved + 1;
  Tensor rest = range(behind, apply(engine::kMaximum, {rank, behind}));
  return concat({range(moved), rest, stack({moved})}, 0);
}

}  // namespace graven::internal
