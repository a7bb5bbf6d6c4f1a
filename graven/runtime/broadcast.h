#pragma once
#include "graven/base/status.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// Makes a fully known shape its broadcast with another. False if they do not fit together; the
// shape then stays as it is.
bool broadcast_into(Shape& shape, const Shape& other);
Status no_broadcast(const Shape& a, const Shape& b);

}  // namespace graven::engine
