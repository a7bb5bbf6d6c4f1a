#include "graven/ir/broadcast_rules.h"

#include <algorithm>

namespace graven::engine {

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

bool is_broadcast_rule(InferFunction rule) {
  constexpr InferFunction kRules[] = {
      broadcast_inputs,
      broadcast_sizes<&InferContext::add>,
      broadcast_sizes<&InferContext::subtract>,
      broadcast_sizes<&InferContext::multiply>,
      broadcast_sizes<&InferContext::floor_div>,
      broadcast_sizes<&InferContext::max>,
  };
  return std::ranges::find(kRules, rule) != std::end(kRules);
}

}  // namespace graven::engine
