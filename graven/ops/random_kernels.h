#pragma once
#include <cstdint>

#include "graven/base/status.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/philox.h"
#include "graven/ops/random_streams.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// What the ops of random numbers share: where their streams come from.

inline constexpr DTypeSet kSeeds = kIndexTypes;

// --- A key and a counter: inputs 1 to 3 are key, counter and algorithm.
Status check_key_and_counter(const InferContext& c);
Result<PhiloxStream> stream_of_key(const KernelContext& c);

// --- A seed, a vector of two integers.
Status check_seed(const InferContext& c, int input);
PhiloxStream stream_of_seed(const Tensor& seed);

// --- The attributes seed and seed2: the next groups of the op's own stream.
template <typename Attrs>
PhiloxStream next_stream(KernelContext& c, uint64_t groups) {
  const auto& attrs = c.attrs<Attrs>();
  auto dtypes =
      static_cast<uint64_t>(c.output(0).dtype()) << 8 | static_cast<uint64_t>(c.input(0).dtype());
  return take_from_stream(c.op(), attrs, dtypes, attrs.seed, attrs.seed2, c.state(), groups);
}

// --- The state of a generator, whose handle and algorithm are inputs 0 and 1: its stream, which is
// moved on by so many elements. `before`, unless it is null, is the state as it was. The dtype of
// an algorithm's number may be int32 or int64.
Result<PhiloxStream> pass_state(KernelContext& c, uint64_t num_elements, Tensor* before);

}  // namespace graven::engine
