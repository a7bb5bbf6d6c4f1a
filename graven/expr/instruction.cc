#include <iterator>

#include "graven/expr/expression.h"

namespace graven::engine {
namespace {

// The operand types of an instruction.
enum Takes : uint8_t { kFloats, kNumbers, kAnything, kBits, kIntegers, kFloat32, kFloat64, kWords };

struct Info {
  Instruction instruction;
  std::string_view name;
  int operands;
  Takes takes;
};

constexpr Info kInfos[] = {
    {Instruction::kInput, "input", 0, kAnything},
    {Instruction::kConstant, "constant", 0, kAnything},
    {Instruction::kCast, "cast", 1, kAnything},
    {Instruction::kBitCast, "bit_cast", 1, kWords},
    {Instruction::kRoundToHalf, "round_to_half", 1, kFloat32},
    {Instruction::kRoundToBFloat16, "round_to_bfloat16", 1, kFloat32},
    {Instruction::kAdd, "add", 2, kNumbers},
    {Instruction::kSub, "sub", 2, kNumbers},
    {Instruction::kMul, "mul", 2, kNumbers},
    {Instruction::kDiv, "div", 2, kNumbers},
    {Instruction::kRem, "rem", 2, kNumbers},
    {Instruction::kFloorDiv, "floor_div", 2, kNumbers},
    {Instruction::kFloorMod, "floor_mod", 2, kNumbers},
    {Instruction::kMin, "min", 2, kAnything},
    {Instruction::kMax, "max", 2, kAnything},
    {Instruction::kPow, "pow", 2, kNumbers},
    {Instruction::kAtan2, "atan2", 2, kFloats},
    {Instruction::kNextAfter, "next_after", 2, kFloats},
    {Instruction::kFma, "fma", 3, kFloats},
    {Instruction::kMulAdd, "mul_add", 3, kFloats},
    {Instruction::kNeg, "neg", 1, kNumbers},
    {Instruction::kAbs, "abs", 1, kNumbers},
    {Instruction::kSign, "sign", 1, kNumbers},
    {Instruction::kFloor, "floor", 1, kFloats},
    {Instruction::kCeil, "ceil", 1, kFloats},
    {Instruction::kTrunc, "trunc", 1, kFloats},
    {Instruction::kRound, "round", 1, kFloats},
    {Instruction::kSqrt, "sqrt", 1, kFloats},
    {Instruction::kRsqrt, "rsqrt", 1, kFloats},
    {Instruction::kExp, "exp", 1, kFloats},
    {Instruction::kExpm1, "expm1", 1, kFloats},
    {Instruction::kLog, "log", 1, kFloats},
    {Instruction::kLog1p, "log1p", 1, kFloats},
    {Instruction::kSin, "sin", 1, kFloats},
    {Instruction::kCos, "cos", 1, kFloats},
    {Instruction::kTan, "tan", 1, kFloats},
    {Instruction::kAsin, "asin", 1, kFloats},
    {Instruction::kAcos, "acos", 1, kFloats},
    {Instruction::kAtan, "atan", 1, kFloats},
    {Instruction::kSinh, "sinh", 1, kFloats},
    {Instruction::kCosh, "cosh", 1, kFloats},
    {Instruction::kTanh, "tanh", 1, kFloats},
    {Instruction::kAsinh, "asinh", 1, kFloats},
    {Instruction::kAcosh, "acosh", 1, kFloats},
    {Instruction::kAtanh, "atanh", 1, kFloats},
    {Instruction::kSigmoid, "sigmoid", 1, kFloats},
    {Instruction::kSoftplus, "softplus", 1, kFloats},
    {Instruction::kErf, "erf", 1, kFloats},
    {Instruction::kErfc, "erfc", 1, kFloats},
    {Instruction::kErfinv, "erfinv", 1, kFloats},
    {Instruction::kNdtri, "ndtri", 1, kFloats},
    {Instruction::kLgamma, "lgamma", 1, kFloats},
    {Instruction::kDigamma, "digamma", 1, kFloats},
    {Instruction::kSinOfLarge, "sin_of_large", 1, kFloat64},
    {Instruction::kCosOfLarge, "cos_of_large", 1, kFloat64},
    {Instruction::kTanOfLarge, "tan_of_large", 1, kFloat64},
    {Instruction::kLgammaOfOthers, "lgamma_of_others", 1, kFloat64},
    {Instruction::kDigammaOfOthers, "digamma_of_others", 1, kFloat64},
    {Instruction::kEqual, "equal", 2, kAnything},
    {Instruction::kNotEqual, "not_equal", 2, kAnything},
    {Instruction::kLess, "less", 2, kAnything},
    {Instruction::kLessEqual, "less_equal", 2, kAnything},
    {Instruction::kIsNan, "is_nan", 1, kFloats},
    {Instruction::kIsInf, "is_inf", 1, kFloats},
    {Instruction::kIsFinite, "is_finite", 1, kFloats},
    {Instruction::kAnd, "and", 2, kBits},
    {Instruction::kOr, "or", 2, kBits},
    {Instruction::kXor, "xor", 2, kBits},
    {Instruction::kNot, "not", 1, kBits},
    {Instruction::kShiftLeft, "shift_left", 2, kIntegers},
    {Instruction::kShiftRight, "shift_right", 2, kIntegers},
    {Instruction::kSelect, "select", 3, kAnything},
};

constexpr bool is_in_order() {
  for (int i = 0; i < kNumInstructions; ++i) {
    if (static_cast<int>(kInfos[i].instruction) != i) return false;
  }
  return std::size(kInfos) == kNumInstructions;
}
static_assert(is_in_order(), "one row for each instruction, in the order of the enum");

const Info& info(Instruction instruction) { return kInfos[static_cast<int>(instruction)]; }

}  // namespace

std::string_view instruction_name(Instruction instruction) { return info(instruction).name; }
int num_operands(Instruction instruction) { return info(instruction).operands; }

bool instruction_takes(Instruction instruction, DType type) {
  bool is_float = type == DType::kFloat32 || type == DType::kFloat64;
  bool is_int = is_integer(type);
  bool is_bool = type == DType::kBool;
  switch (info(instruction).takes) {
    case kFloat32:
      return type == DType::kFloat32;
    case kFloat64:
      return type == DType::kFloat64;
    case kFloats:
      return is_float;
    case kNumbers:
      return is_float || is_int;
    case kAnything:
      return is_float || is_int || is_bool;
    case kBits:
      return is_int || is_bool;
    case kIntegers:
      return is_int;
    case kWords:
      return is_float || (is_int && dtype_size(type) >= 4);
  }
  return false;
}

DType computing_type(DType dtype) {
  if (dtype == DType::kHalf || dtype == DType::kBFloat16) return DType::kFloat32;
  return real_part_type(dtype);
}

Instruction rounding_instruction(DType dtype) {
  return dtype == DType::kHalf       ? Instruction::kRoundToHalf
         : dtype == DType::kBFloat16 ? Instruction::kRoundToBFloat16
                                     : Instruction::kInput;
}

}  // namespace graven::engine
