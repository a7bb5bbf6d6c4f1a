#pragma once
#include <algorithm>

#include "graven/kernels/reduce.h"
#include "graven/kernels/reduction_combiner.h"
#include "graven/kernels/streams.h"

namespace graven::engine {

// A root, and the iteration over the inputs that it reads: the same dimensions for all roots.
struct RootIteration {
  const ReductionProgram* program = nullptr;
  std::byte* output = nullptr;
  Iteration iteration;
  const ReductionProgram::Rep& rep() const { return program->rep(); }
};
using Roots = std::span<const RootIteration>;

// run_reductions' two halves, one for each order of reduction_order.h: they cut the work, spread it
// over the pool, and finish the results. At least one result. kResourceExhausted if there is no
// memory to compute in.
Status reduce_in_row_order(Roots roots, TrapNotes* traps);
// has_columns: the last dimension of the iteration is the last axis, perhaps merged with others;
// otherwise that axis has one element.
Status reduce_in_column_order(Roots roots, bool has_columns, TrapNotes* traps);

// --- For both orders.

// Prepared values that are combined together, and results that are finished together: both stay in
// the first cache.
inline constexpr int64_t kPreparedValues = 2048, kFinishedTogether = 512;

// The number of elements of a chunk, in which each root goes over them in turn: so they are in a
// cache for all roots but the first. No bit of a root's result depends on it.
int64_t elements_of_chunk(Roots roots);
// The bytes of so many accumulators of a root, and of those of all roots one behind the other.
int64_t bytes_of_partials(const RootIteration& root, int64_t accumulators);
int64_t bytes_of_partials(Roots roots, int64_t accumulators);
// The address of a root's result of this number.
std::byte* result_of(const RootIteration& root, int64_t number);

// The memory of a chunk: a combiner, prepared values, accumulators of segments, results, and
// staging memory of a reader.
class ReductionMemory {
 public:
  static size_t scratch_bytes(const ReductionProgram::Rep& rep, const BlockReader& reader);
  ReductionMemory(const ReductionProgram::Rep& rep, const BlockReader& reader, std::byte* scratch,
                  TrapNotes* traps);

  ReductionCombiner& combiner() { return combiner_; }
  std::byte* values() { return values_; }              // room for kPreparedValues
  std::byte* accumulators() { return accumulators_; }  // room for kFinishedTogether
  std::byte* results() { return results_; }            // the same
  // The prepared values of `count` elements from `position` on: in values(), or where they are.
  const std::byte* prepared(int64_t position, int64_t count, const std::byte* const* bases);
  // The same, but only the values that are available at once: at least one.
  int64_t next_prepared(int64_t position, int64_t limit, const std::byte* const* bases,
                        std::byte* to, const std::byte*& values);

 private:
  const ReductionProgram::Rep& rep_;
  const BlockReader& reader_;
  ReductionCombiner combiner_;
  std::byte *values_, *accumulators_, *results_;
  BlockReader::State state_;
  InlineVector<const void*, 4> pointers_;
  InlineVector<bool, 4> scalars_;
};

// The scratch that the chunks of all sources need, one after the other. A source has a root and a
// reader.
template <typename Source>
size_t scratch_bytes(std::span<const Source> sources) {
  size_t bytes = 0;
  for (const Source& source : sources) {
    bytes = std::max(bytes, ReductionMemory::scratch_bytes(source.root.rep(), source.reader));
  }
  return bytes;
}

}  // namespace graven::engine
