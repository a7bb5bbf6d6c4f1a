#pragma once
#include <cstdint>

#include "graven/base/export.h"

namespace graven::engine {

// What the recorded bodies take that the process keeps (recorded_body.h), without their kernels.
GRAVEN_API int64_t recorded_body_bytes();

}  // namespace graven::engine
