#include "graven/kernels/scalar_steps.h"

#include <bit>

#include "graven/base/heap_bytes.h"

namespace graven::engine {
namespace {

// The nodes that the outputs and traps of an expression depend on.
std::vector<bool> needed_nodes(const Expression& expression) {
  const std::span<const ExprNode> nodes = expression.nodes();
  std::vector<bool> needed(nodes.size(), false);
  for (const Expression::Output& output : expression.outputs()) needed[output.real] = true;
  for (const Trap& trap : expression.traps()) needed[trap.condition] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const uint16_t operands[] = {nodes[i].a, nodes[i].b, nodes[i].c};
    for (int k = 0; k < num_operands(nodes[i].instruction); ++k) needed[operands[k]] = true;
  }
  return needed;
}

// A division of integers by a power of two that rounds down, by bits: the quotient is a shift, the
// rest are the lowest bits. None for other nodes.
struct ByBits {
  Instruction instruction;
  uint64_t operand;  // the second one
};
std::optional<ByBits> by_bits(const Expression& expression, const ExprNode& node) {
  const bool is_quotient = node.instruction == Instruction::kFloorDiv;
  if ((!is_quotient && node.instruction != Instruction::kFloorMod) || !is_integer(node.type)) {
    return std::nullopt;
  }
  const ExprNode& divisor = expression.nodes()[node.b];
  if (divisor.instruction != Instruction::kConstant) return std::nullopt;
  const size_t bits = dtype_size(node.type) * 8;
  const uint64_t value = expression.constant(divisor) & (~uint64_t{0} >> (64 - bits));
  const bool may_be_negative = value >> (bits - 1) != 0;
  if (!std::has_single_bit(value) || may_be_negative) return std::nullopt;
  if (!is_quotient) return ByBits{Instruction::kAnd, value - 1};
  return ByBits{Instruction::kShiftRight, static_cast<uint64_t>(std::countr_zero(value))};
}

// The step of a node that is no leaf, whose operands have cells.
ScalarStep step_of(const Expression& expression, const ExprNode& node,
                   const std::vector<uint32_t>& cell_of, ScalarCells& cells) {
  const std::span<const ExprNode> nodes = expression.nodes();
  const int operands = num_operands(node.instruction);
  const bool is_select = node.instruction == Instruction::kSelect;
  const DType operand_type = nodes[is_select ? node.b : node.a].type;
  const uint32_t a = cell_of[node.a];
  ScalarStep step{nullptr, 0, a, operands > 1 ? cell_of[node.b] : a,
                  operands > 2 ? cell_of[node.c] : a};
  Instruction instruction = node.instruction;
  if (const auto bits = by_bits(expression, node)) {
    instruction = bits->instruction;
    step.b = cells.constant(bits->operand);
  }
  step.function = function_of_one(instruction, operand_type, node.type);
  step.out = cells.result();
  return step;
}

}  // namespace

uint32_t ScalarCells::constant(uint64_t bits) {
  constants.emplace_back(static_cast<uint32_t>(count), bits);
  return static_cast<uint32_t>(count++);
}

std::optional<ScalarSteps> ScalarSteps::make(const Expression& expression, ScalarCells& cells) {
  ScalarSteps made;
  const std::vector<bool> needed = needed_nodes(expression);
  for (size_t i = 0; i < expression.nodes().size(); ++i) {
    const ExprNode& node = expression.nodes()[i];
    made.cell_of.push_back(0);
    if (!needed[i]) continue;
    if (node.instruction == Instruction::kInput) {
      if (computing_type(expression.inputs()[node.a]) != expression.inputs()[node.a]) return {};
      made.cell_of.back() = node.a;
    } else if (node.instruction == Instruction::kConstant) {
      made.cell_of.back() = cells.constant(expression.constant(node));
    } else {
      made.steps.push_back(step_of(expression, node, made.cell_of, cells));
      if (!made.steps.back().function) return {};
      made.cell_of.back() = made.steps.back().out;
    }
  }
  for (const Expression::Output& output : expression.outputs()) {
    if (computing_type(output.dtype) != output.dtype) return {};
  }
  return made;
}

int64_t ScalarSteps::bytes() const { return heap_bytes(steps) + heap_bytes(cell_of); }

}  // namespace graven::engine
