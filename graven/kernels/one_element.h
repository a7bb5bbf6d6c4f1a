#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graven/expr/expression.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/scalar_steps.h"

namespace graven::engine {

class TrapNotes;

// A short expression for one element, or a few, where the preparations for blocks would take
// several times as long as the work. Same results as the BlockProgram's to the bit, but for which
// NaN a NaN is.
class OneElement {
 public:
  // None if the expression is long, or not one of ScalarSteps.
  static std::optional<OneElement> compile(const Expression& expression);

  // Up to so many elements take less time one after the other than as blocks.
  int64_t most_elements() const { return most_elements_; }
  // As BlockProgram::run. expression: that it was compiled from. False, with nothing done, if the
  // elements of an input do not lie one after the other.
  bool run(const Expression& expression, int64_t n, std::span<const StridedInput> inputs,
           void* const* outputs, TrapNotes* traps) const;
  int64_t bytes() const;

 private:
  static constexpr size_t kMostCells = 24;
  OneElement(ScalarCells cells, ScalarSteps steps, size_t first_output)
      : cells_(std::move(cells)), steps_(std::move(steps)), first_output_(first_output) {}

  ScalarCells cells_;
  ScalarSteps steps_;
  int64_t most_elements_ = 1;
  size_t first_output_;             // a cell; the others follow it
  std::vector<ScalarStep> copies_;  // after the steps, of what these do not write to outputs
};

}  // namespace graven::engine
