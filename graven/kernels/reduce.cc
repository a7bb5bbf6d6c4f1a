#include "graven/kernels/reduce.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "graven/base/heap_bytes.h"
#include "graven/kernels/reduction_orders.h"

namespace graven::engine {
namespace {

// The instruction that a combination is, of its first and its second operand; of complex numbers,
// of both parts alike.
std::optional<Instruction> single_instruction(const Expression& combine) {
  const auto nodes = combine.nodes();
  const auto& output = combine.outputs()[0];
  if (combine.inputs().size() != 2 || output.dtype != combine.inputs()[0] ||
      combine.inputs()[1] != output.dtype) {
    return std::nullopt;
  }
  auto is_of_part = [&](uint16_t number, uint16_t part) {
    const ExprNode& node = nodes[number];
    auto reads = [&](uint16_t operand, uint16_t input) {
      return nodes[operand].instruction == Instruction::kInput && nodes[operand].a == input &&
             nodes[operand].b == part;
    };
    return num_operands(node.instruction) == 2 && node.type == computing_type(output.dtype) &&
           reads(node.a, 0) && reads(node.b, 1);
  };
  const Instruction instruction = nodes[output.real].instruction;
  if (!is_of_part(output.real, 0)) return std::nullopt;
  if (is_complex(output.dtype) &&
      (nodes[output.imaginary].instruction != instruction || !is_of_part(output.imaginary, 1))) {
    return std::nullopt;
  }
  return instruction;
}

// Whether a combination is the product of its two operands, which are complex:
// (rr - ii) + (ri + ir) i.
bool is_complex_product(const Expression& combine) {
  const auto nodes = combine.nodes();
  const auto& output = combine.outputs()[0];
  if (!is_complex(output.dtype) || combine.inputs().size() != 2 ||
      combine.inputs()[0] != output.dtype || combine.inputs()[1] != output.dtype) {
    return false;
  }
  auto is_part = [&](uint16_t number, uint16_t input, uint16_t part) {
    const ExprNode& node = nodes[number];
    return node.instruction == Instruction::kInput && node.a == input && node.b == part;
  };
  auto is_product = [&](uint16_t number, uint16_t part_of_a, uint16_t part_of_b) {
    const ExprNode& node = nodes[number];
    return node.instruction == Instruction::kMul && is_part(node.a, 0, part_of_a) &&
           is_part(node.b, 1, part_of_b);
  };
  const ExprNode &real = nodes[output.real], &imaginary = nodes[output.imaginary];
  return real.instruction == Instruction::kSub && is_product(real.a, 0, 0) &&
         is_product(real.b, 1, 1) && imaginary.instruction == Instruction::kAdd &&
         is_product(imaginary.a, 0, 1) && is_product(imaginary.b, 1, 0);
}

bool has_no_results(const Shape& shape, uint64_t reduced) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape.size(axis) == 0 && !(reduced >> axis & 1)) return true;
  }
  return false;
}

Status reduce(Roots roots, const Shape& shape, uint64_t reduced, TrapNotes* traps) {
  const int rank = shape.rank();
  if (rank == 0 || (reduced >> (rank - 1) & 1)) {
    return reduce_in_row_order(roots, traps);
  }
  return reduce_in_column_order(roots, /*has_columns=*/shape.size(rank - 1) != 1, traps);
}

}  // namespace

ReductionProgram::ReductionProgram(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
ReductionProgram::~ReductionProgram() = default;

int64_t ReductionProgram::bytes() const {
  int64_t total = bytes_of_object<ReductionProgram>() + bytes_of_block(kBytesOfCounts) +
                  bytes_of_block(sizeof(Rep) + alignof(Rep));
  for (const auto& program : {rep_->prepare, rep_->combine, rep_->finish}) {
    if (program) total += program->bytes();
  }
  return total;
}

Result<std::shared_ptr<const ReductionProgram>> ReductionProgram::compile(
    const ReductionParts& parts) {
  if (!parts.combine.traps().empty() || !parts.finish.traps().empty()) {
    return internal_error("a reduction refuses values after they were prepared");
  }
  auto rep = std::make_unique<Rep>();
  rep->accumulator = parts.accumulator;
  rep->size = dtype_size(parts.accumulator);
  for (size_t i = 0; i < sizeof(rep->identity); i += rep->size) {
    std::memcpy(rep->identity + i, parts.identity, rep->size);
  }
  ASSIGN_OR_RETURN(rep->prepare, BlockProgram::compile(parts.prepare));
  ASSIGN_OR_RETURN(rep->combine, BlockProgram::compile(parts.combine));
  ASSIGN_OR_RETURN(rep->finish, BlockProgram::compile(parts.finish));
  rep->program_scratch = std::max(
      {rep->prepare->scratch_bytes(), rep->combine->scratch_bytes(), rep->finish->scratch_bytes()});

  // The input that an expression gives as it is, or -1.
  auto handed_on_by = [](const Expression& expression, DType dtype) {
    const auto& output = expression.outputs()[0];
    const uint16_t input = expression.nodes()[output.real].a;
    auto is_part = [&](uint16_t number, uint16_t part) {
      const ExprNode& node = expression.nodes()[number];
      return node.instruction == Instruction::kInput && node.a == input && node.b == part;
    };
    const bool is_input = output.dtype == dtype && is_part(output.real, 0) &&
                          (!is_complex(dtype) || is_part(output.imaginary, 1)) &&
                          expression.inputs()[input] == dtype;
    return is_input ? static_cast<int>(input) : -1;
  };
  if (parts.prepare.traps().empty()) {
    rep->handed_on = handed_on_by(parts.prepare, parts.accumulator);
  }
  rep->finishes = handed_on_by(parts.finish, parts.accumulator) != 0;

  if (std::optional<Instruction> instruction = single_instruction(parts.combine)) {
    rep->functions = reduction_functions(*instruction, parts.accumulator);
    if (!is_complex(parts.accumulator)) {
      rep->combine_blocks = block_function(*instruction, parts.accumulator, parts.accumulator);
    }
  } else if (is_complex_product(parts.combine)) {
    rep->combine_blocks = complex_product_function(parts.accumulator);
  }
  return std::shared_ptr<const ReductionProgram>(new ReductionProgram(std::move(rep)));
}

Status run_reductions(std::span<const ReductionRoot> roots, std::span<const StridedInput> inputs,
                      const Shape& shape, uint64_t reduced, TrapNotes* traps) {
  if (has_no_results(shape, reduced)) return {};
  InlineVector<DType, 8> dtypes(inputs.size(), DType::kFloat32);
  for (const ReductionRoot& root : roots) {
    const auto read = root.program->rep().prepare->expression().inputs();
    for (size_t i = 0; i < read.size(); ++i) dtypes[static_cast<size_t>(root.reads[i])] = read[i];
  }
  // Dimensions merge where they do for all inputs.
  const Iteration all = make_iteration(inputs, dtypes, shape, reduced);
  InlineVector<RootIteration, 2> iterations;
  for (const ReductionRoot& root : roots) {
    Iteration own{all.sizes, all.is_reduced, {}};
    for (int input : root.reads) own.operands.push_back(all.operands[static_cast<size_t>(input)]);
    iterations.push_back({root.program, static_cast<std::byte*>(root.output), std::move(own)});
  }
  return reduce(iterations, shape, reduced, traps);
}

Status run_reduction(const ReductionProgram& program, std::span<const StridedInput> inputs,
                     const Shape& shape, uint64_t reduced, void* output, TrapNotes* traps) {
  if (has_no_results(shape, reduced)) return {};
  const RootIteration root{
      &program, static_cast<std::byte*>(output),
      make_iteration(inputs, program.rep().prepare->expression().inputs(), shape, reduced)};
  return reduce({&root, 1}, shape, reduced, traps);
}

}  // namespace graven::engine
