#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Tensors joined into one, and cut into several. ConcatV2 is in ir/structural_ops.h.

struct PackAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple(field("axis", &PackAttrs::axis)); }
};
GRAVEN_API inline OpHandle<PackAttrs> kPack;  // values: N * T -> output

struct UnpackAttrs {
  int64_t num = 0;
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple(required_field("num", &UnpackAttrs::num), field("axis", &UnpackAttrs::axis));
  }
};
GRAVEN_API inline OpHandle<UnpackAttrs> kUnpack;  // value -> output: num * T

struct SplitAttrs {
  int64_t num_split = 1;
  static constexpr auto fields() {
    return std::tuple(required_field("num_split", &SplitAttrs::num_split));
  }
};
GRAVEN_API inline OpHandle<SplitAttrs> kSplit;   // split_dim, value -> output: num_split * T
GRAVEN_API inline OpHandle<SplitAttrs> kSplitV;  // value, size_splits, split_dim -> output

}  // namespace graven::engine
