#pragma once
#include <string>
#include <vector>

#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"
#include "graven/ir/transpose_op.h"

namespace graven::engine {

// Elements in another order, repeated or with others around them. Their values do not matter.

// The dtypes whose elements are values, and no handles.
inline constexpr DTypeSet kValueTypes = kPlainTypes | DTypeSet{DType::kString};

GRAVEN_API inline OpHandle<NoAttrs> kConjugateTranspose;  // x, perm -> y
GRAVEN_API inline OpHandle<NoAttrs> kInvertPermutation;   // x -> y

struct SqueezeAttrs {
  std::vector<int64_t> squeeze_dims;
  static constexpr auto fields() {
    return std::tuple(field("squeeze_dims", &SqueezeAttrs::squeeze_dims));
  }
};
GRAVEN_API inline OpHandle<SqueezeAttrs> kSqueeze;  // input -> output

}  // namespace graven::engine
