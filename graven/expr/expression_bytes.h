#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// What an expression holds beside itself, in vectors without room to grow.
GRAVEN_API int64_t heap_bytes_of(const Expression& expression);

}  // namespace graven::engine
