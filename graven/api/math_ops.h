#pragma once
#include <cstdint>

#include "graven/api/arguments.h"
#include "graven/api/operand.h"
#include "graven/api/tensor.h"
#include "graven/base/export.h"

// Mathematics whose signature is not that of one op; the rest is printed from the records.

namespace graven {

// --- Reductions: x without the axes, or with size 1 there. InvalidArgument for an axis outside
// [-rank, rank). reduce_any and reduce_all take bools, the others numbers.
GRAVEN_API Tensor reduce_sum(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_mean(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_prod(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_max(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_min(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_any(const Operand& x, const Axes& axis = {}, bool keepdims = false);
GRAVEN_API Tensor reduce_all(const Operand& x, const Axes& axis = {}, bool keepdims = false);
// The index of the largest (smallest) element along an axis; of equal ones the first.
GRAVEN_API Tensor argmax(const Operand& input, int axis = 0, DType output_type = DType::kInt64);
GRAVEN_API Tensor argmin(const Operand& input, int axis = 0, DType output_type = DType::kInt64);

// --- Mathematics.
// Matrices, or batches of them whose leading dimensions broadcast. At most one of each pair.
GRAVEN_API Tensor matmul(const Operand& a, const Operand& b, bool transpose_a = false,
                         bool transpose_b = false, bool adjoint_a = false, bool adjoint_b = false);
// Element by element; shapes broadcast. InvalidArgument, or a TypeError while a function is traced,
// if the dtypes differ. add joins strings; divide divides integers as floats.
GRAVEN_API Tensor add(const Operand& x, const Operand& y);
GRAVEN_API Tensor divide(const Operand& x, const Operand& y);
GRAVEN_API Tensor abs(const Operand& x);
GRAVEN_API Tensor equal(const Operand& x, const Operand& y);
GRAVEN_API Tensor not_equal(const Operand& x, const Operand& y);
// Between the bounds, which broadcast to the shape of t.
GRAVEN_API Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                                const Operand& clip_value_max);

}  // namespace graven
