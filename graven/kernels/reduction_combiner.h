#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "graven/base/function_ref.h"
#include "graven/kernels/block_functions.h"
#include "graven/kernels/reduce.h"
#include "graven/kernels/reduction_order.h"

namespace graven::engine {

// The compiled form of ReductionParts.
struct ReductionProgram::Rep {
  DType accumulator;
  size_t size;                                         // of an accumulator
  alignas(64) std::byte identity[kRowOrderLaneBytes];  // in all lanes
  std::shared_ptr<const BlockProgram> prepare, combine, finish;
  int handed_on = -1;    // the input that is combined without preparation; -1: values are prepared
  bool finishes = true;  // false: the accumulator is the result
  // `functions` is null unless combining is one instruction that has them; `combine_blocks` is null
  // unless it is one instruction, or a product of complex numbers.
  const ReductionFunctions* functions = nullptr;
  BlockFunction combine_blocks = nullptr;
  size_t program_scratch = 0;  // for any of the three
};

// Combines the values of results on one thread, in the order of reduction_order.h. Every reduction
// goes through it.
class ReductionCombiner {
 public:
  // Longer rows are cut into pieces of so many values, which the caller combines as a tree.
  static constexpr int64_t kMaxRow = 4 * kRowSegment;

  // Memory that a combiner works in, 64-byte aligned.
  static size_t scratch_bytes(const ReductionProgram::Rep& rep);
  // traps: the traps of `prepare` are noted there; see BlockProgram::run.
  ReductionCombiner(const ReductionProgram::Rep& rep, std::byte* scratch, TrapNotes* traps);

  // Row order: the accumulator of each of `rows` rows of at most kRowSegment prepared values, which
  // follow each other.
  void rows(const std::byte* values, int64_t rows, int64_t columns, std::byte* out);
  // Row order: the accumulator of one row of at most kMaxRow values, or of such a piece of a longer
  // row. next_values sets a pointer to the prepared values from `position` on and returns their
  // number, at most `limit`.
  using NextValues =
      FunctionRef<int64_t(int64_t position, int64_t limit, const std::byte*& values)>;
  void row(int64_t length, NextValues next_values, std::byte* out);
  // Column order: combines rows of prepared values into the accumulators of their segments.
  void columns(std::byte* accumulators, const ColumnValues& values);

  // Fills n accumulators with the identity.
  void fill_identity(std::byte* out, int64_t n) const;
  // out = combine(a, b), for n accumulators each.
  void combine(std::byte* out, const std::byte* a, const std::byte* b, int64_t n);
  // Combines `count` times n accumulators, which follow each other, as a binary tree into the first
  // of them.
  void combine_tree(std::byte* accumulators, int64_t count, int64_t n);
  // The stored results of n accumulators of `count` elements each.
  void finish(std::byte* out, const std::byte* accumulators, int64_t n, double count);
  // The values to combine, of n elements: the elements in memory if they need no preparation, else
  // written to `to`.
  const std::byte* prepare(int64_t n, const void* const* inputs, const bool* is_scalar,
                           std::byte* to);

 private:
  // Replacements for missing functions.
  void rows_side_by_side(const std::byte* values, int64_t rows, int64_t columns, std::byte* out);
  void into_lanes(int64_t first, const std::byte* values, int64_t n);
  void fold(std::byte* lanes, int64_t n, int64_t stride);

  const ReductionProgram::Rep& rep_;
  TrapNotes* const traps_;
  std::byte *programs_, *lanes_, *block_;
};

}  // namespace graven::engine
