#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "graven/base/inline_vector.h"
#include "graven/kernels/elementwise.h"

namespace graven::engine {

// Kernels walk over broadcasting operands by these: the dimensions of the result, outermost first,
// and for each operand the bytes from one index to the next, 0 where it broadcasts.
struct StridedOperand {
  const std::byte* data;
  size_t element_size;
  InlineVector<int64_t, 6> strides;
};
struct Iteration {
  InlineVector<int64_t, 6> sizes;
  InlineVector<bool, 6> is_reduced;
  InlineVector<StridedOperand, 8> operands;
};

// The iteration over a fully known shape. Dimensions of size 1 are dropped, and neighbours are
// merged where every operand allows it and both are kept or both reduced (bit i: axis i).
Iteration make_iteration(std::span<const StridedInput> inputs, std::span<const DType> dtypes,
                         const Shape& shape, uint64_t reduced);

// Hands out the elements of operands block by block, in row-major order of some dimensions of an
// iteration: in place where they are contiguous, otherwise gathered into staging memory.
class BlockReader {
 public:
  // The dimensions and, for each operand, their strides.
  BlockReader(std::span<const int64_t> sizes, std::span<const StridedOperand> operands);

  int64_t num_elements() const { return num_elements_; }
  // Whether the elements of an operand follow each other in memory.
  bool is_contiguous(size_t operand) const {
    return sources_[operand].layout == Layout::kContiguous;
  }
  size_t staging_bytes() const { return staging_bytes_; }
  // A caller that reads in pieces of so many rows of the innermost dimension, or of a multiple of
  // it, gathers nothing twice. 1 if that does not matter.
  int64_t panel_rows() const { return panel_rows_; }
  // Whether there are operands that lie across, so that a few rows are gathered together.
  bool has_panels() const { return panel_rows_ > 1; }
  int64_t row_elements() const { return inner_; }

  // Staging memory of the calling thread, and notes on its contents.
  struct State {
    std::byte* staging;
    InlineVector<const std::byte*, 8> pattern_of;
    InlineVector<int64_t, 8> panel_of;  // the first row of it
  };
  State start(std::byte* staging) const;

  // Gives up to `limit` elements from `position` on, for operands whose first elements are at
  // bases[i]: sets pointers[i], and is_scalar[i] if one element stands for all of them. Returns how
  // many: at most kBlockElements, unless every operand is contiguous or one element.
  int64_t read(State& state, const std::byte* const* bases, int64_t position, int64_t limit,
               const void** pointers, bool* is_scalar) const;

 private:
  enum class Layout : uint8_t {
    kContiguous,
    kScalar,
    kPeriodic,  // the same few elements again and again: a bias over rows
    kGathered,
    // Neighbours lie in the next dimension: a few whole rows are gathered together, so that each
    // cache line is read once.
    kPanel,
  };
  struct Source {
    Layout layout;
    size_t element_size;
    int64_t period;  // elements
    size_t staging_offset;
    InlineVector<int64_t, 6> strides;
    int64_t rows = 0, pitch = 0;  // of a panel; the pitch in elements
  };
  void make_panel(Source& source) const;
  int64_t panel_bytes(const Source& source) const;
  // The place in a panel of the element at the position, and how many elements of the panel follow.
  // Gathers the panel unless it is there.
  const std::byte* read_panel(State& state, size_t operand, const std::byte* base, int64_t position,
                              int64_t& count) const;
  // The first element of a row of the innermost dimension.
  const std::byte* row_of(const Source& source, const std::byte* base, int64_t row) const;
  void gather(const Source& source, const std::byte* base, int64_t position, int64_t count,
              std::byte* out) const;

  InlineVector<int64_t, 6> sizes_;
  InlineVector<Source, 8> sources_;
  int64_t num_elements_ = 1;
  int64_t inner_ = 1;     // size of the innermost dimension
  bool is_flat_ = true;   // every operand is contiguous or scalar
  bool by_rows_ = false;  // the innermost dimension is long enough to be read row by row
  int64_t panel_rows_ = 1;
  size_t staging_bytes_ = 0;
};

}  // namespace graven::engine
