#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graven/expr/expression.h"
#include "graven/kernels/block_functions.h"

namespace graven::engine {

// A function of one element, from cells to a cell.
struct ScalarStep {
  BlockFunction function;
  uint32_t out, a, b, c;
  bool reads(uint32_t cell) const { return a == cell || b == cell || c == cell; }
};

// The cells of expressions that are computed together: first their inputs, then constants and
// results in the order of making.
struct ScalarCells {
  explicit ScalarCells(size_t num_inputs) : count(num_inputs) {}
  uint32_t constant(uint64_t bits);
  uint32_t result() { return static_cast<uint32_t>(count++); }

  size_t count;
  std::vector<std::pair<uint32_t, uint64_t>> constants;  // cells and their bits
};

// An expression for one element, as steps that run one after the other: what its outputs and traps
// depend on. Same results as a BlockProgram's to the bit, but for which NaN a NaN is.
struct ScalarSteps {
  // None if an instruction does not exist for its type, or a dtype is not computed as itself (half,
  // complex).
  static std::optional<ScalarSteps> make(const Expression& expression, ScalarCells& cells);
  int64_t bytes() const;

  std::vector<ScalarStep> steps;
  std::vector<uint32_t> cell_of;  // by node
};

}  // namespace graven::engine
