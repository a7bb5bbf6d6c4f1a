#pragma once
#include <string>

#include "graven/base/export.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

class Graph;

// The message for a symbolic tensor that is used where it has no meaning: in `accessing`,
// or (null) where ops compute at once.
GRAVEN_API std::string out_of_scope_text(const Tensor& leaked, const Graph* accessing);

}  // namespace graven::engine
