#pragma once
#include "graven/base/export.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The value of a tensor if it is known: always for an eager tensor; in a graph, if it follows from
// constants and known shapes through pure ops with small results. Else an empty tensor.
GRAVEN_API Tensor static_value(const Tensor& x);

}  // namespace graven::engine
