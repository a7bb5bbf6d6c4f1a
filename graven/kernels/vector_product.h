#pragma once
#include "graven/kernels/matmul.h"

namespace graven::engine {

// Products of a matrix and a vector, where each row lies together in memory: packing would take
// longer than multiplying. For float64, int32, uint32, int64 and uint64. Sixteen partial sums of
// each row are added in index order at its end. m and k are not zero.
bool is_vector_product(const MatMulArguments& arguments);
void multiply_vectors(const MatMulArguments& arguments);

}  // namespace graven::engine
