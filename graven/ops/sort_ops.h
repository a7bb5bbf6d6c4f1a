#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// Elements in the order of their values.

struct TopKV2Attrs {
  bool sorted = true;
  DType index_type = DType::kInt32;
  static constexpr auto fields() {
    return std::tuple(field("sorted", &TopKV2Attrs::sorted),
                      field("index_type", &TopKV2Attrs::index_type));
  }
};
GRAVEN_API inline OpHandle<TopKV2Attrs> kTopKV2;  // input, k -> values, indices

}  // namespace graven::engine
