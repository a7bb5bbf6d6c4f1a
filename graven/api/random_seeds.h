#pragma once
#include <cstdint>
#include <optional>
#include <utility>

// Where the seeds of stateful random ops come from; not for users.

namespace graven::internal {

// What set_seed does: later seeds follow from this one, and all streams start anew.
void start_seeds(int64_t seed);

// The attributes `seed` and `seed2` of an op with this seed of its own, or none, as TensorFlow
// makes them of it and the global seed; 0 and 0 if there is neither, which means numbers that
// nobody can foresee. Any thread may ask.
std::pair<int64_t, int64_t> seeds_of_op(std::optional<int64_t> op_seed);

}  // namespace graven::internal
