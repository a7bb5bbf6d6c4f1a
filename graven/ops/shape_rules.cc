#include "graven/ops/shape_rules.h"

#include <algorithm>

namespace graven::engine {

Status same_shapes(InferContext& c) {
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    auto merged = merge_shapes(shape, c.shape(i));
    if (!merged.ok()) {
      return invalid_argument("Inputs must have the same shape, got ", c.shape(0).to_message(),
                              " and ", c.shape(i).to_message());
    }
    shape = *merged;
  }
  c.set_shape(0, shape);
  return {};
}

Status broadcast_and_combine_sizes(InferContext& c, DimFunction combine) {
  RETURN_IF_ERROR(broadcast_inputs(c));
  if (!c.is_graph() || !kIndexTypes.contains(c.dtype(0))) return {};
  const auto a = c.sizes(0), b = c.sizes(1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return {};
  SymbolicValue sizes;
  size_t n = a->empty() || b->empty() ? 0 : std::max(a->size(), b->size());
  for (size_t i = 0; i < n; ++i) {
    Dim x = (*a)[a->size() == 1 ? 0 : i], y = (*b)[b->size() == 1 ? 0 : i];
    bool is_known = !x.is_unknown() && !y.is_unknown();
    sizes.push_back(is_known ? (c.*combine)(x, y) : Dim::unknown());
  }
  c.set_sizes(0, std::move(sizes));
  return {};
}

}  // namespace graven::engine
