#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "graven/base/function_ref.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/reduce.h"

namespace graven::engine {

// The compiled form of ReductionParts.
struct ReductionProgram::Rep {
  DType accumulator;
  size_t size;  // of an accumulator
  uint64_t identity[2];
  std::shared_ptr<const BlockProgram> prepare, combine, finish;
  bool prepares = true;  // false: the only input is combined as it is
  bool finishes = true;  // false: the accumulator is the result
  // If combining is one instruction on a plain type.
  BlockFunction combine_blocks = nullptr;
  FoldFunction fold = nullptr;
  size_t program_scratch = 0;  // for any of the three
};

// The order in which the values of one result are combined, on one thread; the same wherever a
// reduction runs. Each result is one of `columns` that stand side by side.
class ReductionCombiner {
 public:
  // Memory that a combiner works in, 64-byte aligned.
  static size_t scratch_bytes(const ReductionProgram::Rep& rep);
  // traps: where those of `prepare` are noted; see BlockProgram::run.
  ReductionCombiner(const ReductionProgram::Rep& rep, std::byte* scratch, TrapNotes* traps);

  // Gives a pointer to the next prepared values from `position` on, at most `limit` and at most
  // kBlockElements, and how many.
  using NextValues =
      FunctionRef<int64_t(int64_t position, int64_t limit, const std::byte*& values)>;

  // Combines `length` values, rows of `columns` (at most kBlockElements / 2), into the
  // accumulators of one row: into `lanes` = columns * 2^p accumulators, which are then folded.
  // values_stay: what next_values gave is still there at its next call.
  void reduce(int64_t length, int64_t columns, NextValues next_values, std::byte* out,
              bool values_stay);
  // The accumulators of nothing.
  void fill_identity(std::byte* out, int64_t n) const;
  // out = combine(a, b), for n accumulators each.
  void combine(std::byte* out, const std::byte* a, const std::byte* b, int64_t n);
  // The stored results of n accumulators of `count` elements each.
  void finish(std::byte* out, const std::byte* accumulators, int64_t n, double count);
  // The values that are combined, of n elements: those in memory if they are what prepare gives.
  const std::byte* prepare(int64_t n, const void* const* inputs, const bool* is_scalar);

 private:
  void fold(const std::byte* values, int64_t n, int64_t columns, std::byte* out);

  const ReductionProgram::Rep& rep_;
  TrapNotes* const traps_;
  std::byte *programs_, *values_;
  std::byte* prepared_;  // where prepare puts values
  std::byte* lanes_;
};

}  // namespace graven::engine
