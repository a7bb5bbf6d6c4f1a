#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graven/base/export.h"
#include "graven/expr/expression.h"
#include "graven/kernels/scalar_steps.h"

namespace graven::engine {

// A loop over scalars: a condition and a body that are expressions of the variables. Their
// instructions run one after the other on cells of one element each, so an iteration costs a few
// nanoseconds an instruction, and nothing besides. Constant once compiled; any thread may run it.
class GRAVEN_API ScalarLoop {
 public:
  // One element of any type that is computed, or of complex128 in a variable that is only kept.
  struct alignas(16) Cell {
    std::array<std::byte, 16> bytes;
  };

  // The inputs of both expressions are the variables. The condition has one output, a bool, and the
  // body one for each variable that it changes: changed[k] is the variable of output k. None if an
  // instruction does not exist for its type, or a dtype is not computed as itself (half, complex).
  static std::optional<ScalarLoop> compile(const Expression& condition, const Expression& body,
                                           std::span<const int> changed);

  // How many cells a run needs. The first hold the variables.
  size_t num_cells() const { return cells_.count; }
  // Puts constants into the cells; called once before `run`.
  void prepare(std::span<Cell> cells) const;

  enum class End : uint8_t { kConditionFailed, kTrapped, kMoreToCome };
  // Runs at most so many iterations. trap: the first that held, in the iteration that it ended.
  End run(std::span<Cell> cells, int64_t most, const Trap** trap) const;
  std::span<const Trap> condition_traps() const { return condition_.expression.traps(); }
  int64_t bytes() const;

 private:
  struct Part : ScalarSteps {
    Expression expression;
  };
  ScalarLoop(ScalarCells cells, Part condition, Part body)
      : cells_(std::move(cells)), condition_(std::move(condition)), body_(std::move(body)) {}
  // Gives the variables their next values: by the steps that compute these, where no later one
  // reads the old value, else by copies.
  void add_moves(std::span<const int> changed);
  // Makes the step that computes a result write it to the variable; false if that may not be.
  bool writes_variable(uint16_t result, uint32_t variable);
  // Puts the step of the body that makes this cell behind those that read the variable, if there
  // are such ones. False if its result is needed before.
  bool goes_behind_readers(uint32_t cell, uint32_t variable);
  bool is_variable(uint32_t cell) const { return cell < condition_.expression.inputs().size(); }
  static void run(std::span<const ScalarStep> steps, Cell* cells) {
    for (const ScalarStep& step : steps) {
      step.function(cells + step.out, cells + step.a, cells + step.b, cells + step.c, 1);
    }
  }
  static const Trap* trap_of(const Part& part, std::span<const Cell> cells) {
    for (const Trap& trap : part.expression.traps()) {
      if (cells[part.cell_of[trap.condition]].bytes[0] != std::byte{0}) return &trap;
    }
    return nullptr;
  }

  ScalarCells cells_;
  Part condition_, body_;
  std::vector<ScalarStep> moves_;  // copies after the body
};

}  // namespace graven::engine
