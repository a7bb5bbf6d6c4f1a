#include "graven/kernels/scalar_loop.h"

#include <cstring>
#include <utility>

#include "graven/base/heap_bytes.h"
#include "graven/expr/expression_bytes.h"

namespace graven::engine {

std::optional<ScalarLoop> ScalarLoop::compile(const Expression& condition, const Expression& body,
                                              std::span<const int> changed) {
  ScalarLoop loop;
  loop.num_cells_ = condition.inputs().size();
  if (!loop.add(condition, loop.condition_) || !loop.add(body, loop.body_)) return std::nullopt;
  for (size_t k = 0; k < changed.size(); ++k) {
    loop.moves_.push_back({loop.body_.cell_of[body.outputs()[k].real],
                           static_cast<uint32_t>(loop.num_cells_++),
                           static_cast<uint32_t>(changed[k])});
  }
  return loop;
}

bool ScalarLoop::add(const Expression& expression, Part& part) {
  part.expression = expression;
  const std::span<const ExprNode> nodes = expression.nodes();
  for (const ExprNode& node : nodes) {
    if (node.instruction == Instruction::kInput) {
      if (computing_type(expression.inputs()[node.a]) != expression.inputs()[node.a]) return false;
      part.cell_of.push_back(node.a);
      continue;
    }
    const auto cell = static_cast<uint32_t>(num_cells_++);
    part.cell_of.push_back(cell);
    if (node.instruction == Instruction::kConstant) {
      constants_.emplace_back(cell, expression.constant(node));
      continue;
    }
    const bool is_select = node.instruction == Instruction::kSelect;
    const BlockFunction function =
        block_function(node.instruction, nodes[is_select ? node.b : node.a].type, node.type);
    if (!function) return false;
    const int operands = num_operands(node.instruction);
    part.steps.push_back({function, cell, part.cell_of[node.a],
                          operands > 1 ? part.cell_of[node.b] : 0,
                          operands > 2 ? part.cell_of[node.c] : 0});
  }
  for (const Expression::Output& output : expression.outputs()) {
    if (computing_type(output.dtype) != output.dtype) return false;
  }
  return true;
}

void ScalarLoop::prepare(std::span<Cell> cells) const {
  for (const auto& [cell, bits] : constants_) std::memcpy(&cells[cell], &bits, sizeof(bits));
}

void ScalarLoop::run(const Part& part, std::span<Cell> cells) {
  for (const Step& step : part.steps) {
    step.function(&cells[step.out], &cells[step.a], &cells[step.b], &cells[step.c], 1);
  }
}

const Trap* ScalarLoop::trap_of(const Part& part, std::span<const Cell> cells) {
  for (const Trap& trap : part.expression.traps()) {
    if (cells[part.cell_of[trap.condition]].bytes[0] != std::byte{0}) return &trap;
  }
  return nullptr;
}

ScalarLoop::End ScalarLoop::run(std::span<Cell> cells, int64_t most, const Trap** trap) const {
  const uint32_t holds = condition_.cell_of[condition_.expression.outputs()[0].real];
  for (int64_t i = 0; i < most; ++i) {
    run(condition_, cells);
    if ((*trap = trap_of(condition_, cells))) return End::kTrapped;
    if (cells[holds].bytes[0] == std::byte{0}) return End::kConditionFailed;
    run(body_, cells);
    if ((*trap = trap_of(body_, cells))) return End::kTrapped;
    // A result may be a variable itself, which another result replaces: two passes.
    for (const Move& move : moves_) cells[move.between] = cells[move.from];
    for (const Move& move : moves_) cells[move.variable] = cells[move.between];
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
