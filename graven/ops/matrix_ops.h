#pragma once
#include <tuple>

#include "graven/ir/op.h"

namespace graven::engine {

// Systems of linear equations, determinants and inverses, by factors of square matrices. Matrices
// are the last two axes of a tensor, all others count them.

struct AdjointAttrs {
  bool adjoint = false;  // take the conjugate transpose of the matrix
  static constexpr auto fields() { return std::tuple(field("adjoint", &AdjointAttrs::adjoint)); }
};
struct TriangularSolveAttrs {
  bool lower = true, adjoint = false;
  static constexpr auto fields() {
    return std::tuple(field("lower", &TriangularSolveAttrs::lower),
                      field("adjoint", &TriangularSolveAttrs::adjoint));
  }
};
struct LuAttrs {
  DType output_idx_type = DType::kInt32;
  static constexpr auto fields() {
    return std::tuple(field("output_idx_type", &LuAttrs::output_idx_type));
  }
};

GRAVEN_API inline OpHandle<NoAttrs> kCholesky;            // input -> output
GRAVEN_API inline OpHandle<AdjointAttrs> kMatrixInverse;  // input -> output
GRAVEN_API inline OpHandle<NoAttrs> kMatrixDeterminant;   // input -> output
// input -> sign, log_abs_determinant
GRAVEN_API inline OpHandle<NoAttrs> kLogMatrixDeterminant;
GRAVEN_API inline OpHandle<AdjointAttrs> kMatrixSolve;  // matrix, rhs -> output
// matrix, rhs -> output
GRAVEN_API inline OpHandle<TriangularSolveAttrs> kMatrixTriangularSolve;
GRAVEN_API inline OpHandle<LuAttrs> kLu;  // input -> lu, p

// input -> output
GRAVEN_API inline OpHandle<NoAttrs> kMatrixExponential, kMatrixLogarithm, kMatrixSquareRoot;

}  // namespace graven::engine
