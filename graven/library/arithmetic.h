#pragma once
#include "graven/base/status.h"
#include "graven/tensor/dtype.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Rules for numbers that public functions share with the operators of both front ends.

// The dtype of a quotient: integers are divided as floats that hold them well.
inline DType quotient_type(DType dtype) {
  if (!is_integer(dtype)) return dtype;
  return dtype_size(dtype) <= 2 ? DType::kFloat32 : DType::kFloat64;
}

// A TypeError unless numbers of these dtypes can be divided by each other.
inline Status check_division(DType x, DType y) {
  if (x != y) {
    return type_error("`x` and `y` must have the same dtype, got tf.", dtype_name(x), " != tf.",
                      dtype_name(y), ". See docs/errors/different-dtypes.md");
  }
  if (kNumberTypes.contains(x)) return {};
  return type_error("Invalid dtype ", dtype_name(x), " in a division");
}

// Whether a product is known to be one of two matrices, not of batches of matrices.
inline bool are_matrices(const Tensor& a, const Tensor& b) {
  return a.shape().has_rank() && b.shape().has_rank() && a.rank() <= 2 && b.rank() <= 2;
}

}  // namespace graven::engine
