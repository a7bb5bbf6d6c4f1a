#pragma once
#include <cstdint>

#include "graven/tensor/tensor.h"

namespace graven::engine {

// How many elements of a tensor on the host are NaN, +Inf and -Inf. Complex numbers are not looked
// at.
struct NonFinite {
  int64_t num_nan = 0, num_plus = 0, num_minus = 0;
};
NonFinite count_non_finite(const Tensor& x);

}  // namespace graven::engine
