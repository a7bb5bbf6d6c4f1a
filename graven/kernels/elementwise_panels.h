#pragma once
#include <atomic>
#include <span>

#include "graven/base/export.h"
#include "graven/ir/kernel.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/streams.h"

namespace graven::engine {

// run_elementwise, rectangle by rectangle, each on the calling thread: for elementwise ops behind a
// matrix product or a convolution, computed while its panels are in cache. The shape has at least
// one axis. The constructor's arguments must live as long; any number of threads may call run at
// once, for panels that do not overlap.
class GRAVEN_API ElementwisePanels {
 public:
  ElementwisePanels(const BlockProgram& program, std::span<const StridedInput> inputs,
                    const Shape& shape, std::span<void* const> outputs, TrapNotes* traps);
  // Computes a panel. A lack of memory is only noted, for status().
  void run(const Panel& panel) const;
  // Called after all panels: kResourceExhausted if one of them had no memory and was not computed.
  Status status() const;

 private:
  // Finds whether inputs are the same distance apart from any row to the next; else there is one
  // range of elements for each row.
  void find_rows();
  void run_rows(const Panel& panel, std::byte* scratch) const;
  void run_range(BlockReader::State& state, int64_t begin, int64_t end, std::byte* scratch) const;
  const BlockProgram& program_;
  const std::span<void* const> outputs_;
  TrapNotes* const traps_;
  const int64_t columns_;
  InlineVector<const std::byte*, 8> bases_;
  InlineVector<BlockRows::Input, 8> rows_;  // of row 0; empty if there are no such distances
  const Iteration iteration_;
  const BlockReader reader_;
  const size_t scratch_bytes_;
  mutable std::atomic<bool> failed_{false};
};

}  // namespace graven::engine
