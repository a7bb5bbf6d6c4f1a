#pragma once
#include "graven/base/export.h"
#include "graven/ir/emitter.h"
#include "graven/tensor/shape.h"

namespace graven::engine {

// The shape with only the sizes that are numbers: what a graph may know of a tensor of another one.
GRAVEN_API Shape static_shape(Shape shape);

// A shape as an int32 vector, -1 for sizes that are unknown, or the scalar -1 for an unknown rank:
// how ops of lists take the shape of elements.
GRAVEN_API Tensor shape_constant(Emitter& emit, const Shape& shape);

}  // namespace graven::engine
