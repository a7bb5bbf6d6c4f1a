#pragma once
#include "graven/tensor/dtype.h"

namespace graven::engine {

// What public functions of numbers share with the operators of both front ends.

// The dtype that numbers are divided in: integers as floats that hold them well.
inline DType quotient_type(DType dtype) {
  if (!is_integer(dtype)) return dtype;
  return dtype_size(dtype) <= 2 ? DType::kFloat32 : DType::kFloat64;
}

}  // namespace graven::engine
