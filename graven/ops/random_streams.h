#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/ir/attributes.h"
#include "graven/ir/op.h"
#include "graven/ops/philox.h"

namespace graven::engine {

// The streams of the stateful random ops. An op with seeds starts at the counter (0, seed2) with
// the key seed, and goes on from call to call: in a Program each node by itself, eagerly each
// combination of op, attributes and dtypes. Seeds of 0 and 0 mean numbers that nobody can foresee.

// The part of the op's stream for `groups` groups, which it passes. `node_state` is the kernel's
// state, null eagerly; `dtypes` are those that the op is applied to.
PhiloxStream take_from_stream(const Op& op, AttrsRef attrs, uint64_t dtypes, int64_t seed,
                              int64_t seed2, Ref<RefCounted>* node_state, uint64_t groups);

// All streams start anew when they are next used: what set_seed does. Any thread may call it.
GRAVEN_API void restart_random_streams();

// 64 bits from the system's entropy.
GRAVEN_API uint64_t nondeterministic_bits();

}  // namespace graven::engine
