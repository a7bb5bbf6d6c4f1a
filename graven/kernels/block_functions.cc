#include "graven/kernels/block_functions.h"

#include <cstring>

namespace graven::engine {
namespace {

template <typename T, bool kIsOne>
void copy(void* out, const void* a, const void*, const void*, int64_t n) {
  std::memmove(out, a, (kIsOne ? 1 : n) * sizeof(T));
}

template <bool kIsOne>
BlockFunction copy_of(size_t element_size) {
  switch (element_size) {
    case 1:
      return copy<uint8_t, kIsOne>;
    case 2:
      return copy<uint16_t, kIsOne>;
    case 4:
      return copy<uint32_t, kIsOne>;
    default:
      return copy<uint64_t, kIsOne>;
  }
}

}  // namespace

BlockFunction copy_function(size_t element_size) { return copy_of<false>(element_size); }
BlockFunction copy_function_of_one(size_t element_size) { return copy_of<true>(element_size); }

BlockFunction block_function(Instruction instruction, DType operand_type, DType result_type) {
  if (!instruction_takes(instruction, operand_type)) return nullptr;
  switch (instruction) {
    case Instruction::kCast:
      return conversion_function(operand_type, result_type);
    case Instruction::kBitCast:
      if (dtype_size(operand_type) != dtype_size(result_type)) return nullptr;
      return copy_function(dtype_size(result_type));
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

BlockFunction function_of_one(Instruction instruction, DType operand_type, DType result_type) {
  if (!instruction_takes(instruction, operand_type)) return nullptr;
  if (instruction == Instruction::kSelect) return select_function_of_one(dtype_size(operand_type));
  if (BlockFunction f = comparison_function_of_one(instruction, operand_type)) return f;
  if (BlockFunction f = arithmetic_function_of_one(instruction, operand_type)) return f;
  return block_function(instruction, operand_type, result_type);
}

}  // namespace graven::engine
