#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Elements, or slices along an axis, each once.

struct UniqueAttrs {
  DType out_idx = DType::kInt32;
  static constexpr auto fields() { return std::tuple(field("out_idx", &UniqueAttrs::out_idx)); }
};
GRAVEN_API inline OpHandle<UniqueAttrs> kUnique;              // x -> y, idx
GRAVEN_API inline OpHandle<UniqueAttrs> kUniqueV2;            // x, axis -> y, idx
GRAVEN_API inline OpHandle<UniqueAttrs> kUniqueWithCounts;    // x -> y, idx, count
GRAVEN_API inline OpHandle<UniqueAttrs> kUniqueWithCountsV2;  // x, axis -> y, idx, count
GRAVEN_API inline OpHandle<UniqueAttrs> kListDiff;            // x, y -> out, idx

}  // namespace graven::engine
