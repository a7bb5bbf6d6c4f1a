#include "graven/expr/fuse.h"

#include <algorithm>
#include <cassert>

namespace graven::engine {

Expression fuse_expressions(std::span<const DType> inputs, std::span<const FusionMember> members,
                            std::span<const FusionMember::Source> outputs,
                            std::span<const KnownInput> known) {
  Expression fused;
  for (DType dtype : inputs) fused.add_input(dtype);

  // Nodes of the fused expression: of each node of a member, and of its outputs as stored.
  std::vector<std::vector<uint16_t>> nodes(members.size());
  std::vector<std::vector<Expression::Output>> stored(members.size());

  auto source_node = [&](FusionMember::Source source, DType dtype, uint16_t part) {
    if (source.member < 0) {
      auto value = std::ranges::find(known, source.index, &KnownInput::input);
      if (value != known.end()) return fused.add_constant(computing_type(dtype), value->bits);
      return fused.add_node({Instruction::kInput, computing_type(dtype),
                             static_cast<uint16_t>(source.index), part, 0});
    }
    const Expression::Output& output = stored[source.member][source.index];
    uint16_t node = part ? output.imaginary : output.real;
    Instruction rounding = rounding_instruction(output.dtype);
    if (rounding == Instruction::kInput) return node;
    return fused.add_node({rounding, DType::kFloat32, node, 0, 0});
  };

  for (size_t m = 0; m < members.size(); ++m) {
    const Expression& expression = *members[m].expression;
    for (const ExprNode& node : expression.nodes()) {
      uint16_t fused_node;
      if (node.instruction == Instruction::kInput) {
        assert(node.a < members[m].sources.size());
        fused_node = source_node(members[m].sources[node.a], expression.inputs()[node.a], node.b);
      } else if (node.instruction == Instruction::kConstant) {
        fused_node = fused.add_constant(node.type, expression.constant(node));
      } else {
        ExprNode copy = node;
        int operands = num_operands(node.instruction);
        copy.a = nodes[m][node.a];
        if (operands > 1) copy.b = nodes[m][node.b];
        if (operands > 2) copy.c = nodes[m][node.c];
        fused_node = fused.add_node(copy);
      }
      nodes[m].push_back(fused_node);
    }
    for (const Trap& trap : expression.traps()) {
      const int number = members[m].number < 0 ? static_cast<int>(m) : members[m].number;
      fused.add_trap({nodes[m][trap.condition], static_cast<uint16_t>(number), trap.message});
    }
    for (Expression::Output output : expression.outputs()) {
      output.real = nodes[m][output.real];
      if (is_complex(output.dtype)) output.imaginary = nodes[m][output.imaginary];
      stored[m].push_back(output);
    }
  }

  for (const FusionMember::Source& source : outputs) {
    if (source.member >= 0) {
      fused.add_output(stored[source.member][source.index]);
      continue;
    }
    DType dtype = inputs[source.index];  // an input that is handed on
    Expression::Output output{dtype, source_node(source, dtype, 0)};
    if (is_complex(dtype)) output.imaginary = source_node(source, dtype, 1);
    fused.add_output(output);
  }
  return fused;
}

}  // namespace graven::engine
