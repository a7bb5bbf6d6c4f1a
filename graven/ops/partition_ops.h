#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Slices parted by numbers that a program computes, put together again, or turned around.

struct DynamicPartitionAttrs {
  int64_t num_partitions = 0;
  static constexpr auto fields() {
    return std::tuple(required_field("num_partitions", &DynamicPartitionAttrs::num_partitions));
  }
};
// data, partitions -> outputs: num_partitions * T
GRAVEN_API inline OpHandle<DynamicPartitionAttrs> kDynamicPartition;

// indices: N * int32, data: N * T -> merged
GRAVEN_API inline OpHandle<NoAttrs> kDynamicStitch, kParallelDynamicStitch;

struct ReverseSequenceAttrs {
  int64_t seq_dim = 0, batch_dim = 0;
  static constexpr auto fields() {
    return std::tuple(required_field("seq_dim", &ReverseSequenceAttrs::seq_dim),
                      field("batch_dim", &ReverseSequenceAttrs::batch_dim));
  }
};
GRAVEN_API inline OpHandle<ReverseSequenceAttrs> kReverseSequence;  // input, seq_lengths -> output

}  // namespace graven::engine
