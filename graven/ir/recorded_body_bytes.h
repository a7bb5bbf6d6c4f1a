#pragma once
#include <cstdint>

#include "graven/base/export.h"

namespace graven::engine {

// The bytes of all recorded bodies of the process (recorded_body.h), without their kernels.
GRAVEN_API int64_t recorded_body_bytes();

}  // namespace graven::engine
