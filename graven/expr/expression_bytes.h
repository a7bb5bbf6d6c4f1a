#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// Heap memory of an expression, in vectors without spare capacity.
GRAVEN_API int64_t heap_bytes_of(const Expression& expression);

}  // namespace graven::engine
