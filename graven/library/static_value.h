#pragma once
#include "graven/base/export.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The value of a tensor: an eager one itself, of a graph one that follows from constants and known
// shapes through pure ops of small results. Else an empty tensor.
GRAVEN_API Tensor static_value(const Tensor& x);

}  // namespace graven::engine
