#include "graven/kernels/scalar_loop.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/expr/expression_bytes.h"

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

}  // namespace

std::optional<ScalarLoop> ScalarLoop::compile(const Expression& condition, const Expression& body,
                                              std::span<const int> changed) {
  ScalarLoop loop;
  loop.num_cells_ = condition.inputs().size();
  if (!loop.add(condition, loop.condition_) || !loop.add(body, loop.body_)) return std::nullopt;
  loop.add_moves(changed);
  return loop;
}

bool ScalarLoop::add(const Expression& expression, Part& part) {
  part.expression = expression;
  const std::vector<bool> needed = needed_nodes(expression);
  for (size_t i = 0; i < expression.nodes().size(); ++i) {
    const ExprNode& node = expression.nodes()[i];
    part.cell_of.push_back(0);
    if (!needed[i]) continue;
    if (node.instruction == Instruction::kInput) {
      if (computing_type(expression.inputs()[node.a]) != expression.inputs()[node.a]) return false;
      part.cell_of.back() = node.a;
    } else if (node.instruction == Instruction::kConstant) {
      part.cell_of.back() = constant(expression.constant(node));
    } else if (!add_step(expression, node, part)) {
      return false;
    }
  }
  for (const Expression::Output& output : expression.outputs()) {
    if (computing_type(output.dtype) != output.dtype) return false;
  }
  return true;
}

bool ScalarLoop::add_step(const Expression& expression, const ExprNode& node, Part& part) {
  const std::span<const ExprNode> nodes = expression.nodes();
  const int operands = num_operands(node.instruction);
  const bool is_select = node.instruction == Instruction::kSelect;
  const DType operand_type = nodes[is_select ? node.b : node.a].type;
  const uint32_t a = part.cell_of[node.a];
  Step step{nullptr, 0, a, operands > 1 ? part.cell_of[node.b] : a,
            operands > 2 ? part.cell_of[node.c] : a};
  Instruction instruction = node.instruction;
  if (const auto bits = by_bits(expression, node)) {
    instruction = bits->instruction;
    step.b = constant(bits->operand);
  }
  step.function = function_of_one(instruction, operand_type, node.type);
  step.out = part.cell_of.back() = static_cast<uint32_t>(num_cells_++);
  part.steps.push_back(step);
  return step.function != nullptr;
}

uint32_t ScalarLoop::constant(uint64_t bits) {
  constants_.emplace_back(static_cast<uint32_t>(num_cells_), bits);
  return static_cast<uint32_t>(num_cells_++);
}

void ScalarLoop::add_moves(std::span<const int> changed) {
  const std::span<const Expression::Output> outputs = body_.expression.outputs();
  std::vector<bool> is_written;
  for (size_t k = 0; k < changed.size(); ++k) {
    is_written.push_back(writes_variable(outputs[k].real, static_cast<uint32_t>(changed[k])));
  }
  std::vector<Step> last;
  for (size_t k = 0; k < changed.size(); ++k) {
    if (is_written[k]) continue;
    const auto variable = static_cast<uint32_t>(changed[k]);
    uint32_t from = body_.cell_of[outputs[k].real];
    const BlockFunction copy = copy_function_of_one(dtype_size(outputs[k].dtype));
    if (is_variable(from)) {
      // A variable itself, which may have its next value before it is copied.
      const auto between = static_cast<uint32_t>(num_cells_++);
      moves_.push_back({copy, between, from, from, from});
      from = between;
    }
    last.push_back({copy, variable, from, from, from});
  }
  moves_.insert(moves_.end(), last.begin(), last.end());
}

bool ScalarLoop::writes_variable(uint16_t result, uint32_t variable) {
  const Expression& expression = body_.expression;
  const uint32_t cell = body_.cell_of[result];
  if (is_variable(cell) || std::ranges::count(body_.steps, cell, &Step::out) == 0) return false;
  const auto is_it = [&](uint16_t node) { return body_.cell_of[node] == variable; };
  if (std::ranges::any_of(expression.outputs(), is_it, &Expression::Output::real) ||
      std::ranges::any_of(expression.traps(), is_it, &Trap::condition) ||
      !goes_behind_readers(cell, variable)) {
    return false;
  }
  std::ranges::find(body_.steps, cell, &Step::out)->out = variable;
  body_.cell_of[result] = variable;
  for (Step& step : body_.steps) {
    for (uint32_t* operand : {&step.a, &step.b, &step.c}) {
      if (*operand == cell) *operand = variable;
    }
  }
  return true;
}

bool ScalarLoop::goes_behind_readers(uint32_t cell, uint32_t variable) {
  const auto made_by = std::ranges::find(body_.steps, cell, &Step::out);
  auto end = made_by + 1;  // behind the last reader
  for (auto step = end; step != body_.steps.end(); ++step) {
    if (step->reads(variable)) end = step + 1;
  }
  const bool may_go = std::none_of(made_by + 1, end, [&](const Step& step) {
    return step.reads(cell) || made_by->reads(step.out);
  });
  if (may_go) std::rotate(made_by, made_by + 1, end);
  return may_go;
}

void ScalarLoop::prepare(std::span<Cell> cells) const {
  for (const auto& [cell, bits] : constants_) std::memcpy(&cells[cell], &bits, sizeof(bits));
}

ScalarLoop::End ScalarLoop::run(std::span<Cell> cells, int64_t most, const Trap** trap) const {
  const uint32_t holds = condition_.cell_of[condition_.expression.outputs()[0].real];
  for (int64_t i = 0; i < most; ++i) {
    run(condition_.steps, cells.data());
    if ((*trap = trap_of(condition_, cells))) return End::kTrapped;
    if (cells[holds].bytes[0] == std::byte{0}) return End::kConditionFailed;
    run(body_.steps, cells.data());
    if ((*trap = trap_of(body_, cells))) return End::kTrapped;
    run(moves_, cells.data());
  }
  return End::kMoreToCome;
}

int64_t ScalarLoop::bytes() const {
  return bytes_of_object<ScalarLoop>() + heap_bytes(condition_.steps) + heap_bytes(body_.steps) +
         heap_bytes(condition_.cell_of) + heap_bytes(body_.cell_of) + heap_bytes(moves_) +
         heap_bytes(constants_) + heap_bytes_of(condition_.expression) +
         heap_bytes_of(body_.expression);
}

}  // namespace graven::engine
