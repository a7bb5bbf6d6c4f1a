#pragma once
#include <memory>
#include <span>

#include "graven/base/export.h"
#include "graven/base/status.h"
#include "graven/expr/expression.h"
#include "graven/expr/reduction.h"
#include "graven/kernels/block_program.h"
#include "graven/kernels/elementwise.h"

namespace graven::engine {

// Made once per op and dtype, then shared by threads.
class GRAVEN_API ReductionProgram {
 public:
  static Result<std::shared_ptr<const ReductionProgram>> compile(const ReductionParts& parts);
  ~ReductionProgram();
  int64_t bytes() const;
  struct Rep;
  const Rep& rep() const { return *rep_; }

 private:
  explicit ReductionProgram(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// Reduces over the axes in reduced (bit i: axis i) of `shape`, to which the inputs broadcast;
// the output has the kept axes in order. reduction_order.h says in which order elements are
// combined, so that any number of threads gives the same bits and sums of many float32 elements
// stay accurate. An empty reduction gives finish(identity, 0). kResourceExhausted if there is no
// memory to compute in. traps: see BlockProgram::run.
GRAVEN_API Status run_reduction(const ReductionProgram& program,
                                std::span<const StridedInput> inputs, const Shape& shape,
                                uint64_t reduced, void* output, TrapNotes* traps = nullptr);

// Several reductions over the same axes share a pass over inputs. Each has the bits that it has
// alone.
struct ReductionRoot {
  const ReductionProgram* program;
  void* output;
  std::span<const int> reads;  // the numbers of the inputs that the program reads, in its order
};
GRAVEN_API Status run_reductions(std::span<const ReductionRoot> roots,
                                 std::span<const StridedInput> inputs, const Shape& shape,
                                 uint64_t reduced, TrapNotes* traps = nullptr);

}  // namespace graven::engine
