#include "graven/ir/static_shape.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace graven::engine {

Shape static_shape(Shape shape) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (!shape[d].is_number()) shape.set(d, Dim::unknown());
  }
  return shape;
}

Tensor shape_constant(Emitter& emit, const Shape& shape) {
  if (!shape.has_rank()) return emit.constant(Tensor::scalar<int32_t>(-1));
  std::vector<int32_t> sizes;
  for (int d = 0; d < shape.rank(); ++d) {
    sizes.push_back(shape[d].is_number() ? static_cast<int32_t>(shape.size(d)) : -1);
  }
  return emit.constant(Tensor::vector(std::span<const int32_t>(sizes)));
}

}  // namespace graven::engine
