#pragma once
#include <cstddef>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The number of the body that a scalar chooses of so many (BodyRun::kOneOf): an int32 one of a
// list, a bool one of two. An error if it is no such scalar.
GRAVEN_API Result<size_t> chosen_body(const Tensor& choice, bool is_list, size_t num_bodies);

}  // namespace graven::engine
