#pragma once
#include <cstdint>
#include <source_location>

#include "graven/base/export.h"

// Settings of the process; any thread may change them.

namespace graven::config {

// The bytes that tensors may take together; an allocation beyond is a ResourceExhausted error, and
// changes nothing. At the start the container's limit, or the machine's memory. A ValueError for
// what is not positive.
GRAVEN_API void set_memory_limit(int64_t num_bytes,
                                 std::source_location location = std::source_location::current());
GRAVEN_API int64_t get_memory_limit();

}  // namespace graven::config
