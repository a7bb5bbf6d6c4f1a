#pragma once
#include <string>

#include "graven/ir/op.h"

namespace graven::engine {

// Elements read and written by their indices.

struct GatherV2Attrs {
  int64_t batch_dims = 0;
  static constexpr auto fields() {
    return std::tuple(field("batch_dims", &GatherV2Attrs::batch_dims));
  }
};
GRAVEN_API inline OpHandle<GatherV2Attrs> kGatherV2;  // params, indices, axis -> output

struct GatherAttrs {
  bool validate_indices = true;
  static constexpr auto fields() {
    return std::tuple(field("validate_indices", &GatherAttrs::validate_indices));
  }
};
GRAVEN_API inline OpHandle<GatherAttrs> kGather;  // params, indices -> output

struct IndexPolicyAttrs {
  std::string bad_indices_policy;  // "", "DEFAULT" or "ERROR"; "IGNORE" skips them
  static constexpr auto fields() {
    return std::tuple(field("bad_indices_policy", &IndexPolicyAttrs::bad_indices_policy));
  }
};
GRAVEN_API inline OpHandle<IndexPolicyAttrs> kGatherNd;   // params, indices -> output
GRAVEN_API inline OpHandle<IndexPolicyAttrs> kScatterNd;  // indices, updates, shape -> output
// tensor, indices, updates -> output
GRAVEN_API inline OpHandle<IndexPolicyAttrs> kTensorScatterUpdate, kTensorScatterAdd,
    kTensorScatterSub, kTensorScatterMin, kTensorScatterMax;

}  // namespace graven::engine
