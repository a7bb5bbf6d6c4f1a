#pragma once
#include "graven/expr/expression.h"

namespace graven::engine {

// The largest error of an instruction in units in the last place of the exact result, for float32
// and float64, over all arguments except those named here. Instructions that are not listed are
// exact or correctly rounded. Denormal arguments count as zero, and results that would be denormal
// may be zero.
struct Accuracy {
  Instruction instruction;
  double float32, float64;
};
inline constexpr Accuracy kAccuracies[] = {
    {Instruction::kRsqrt, 1.5, 1.5},
    {Instruction::kExp, 1.5, 1.5},
    {Instruction::kExpm1, 2, 2},
    {Instruction::kLog, 1.5, 1.5},
    {Instruction::kLog1p, 2, 2},
    {Instruction::kSin, 1.5, 1.5},
    {Instruction::kCos, 1.5, 1.5},
    {Instruction::kTan, 3, 3},
    {Instruction::kAsin, 2.5, 2},
    {Instruction::kAcos, 2, 2},
    {Instruction::kAtan, 2, 2},
    {Instruction::kAtan2, 3, 3},
    {Instruction::kSinh, 3, 3},
    {Instruction::kCosh, 3, 3},
    {Instruction::kTanh, 3, 3},
    {Instruction::kAsinh, 4, 4},
    {Instruction::kAcosh, 4, 4},
    {Instruction::kAtanh, 4, 4},
    {Instruction::kSigmoid, 3, 3},
    {Instruction::kSoftplus, 3, 3},
    {Instruction::kErf, 3, 3},
    {Instruction::kErfc, 6, 6},
    {Instruction::kPow, 1, 1},
    {Instruction::kErfinv, 1, 8},
    {Instruction::kNdtri, 1, 8},
    {Instruction::kLgamma, 1, 8},
    // Also an absolute error of 2^-53 times the largest term of its sums, which shows near its
    // zeros only.
    {Instruction::kDigamma, 1, 16},
};

}  // namespace graven::engine
