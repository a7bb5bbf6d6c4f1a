#include "graven/runtime/broadcast.h"

namespace graven::engine {

bool broadcast_into(Shape& shape, const Shape& other) {
  if (shape == other) return true;
  // Checked first, so that a message can show the shape as it was.
  for (int i = 1; i <= std::min(shape.rank(), other.rank()); ++i) {
    Dim x = shape[shape.rank() - i], y = other[other.rank() - i];
    if (!(x == y || y == Dim(1) || x == Dim(1))) return false;
  }
  while (shape.rank() < other.rank()) shape.insert(0, Dim(1));
  int offset = shape.rank() - other.rank();
  for (int i = 0; i < other.rank(); ++i) {
    if (!(other[i] == Dim(1))) shape.set(offset + i, other[i]);
  }
  return true;
}

Status no_broadcast(const Shape& a, const Shape& b) {
  return invalid_argument("Incompatible shapes: ", a.to_message(), " vs. ", b.to_message());
}

}  // namespace graven::engine
