#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// Whether an instruction is a function that is made of others: exp, tanh, atan2. Of pow, that of
// floats is; integers' is a loop, and doubles' the C library's.
GRAVEN_API bool is_elementary(Instruction instruction, DType operand_type);

// What an elementary instruction of float32 or float64 computes, in instructions that are not: for
// compilers, which emit code for those alone. It gives the bits of the block instruction, but for
// which NaN a NaN is.
GRAVEN_API Result<Expression> elementary_expression(Instruction instruction, DType type);

}  // namespace graven::engine
