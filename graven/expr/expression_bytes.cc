#include "graven/expr/expression_bytes.h"

#include <algorithm>

#include "graven/base/heap_bytes.h"

namespace graven::engine {

int64_t heap_bytes_of(const Expression& expression) {
  const auto nodes = expression.nodes();
  const auto constants = std::ranges::count(nodes, Instruction::kConstant, &ExprNode::instruction);
  int64_t total = bytes_of_block(expression.inputs().size_bytes()) +
                  bytes_of_block(expression.outputs().size_bytes()) +
                  bytes_of_block(nodes.size_bytes()) +
                  bytes_of_block(static_cast<size_t>(constants) * sizeof(uint64_t)) +
                  bytes_of_block(expression.traps().size_bytes());
  for (const Trap& trap : expression.traps()) total += heap_bytes(trap.message);
  return total;
}

}  // namespace graven::engine
