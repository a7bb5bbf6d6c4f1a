#pragma once
#include <span>

#include "graven/base/export.h"
#include "graven/ir/gradient_context.h"

namespace graven::engine {

// The sum of several gradients of one tensor: dense ones are added in their order, IndexedSlices
// concatenated unless a dense one is among them. None if there are no terms.
GRAVEN_API Gradient add_gradients(Emitter& emit, std::span<const Gradient> terms);

// IndexedSlices as a tensor of the dense shape; rows that repeat add up.
GRAVEN_API Tensor densify(Emitter& emit, const IndexedSlices& slices);
// A gradient as a tensor; empty if it is none.
GRAVEN_API Tensor densify(Emitter& emit, const Gradient& gradient);

}  // namespace graven::engine
