#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Tensors made of rules: evenly spaced numbers, marks at indices.

GRAVEN_API inline OpHandle<NoAttrs> kRange;     // start, limit, delta -> output
GRAVEN_API inline OpHandle<NoAttrs> kLinSpace;  // start, stop, num -> output

struct OneHotAttrs {
  int64_t axis = -1;
  static constexpr auto fields() { return std::tuple(field("axis", &OneHotAttrs::axis)); }
};
GRAVEN_API inline OpHandle<OneHotAttrs> kOneHot;  // indices, depth, on_value, off_value -> output

}  // namespace graven::engine
