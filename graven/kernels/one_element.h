#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graven/expr/expression.h"
#include "graven/kernels/scalar_steps.h"

namespace graven::engine {

class TrapNotes;

// A short expression for one element, where the preparations for blocks would take several times as
// long as the work. Same results as the BlockProgram's to the bit, but for which NaN a NaN is.
class OneElement {
 public:
  // None if the expression is long, or not one of ScalarSteps.
  static std::optional<OneElement> compile(const Expression& expression);

  // As BlockProgram::run for n of 1. expression: that it was compiled from.
  void run(const Expression& expression, const void* const* inputs, void* const* outputs,
           TrapNotes* traps) const;
  int64_t bytes() const;

 private:
  static constexpr size_t kMostCells = 24;
  OneElement(ScalarCells cells, ScalarSteps steps, size_t first_output)
      : cells_(std::move(cells)), steps_(std::move(steps)), first_output_(first_output) {}

  ScalarCells cells_;
  ScalarSteps steps_;
  size_t first_output_;             // a cell; the others follow it
  std::vector<ScalarStep> copies_;  // after the steps, of what these do not write to outputs
};

}  // namespace graven::engine
