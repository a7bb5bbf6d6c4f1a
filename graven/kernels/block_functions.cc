#include "graven/kernels/block_functions.h"

namespace graven::engine {

BlockFunction block_function(Instruction instruction, DType operand_type, DType result_type) {
  if (!instruction_takes(instruction, operand_type)) return nullptr;
  switch (instruction) {
    case Instruction::kCast:
      return conversion_function(operand_type, result_type);
    case Instruction::kRoundToHalf:
    case Instruction::kRoundToBFloat16:
      return rounding_function(instruction);
    case Instruction::kSelect:
      return select_function(dtype_size(operand_type));
    default:
      break;
  }
  if (BlockFunction f = comparison_function(instruction, operand_type)) return f;
  if (BlockFunction f = arithmetic_function(instruction, operand_type)) return f;
  return math_function(instruction, operand_type);
}

}  // namespace graven::engine
