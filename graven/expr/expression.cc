#include "graven/expr/expression.h"

#include <bit>

#include "graven/base/hash.h"
#include "graven/base/strings.h"

namespace graven::engine {
namespace {

std::string constant_text(DType type, uint64_t bits) {
  switch (type) {
    case DType::kFloat32:
      return shortest(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case DType::kFloat64:
      return shortest(std::bit_cast<double>(bits));
    case DType::kBool:
      return bits ? "true" : "false";
    case DType::kInt8:
      return str_cat(static_cast<int8_t>(bits));
    case DType::kInt16:
      return str_cat(static_cast<int16_t>(bits));
    case DType::kInt32:
      return str_cat(static_cast<int32_t>(bits));
    case DType::kInt64:
      return str_cat(static_cast<int64_t>(bits));
    default:
      return str_cat(bits);
  }
}

// Costs were taken from block instructions over float32 in L1, in units of one addition.
double instruction_cost(Instruction instruction, DType type) {
  double wide = type == DType::kFloat64 ? 2 : 1;
  switch (instruction) {
    case Instruction::kInput:
    case Instruction::kConstant:
      return 0;
    case Instruction::kDiv:
    case Instruction::kSqrt:
    case Instruction::kRsqrt:
    case Instruction::kRem:
    case Instruction::kFloorDiv:
    case Instruction::kFloorMod:
      return is_integer(type) ? 12 : 4 * wide;
    case Instruction::kExp:
    case Instruction::kExpm1:
    case Instruction::kLog:
    case Instruction::kLog1p:
    case Instruction::kSin:
    case Instruction::kCos:
    case Instruction::kTanh:
    case Instruction::kSigmoid:
    case Instruction::kSoftplus:
    case Instruction::kErf:
      return 8 * wide;
    case Instruction::kTan:
    case Instruction::kAsin:
    case Instruction::kAcos:
    case Instruction::kAtan:
    case Instruction::kAtan2:
    case Instruction::kSinh:
    case Instruction::kCosh:
    case Instruction::kAsinh:
    case Instruction::kAcosh:
    case Instruction::kAtanh:
    case Instruction::kErfc:
      return 16 * wide;
    case Instruction::kSinOfLarge:
    case Instruction::kCosOfLarge:
    case Instruction::kTanOfLarge:
    case Instruction::kLgammaOfOthers:
    case Instruction::kDigammaOfOthers:
      return 2;  // hardly ever more than a comparison
    case Instruction::kPow:
      return 30 * wide;
    case Instruction::kErfinv:
    case Instruction::kNdtri:
    case Instruction::kLgamma:
    case Instruction::kDigamma:
      return 200;
    default:
      return wide;
  }
}

}  // namespace

uint16_t Expression::add_input(DType dtype) {
  inputs_.push_back(dtype);
  return static_cast<uint16_t>(inputs_.size() - 1);
}

uint16_t Expression::add_node(ExprNode node) {
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i] == node) return static_cast<uint16_t>(i);
  }
  nodes_.push_back(node);
  return static_cast<uint16_t>(nodes_.size() - 1);
}

uint16_t Expression::add_constant(DType type, uint64_t bits) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ExprNode& node = nodes_[i];
    if (node.instruction == Instruction::kConstant && node.type == type && constant(node) == bits) {
      return static_cast<uint16_t>(i);
    }
  }
  constants_.push_back(bits);
  nodes_.push_back(
      {Instruction::kConstant, type, static_cast<uint16_t>(constants_.size() - 1), 0, 0});
  return static_cast<uint16_t>(nodes_.size() - 1);
}

namespace {

template <typename T>
bool compare(Instruction comparison, T x, T y) {
  switch (comparison) {
    case Instruction::kEqual:
      return x == y;
    case Instruction::kNotEqual:
      return x != y;
    case Instruction::kLess:
      return x < y;
    default:
      return x <= y;
  }
}

}  // namespace

std::optional<bool> Expression::known_condition(uint16_t number) const {
  const ExprNode& node = nodes_[number];
  switch (node.instruction) {
    case Instruction::kConstant:
      return constant(node) != 0;
    case Instruction::kEqual:
    case Instruction::kNotEqual:
    case Instruction::kLess:
    case Instruction::kLessEqual: {
      const ExprNode &x = nodes_[node.a], &y = nodes_[node.b];
      const bool are_constants =
          x.instruction == Instruction::kConstant && y.instruction == Instruction::kConstant;
      if (!are_constants || !is_integer(x.type)) return std::nullopt;
      const int unused = 64 - 8 * static_cast<int>(dtype_size(x.type));
      const uint64_t a = constant(x) << unused, b = constant(y) << unused;
      if (kUnsignedIntTypes.contains(x.type)) return compare(node.instruction, a, b);
      return compare(node.instruction, static_cast<int64_t>(a), static_cast<int64_t>(b));
    }
    default:
      return std::nullopt;
  }
}

void Expression::add_trap(Trap trap) {
  if (known_condition(trap.condition) == false) return;
  traps_.push_back(std::move(trap));
}

std::string Expression::to_text() const {
  std::string text;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ExprNode& node = nodes_[i];
    text +=
        str_cat("%", i, " = ", instruction_name(node.instruction), ".", dtype_name(node.type), " ");
    if (node.instruction == Instruction::kInput) {
      text += str_cat(node.a, is_complex(inputs_[node.a]) ? node.b ? ".imag" : ".real" : "");
    } else if (node.instruction == Instruction::kConstant) {
      text += constant_text(node.type, constant(node));
    } else {
      const uint16_t operands[] = {node.a, node.b, node.c};
      for (int k = 0; k < num_operands(node.instruction); ++k) {
        text += str_cat(k ? ", %" : "%", operands[k]);
      }
    }
    text += "\n";
  }
  for (const Trap& trap : traps_) {
    text +=
        str_cat("trap %", trap.condition, " in member ", trap.member, ": \"", trap.message, "\"\n");
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    text += str_cat(i ? ", %" : "return %", output.real);
    if (is_complex(output.dtype)) text += str_cat("+%", output.imaginary, "i");
    text += str_cat(" : ", dtype_name(output.dtype));
  }
  return outputs_.empty() ? text : text + "\n";
}

// Of integers: a multiplication.
bool Expression::divides_by_constant(const ExprNode& node) const {
  switch (node.instruction) {
    case Instruction::kDiv:
    case Instruction::kRem:
    case Instruction::kFloorDiv:
    case Instruction::kFloorMod:
      return is_integer(node.type) && nodes_[node.b].instruction == Instruction::kConstant;
    default:
      return false;
  }
}

double Expression::cost() const {
  double total = 0;
  for (const ExprNode& node : nodes_) {
    const double cost = instruction_cost(node.instruction, node.type);
    total += divides_by_constant(node) ? cost / 4 : cost;
  }
  return total;
}

uint64_t Expression::hash() const {
  uint64_t h = hash_combine(inputs_.size(), outputs_.size());
  for (DType dtype : inputs_) h = hash_combine(h, static_cast<uint64_t>(dtype));
  for (const ExprNode& node : nodes_) {
    h = hash_combine(h, static_cast<uint64_t>(node.instruction) << 8 |
                            static_cast<uint64_t>(node.type) | static_cast<uint64_t>(node.a) << 16 |
                            static_cast<uint64_t>(node.b) << 32 |
                            static_cast<uint64_t>(node.c) << 48);
  }
  for (uint64_t bits : constants_) h = hash_combine(h, bits);
  for (const Output& output : outputs_) {
    h = hash_combine(h, static_cast<uint64_t>(output.dtype) << 32 |
                            static_cast<uint64_t>(output.real) << 16 | output.imaginary);
  }
  for (const Trap& trap : traps_) {
    h = hash_combine(h, static_cast<uint64_t>(trap.condition) << 16 | trap.member);
    h = hash_combine(h, hash_text(trap.message));
  }
  return h;
}

}  // namespace graven::engine
