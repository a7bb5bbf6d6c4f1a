#pragma once
#include <cstdint>

#include "graven/ops/formulas.h"

namespace graven::engine {

// Formulas over matrices, the last two axes of tensors of any shape, for gradients and public
// functions. Batches broadcast.

enum class Adjoint : uint8_t { kNone, kFirst, kSecond };

// The product of matrices, one of them conjugated and transposed on request.
Formula product(const Formula& a, const Formula& b, Adjoint adjoint = Adjoint::kNone);
Formula adjoint(const Formula& x);
// Zeros above, or below, the main diagonal.
Formula lower_part(const Formula& x);
Formula upper_part(const Formula& x);
// A matrix with numbers on its main diagonal, and zeros elsewhere.
Formula diagonal_matrix(const Formula& diagonal);
Formula diagonal_of(const Formula& x);
// x with another main diagonal.
Formula with_diagonal(const Formula& x, const Formula& diagonal);
// x with its main diagonal times 0.5.
Formula half_diagonal(const Formula& x);
// Vectors as columns and as rows: [..., n, 1] and [..., 1, n].
Formula as_columns(const Formula& x);
Formula as_rows(const Formula& x);

}  // namespace graven::engine
