#pragma once
#include <cstdint>
#include <source_location>

#include "graven/base/export.h"

// Settings of the process; any thread may change them.

namespace graven::config {

// The limit on the bytes of all tensors together. An allocation beyond it is a ResourceExhausted
// error, and changes nothing. At the start it is the container's limit, or the machine's memory. A
// ValueError for a number that is not positive.
GRAVEN_API void set_memory_limit(int64_t num_bytes,
                                 std::source_location location = std::source_location::current());
GRAVEN_API int64_t get_memory_limit();

}  // namespace graven::config
