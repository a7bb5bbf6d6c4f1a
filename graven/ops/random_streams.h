#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/ops/philox.h"

namespace graven::engine {

// The streams of the stateful random ops. An op with seeds starts at the counter (0, seed2) with
// the key seed, and goes on from call to call. In a Program each node has a stream of its own, and
// one for each size of the call where a trace leaves sizes open, as traces of these sizes would;
// eagerly each combination of op, attributes and dtypes. Seeds of 0 and 0 mean unpredictable
// numbers.

// Takes the next `groups` groups of the op's stream. `node_state` is the kernel's state, null
// eagerly; `dtypes` are those that the op is applied to.
PhiloxStream take_from_stream(const Op& op, AttrsRef attrs, uint64_t dtypes, int64_t seed,
                              int64_t seed2, Ref<RefCounted>* node_state, uint64_t groups);

// Restarts all streams at their next use, for set_seed. Any thread may call it.
GRAVEN_API void restart_random_streams();

// 64 bits from the system's entropy.
GRAVEN_API uint64_t nondeterministic_bits();

}  // namespace graven::engine
