#include "graven/ops/matrix_formulas.h"

#include <numeric>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/ops/diagonal_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

Tensor number(Emitter& emit, int32_t value) { return constant(emit, Tensor::scalar(value)); }

Formula band_part(const Formula& x, int64_t lower, int64_t upper) {
  Emitter& emit = x.emit();
  return {emit, emit(kMatrixBandPart, {x, constant(emit, Tensor::scalar(lower)),
                                       constant(emit, Tensor::scalar(upper))})};
}

Formula expanded(const Formula& x, int32_t axis) {
  return {x.emit(), x.emit()(kExpandDims, {x, number(x.emit(), axis)})};
}

}  // namespace

Formula product(const Formula& a, const Formula& b, Adjoint adjoint) {
  return call(kBatchMatMulV2, a, b,
              {.adj_x = adjoint == Adjoint::kFirst, .adj_y = adjoint == Adjoint::kSecond});
}

Formula adjoint(const Formula& x) {
  Emitter& emit = x.emit();
  if (!x.tensor()) return x;  // after an error
  const OpHandle<NoAttrs>& op = is_complex(x.dtype()) ? kConjugateTranspose : kTranspose;
  if (x.tensor().shape().has_rank()) {
    std::vector<int32_t> perm(static_cast<size_t>(x.tensor().rank()));
    std::iota(perm.begin(), perm.end(), 0);
    if (perm.size() >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return {emit, emit(op, {x, int32_vector(emit, perm)})};
  }
  const Formula rank(emit, emit(kRank, {x}));
  const Formula one(emit, number(emit, 1)), two(emit, number(emit, 2));
  const int32_t vector[] = {1};
  const auto as_vector = [&](const Formula& i) {
    return emit(kReshape, {i, int32_vector(emit, vector)});
  };
  const Tensor batch = emit(kRange, {number(emit, 0), rank - two, one});
  return {emit, emit(op, {x, joined(emit, joined(emit, batch, as_vector(rank - one)),
                                    as_vector(rank - two))})};
}

Formula lower_part(const Formula& x) { return band_part(x, -1, 0); }
Formula upper_part(const Formula& x) { return band_part(x, 0, -1); }

Formula diagonal_matrix(const Formula& diagonal) {
  Emitter& emit = diagonal.emit();
  const Tensor any = number(emit, -1);
  return {emit,
          emit(kMatrixDiagV3, {diagonal, number(emit, 0), any, any, constant_like(diagonal, 0)})};
}
Formula diagonal_of(const Formula& x) {
  return {x.emit(), x.emit()(kMatrixDiagPartV3, {x, number(x.emit(), 0), constant_like(x, 0)})};
}
Formula with_diagonal(const Formula& x, const Formula& diagonal) {
  return {x.emit(), x.emit()(kMatrixSetDiagV3, {x, diagonal, number(x.emit(), 0)})};
}
Formula half_diagonal(const Formula& x) { return with_diagonal(x, 0.5 * diagonal_of(x)); }

Formula as_columns(const Formula& x) { return expanded(x, -1); }
Formula as_rows(const Formula& x) { return expanded(x, -2); }

}  // namespace graven::engine
