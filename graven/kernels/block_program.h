#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"
#include "graven/base/status.h"
#include "graven/expr/expression.h"
#include "graven/kernels/block_functions.h"

namespace graven::engine {

class OneElement;
class TrapNotes;

// Elements that one block instruction handles at a time. Rows use twice as many, in programs whose
// registers then still leave the first cache room for their inputs and outputs.
inline constexpr int64_t kBlockElements = 512, kRowBlockElements = 1024;

// Rows of a matrix, for inputs and outputs at addresses of their own.
struct BlockRows {
  struct Input {
    const std::byte* data;
    int64_t stride;  // bytes from one row to the next
    bool is_scalar;  // one element for the whole row; else `columns` contiguous ones
  };
  struct Output {
    std::byte* data;
    int64_t stride;
  };
  int64_t rows, columns;
  std::span<const Input> inputs;
  std::span<const Output> outputs;
};

// Short rows that follow each other, of which several make a block: of kMinColumns to kMaxColumns.
struct ShortRows {
  enum class Read : uint8_t {
    kElements,  // rows * columns
    kPerRow,    // one for each row
    kOne,       // one for all
  };
  static constexpr int64_t kMinColumns = kFewestColumnsByRow, kMaxColumns = kBlockElements;
  int64_t rows, columns;
  const void* const* inputs;
  const Read* reads;  // of each input
  void* const* outputs;
};

// An Expression as a list of block instructions over registers of a block's elements that stay in
// L1. This vectorised interpreter is tier 0: it computes elementwise ops, chains of them, and the
// inputs and results of reductions. Made once per expression, then shared by threads.
class GRAVEN_API BlockProgram {
 public:
  // Fails (kUnimplemented) only if an instruction does not exist for its type.
  static Result<std::shared_ptr<const BlockProgram>> compile(const Expression& expression);
  ~BlockProgram();

  const Expression& expression() const;

  // Computes n elements, any number, block by block. inputs[i] points to n contiguous stored
  // elements of input i, or to one element if is_scalar[i]; outputs[i] to memory for n stored
  // elements, which may be that of an input of the same element size (elements are read before they
  // are written). scratch: scratch_bytes() bytes, 64-byte aligned, of the calling thread.
  // is_far: the elements are not in a cache; those of the next block are fetched while one is
  // computed. traps: the traps that hold are noted there, after the last block; not null if the
  // expression has any.
  void run(int64_t n, const void* const* inputs, const bool* is_scalar, void* const* outputs,
           void* scratch, TrapNotes* traps = nullptr, bool is_far = false) const;
  // The same row by row: for rows that do not follow each other, or inputs with one element for
  // each row. before_row is called before each row, with its number.
  void run_rows(
      const BlockRows& rows, void* scratch, TrapNotes* traps = nullptr,
      FunctionRef<void(int64_t row)> before_row = [](int64_t) {}) const;
  // The same as `run` over short rows, with inputs of one element for each row.
  void run_short_rows(const ShortRows& rows, void* scratch, TrapNotes* traps = nullptr) const;
  // The same for n of 1, without scratch; null where `run` does it as well.
  const OneElement* of_one() const;
  size_t scratch_bytes() const;
  // Expression::cost(), computed once.
  double cost() const;
  // The bytes of the program; blocks of constants are shared by all programs (constant_blocks.h).
  int64_t bytes() const;

 private:
  friend class BlockRun;
  struct Rep;
  explicit BlockProgram(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

// The counts beside an object that a std::shared_ptr took over.
inline constexpr size_t kBytesOfCounts = 24;

}  // namespace graven::engine
