#pragma once
#include <cstdint>
#include <source_location>

#include "graven/base/export.h"
#include "graven/function/cache_info.h"

// Settings of the process; any thread may change them.

namespace graven::config {

// The number of threads that compute; 0, as at the start, means one for each CPU that the process
// may use. Results do not depend on it. A ValueError for a negative number.
GRAVEN_API void set_num_threads(int num_threads,
                                std::source_location location = std::source_location::current());
GRAVEN_API int get_num_threads();

// The limit on the bytes of all tensors together. An allocation beyond it is a ResourceExhausted
// error, and changes nothing. At the start it is the container's limit, or the machine's memory. A
// ValueError for a number that is not positive.
GRAVEN_API void set_memory_limit(int64_t num_bytes,
                                 std::source_location location = std::source_location::current());
GRAVEN_API int64_t get_memory_limit();

// The limit on the bytes of the traces of all Functions together; until it is set a quarter of
// get_memory_limit(). Beyond it the traces go that are worth least: calls lately, times
// milliseconds to trace them, per byte. Takes effect when the next trace is made. Traces that are
// in use, held by the program or called by a live graph stay. A ValueError for a number that is not
// positive.
GRAVEN_API void set_trace_cache_bytes(
    int64_t num_bytes, std::source_location location = std::source_location::current());
GRAVEN_API int64_t get_trace_cache_bytes();
// Makes errors of numbers that no program foresees, for the rest of the process: random ops without
// a seed of their own or set_seed(), and Generator::from_non_deterministic_state(). (All else is
// deterministic anyway.)
GRAVEN_API void enable_op_determinism();

// What the traces of all Functions hold, counted anew; to_text() makes a table of it.
GRAVEN_API engine::ProcessCacheInfo trace_cache_info();

}  // namespace graven::config
