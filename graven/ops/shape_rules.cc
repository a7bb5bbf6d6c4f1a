#include "graven/ops/shape_rules.h"

#include <algorithm>

#include "graven/ops/elements.h"

namespace graven::engine {
namespace {

Result<Shape> shape_from(InferContext& c, int input, bool may_be_open) {
  const Shape& vector = c.shape(input);
  if (vector.has_rank() && vector.rank() != 1) {
    return invalid_argument("shape must be a vector of integers, got shape ", vector.to_message());
  }
  if (vector.has_rank() && vector[0].is_number() && vector.size(0) > kMaxRank) {
    return invalid_argument("a shape of ", vector.size(0), " dimensions: there are at most ",
                            kMaxRank);
  }
  if (Tensor value = c.value(input)) {
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      const int64_t size = integer_at(value, i);
      if (size < 0 && !(size == -1 && may_be_open)) {
        return invalid_argument("Dimension ", size, " must be >= 0");
      }
    }
  }
  auto sizes = c.sizes(input);
  if (!sizes) return Shape::unknown_rank();
  return Shape(std::span<const Dim>(*sizes));  // of a size -1 unknown
}

}  // namespace

Result<Shape> shape_from_input(InferContext& c, int input) { return shape_from(c, input, false); }

Result<Shape> shape_to_draw(InferContext& c, int input) {
  return shape_from(c, input, c.is_graph());
}

}  // namespace graven::engine
