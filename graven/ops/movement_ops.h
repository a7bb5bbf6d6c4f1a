#pragma once
#include <string>
#include <vector>

#include "graven/ir/moving_ops.h"
#include "graven/ir/op.h"
#include "graven/ir/structural_ops.h"

namespace graven::engine {

// Elements in another order, repeated or with others around them. Their values do not matter.

// The dtypes whose elements are values, and no handles.
inline constexpr DTypeSet kValueTypes = kPlainTypes | DTypeSet{DType::kString};

GRAVEN_API inline OpHandle<NoAttrs> kConjugateTranspose;  // x, perm -> y
GRAVEN_API inline OpHandle<NoAttrs> kInvertPermutation;   // x -> y

}  // namespace graven::engine
