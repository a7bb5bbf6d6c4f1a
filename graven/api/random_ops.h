#pragma once
#include <cstdint>
#include <vector>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Random numbers.

namespace graven {

namespace random {
// Numbers that the seed alone decides, the same as TensorFlow's: uniform in [minval, maxval), or
// normal. The seed is two integers.
GRAVEN_API Tensor stateless_uniform(const Sizes& shape, const std::vector<int64_t>& seed,
                                    double minval = 0, double maxval = 1,
                                    DType dtype = DType::kFloat32, Here location = Here::current());
GRAVEN_API Tensor stateless_normal(const Sizes& shape, const std::vector<int64_t>& seed,
                                   double mean = 0, double stddev = 1,
                                   DType dtype = DType::kFloat32, Here location = Here::current());
}  // namespace random

}  // namespace graven
