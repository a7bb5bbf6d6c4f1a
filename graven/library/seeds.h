#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "graven/base/export.h"

namespace graven::engine {

// The source of the seeds of stateful random ops: one state for the process, which all front ends
// share. Any thread may call these.

// Implements set_seed: later seeds follow from this one, and all streams start anew.
GRAVEN_API void start_seeds(int64_t seed);

// The attributes `seed` and `seed2` of an op, derived from its own seed, if any, and the global
// seed as TensorFlow does. None if there is neither; the op then gets 0 and 0, and its numbers are
// unpredictable.
GRAVEN_API std::optional<std::pair<int64_t, int64_t>> seeds_of_op(std::optional<int64_t> op_seed);

}  // namespace graven::engine
