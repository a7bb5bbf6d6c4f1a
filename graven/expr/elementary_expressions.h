#pragma once
#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/expr/expression.h"

namespace graven::engine {

// Whether an instruction is a function made of other instructions: exp, tanh, atan2. pow is one for
// floats only; for integers it is a loop, and for doubles the C library's.
GRAVEN_API bool is_elementary(Instruction instruction, DType operand_type);

// An elementary instruction of float32 or float64 as an expression of other instructions, for
// compilers, which emit code only for those. It gives the same bits as the block instruction,
// except for the bits of a NaN.
GRAVEN_API Result<Expression> elementary_expression(Instruction instruction, DType type);

}  // namespace graven::engine
