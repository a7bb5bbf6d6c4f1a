#include "graven/api/array_ops.h"

#include "graven/api/apply.h"
#include "graven/api/axes.h"
#include "graven/api/compose.h"
#include "graven/api/math_ops.h"
#include "graven/api/op_functions.h"
#include "graven/base/strings.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/sort_ops.h"

namespace graven {

using internal::apply;
using internal::at;
using internal::Composite;
using internal::integers;
using internal::LineScope;

namespace {

bool is_scalar(const Tensor& x) { return x.shape().has_rank() && x.rank() == 0; }

// The size of a tensor along its last axis, a number if it is known now.
Tensor num_columns(const Tensor& x, const Here& location) {
  if (x.shape().has_rank() && x.shape()[x.rank() - 1].is_number()) {
    return Operand(x.shape()[x.rank() - 1].number(), location).as_tensor();
  }
  return strided_slice(shape(x), {-1}, {0}, {.shrink_axis_mask = 1});
}

}  // namespace

// --- Order.

namespace {

// Values sorted along the last axis, which `order` swaps with the one that was meant.
struct Sorted {
  math::TopK found;
  std::optional<Axes> order;  // none: it was the last
};

// Ascending is descending of these.
Tensor flipped(const Tensor& x) {
  return engine::is_floating(x.dtype()) ? -x : apply(engine::kInvert, {x});
}

Sorted sorted(const Operand& values, int axis, bool is_ascending) {
  Tensor x = values.as_tensor();
  Sorted result;
  if (!internal::is_last(x, axis)) {
    result.order = internal::swapped_with_last(x, axis, values.location());
    x = transpose(x, *result.order);
  }
  Tensor columns = is_scalar(x) ? Tensor(0) : num_columns(x, values.location());
  result.found = math::top_k(is_ascending ? flipped(x) : x, columns);
  return result;
}

bool is_ascending(std::string_view direction, const Here& location) {
  if (direction != "ASCENDING" && direction != "DESCENDING") {
    throw_error(engine::value_error("Argument `direction` should be one of \"ASCENDING\" or "
                                    "\"DESCENDING\". Received: direction=",
                                    direction),
                location);
  }
  return direction == "ASCENDING";
}

}  // namespace

Tensor sort(const Operand& values, int axis, std::string_view direction) {
  bool ascending = is_ascending(direction, values.location());
  Composite composite("sort", values.location());
  Sorted result = sorted(values, axis, ascending);
  Tensor ordered = ascending ? flipped(result.found.values) : result.found.values;
  return result.order ? transpose(ordered, *result.order) : ordered;
}

Tensor argsort(const Operand& values, int axis, std::string_view direction) {
  bool ascending = is_ascending(direction, values.location());
  Composite composite("argsort", values.location());
  Sorted result = sorted(values, axis, ascending);
  const Tensor& indices = result.found.indices;
  return result.order ? transpose(indices, *result.order) : indices;
}

math::TopK math::top_k(const Operand& input, const Operand& k, bool sorted, DType index_type) {
  engine::TopKV2Attrs attrs{.sorted = sorted, .index_type = index_type};
  engine::Tensors found = apply(*engine::kTopKV2, {input, k}, engine::AttrsRef(attrs));
  return {found[0], found[1]};
}

}  // namespace graven
