#include "graven/kernels/reduction_combiner.h"

#include <algorithm>
#include <cstring>

namespace graven::engine {
namespace {

constexpr int64_t kMaxLanes = kBlockElements;

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

}  // namespace

size_t ReductionCombiner::scratch_bytes(const ReductionProgram::Rep& rep) {
  return align(rep.program_scratch) + 2 * align(kMaxLanes * rep.size);
}

ReductionCombiner::ReductionCombiner(const ReductionProgram::Rep& rep, std::byte* scratch,
                                     TrapNotes* traps)
    : rep_(rep),
      traps_(traps),
      programs_(scratch),
      values_(scratch + align(rep.program_scratch)),
      prepared_(values_),
      lanes_(values_ + align(kMaxLanes * rep.size)) {}

void ReductionCombiner::fill_identity(std::byte* out, int64_t n) const {
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * rep_.size, rep_.identity, rep_.size);
}

void ReductionCombiner::combine(std::byte* out, const std::byte* a, const std::byte* b, int64_t n) {
  if (rep_.combine_blocks) return rep_.combine_blocks(out, a, b, nullptr, n);
  const void* operands[] = {a, b};
  const bool scalars[] = {false, false};
  void* results[] = {out};
  rep_.combine->run(n, operands, scalars, results, programs_);
}

void ReductionCombiner::finish(std::byte* out, const std::byte* accumulators, int64_t n,
                               double count) {
  const void* operands[] = {accumulators, &count};
  const bool scalars[] = {false, true};
  void* results[] = {out};
  rep_.finish->run(n, operands, scalars, results, programs_);
}

const std::byte* ReductionCombiner::prepare(int64_t n, const void* const* inputs,
                                            const bool* is_scalar) {
  if (!rep_.prepares && (!is_scalar[0] || n == 1)) return static_cast<const std::byte*>(inputs[0]);
  void* results[] = {prepared_};
  rep_.prepare->run(n, inputs, is_scalar, results, programs_, traps_);
  return prepared_;
}

void ReductionCombiner::reduce(int64_t length, int64_t columns, NextValues next_values,
                               std::byte* out, bool values_stay) {
  if (length == 0) return fill_identity(out, columns);
  int64_t lanes = columns;
  while (lanes * 2 <= kMaxLanes) lanes *= 2;
  if (length <= lanes) {
    // One block, possibly read in pieces, and folded as it is.
    const std::byte* values;
    int64_t n = next_values(0, length, values);
    if (n == length) return fold(values, length, columns, out);
    std::memcpy(lanes_, values, n * rep_.size);
    while (n < length) {
      int64_t more = next_values(n, length - n, values);
      std::memcpy(lanes_ + n * rep_.size, values, more * rep_.size);
      n += more;
    }
    return fold(lanes_, length, columns, out);
  }
  // Whole lanes at first, if they come at once: what is prepared goes to its place, and what stays
  // where it is is only read when the second lanes are there.
  const std::byte* first;
  prepared_ = lanes_;
  int64_t done = next_values(0, lanes, first);
  prepared_ = values_;
  if (done < lanes || first == lanes_ || !values_stay) {
    if (first != lanes_) std::memcpy(lanes_, first, done * rep_.size);
    first = lanes_;
  }
  while (done < length) {
    int64_t lane = done % lanes;
    const std::byte* values;
    int64_t n = next_values(done, std::min(length - done, lanes - lane), values);
    std::byte* into = lanes_ + lane * rep_.size;
    if (done < lanes) {
      std::memcpy(into, values, n * rep_.size);
    } else {
      combine(into, first + lane * rep_.size, values, n);
    }
    done += n;
    if (first == lanes_ || done < lanes) continue;
    if (done < 2 * lanes) {
      if (done < length) continue;
      lane = done % lanes;
      std::memcpy(lanes_ + lane * rep_.size, first + lane * rep_.size, (lanes - lane) * rep_.size);
    }
    first = lanes_;
  }
  fold(lanes_, lanes, columns, out);
}

// n values, which are rows of `columns`, to one row: the upper half, from the largest power of
// two of rows on, into the lower one, until one row is left.
void ReductionCombiner::fold(const std::byte* values, int64_t n, int64_t columns, std::byte* out) {
  if (columns == 1 && rep_.fold) return rep_.fold(out, values, n);
  int64_t half = columns;
  while (half * 2 < n) half *= 2;
  while (n > columns) {
    int64_t upper = n - half;
    combine(lanes_, values, values + half * rep_.size, upper);
    if (values != lanes_) {
      std::memcpy(lanes_ + upper * rep_.size, values + upper * rep_.size,
                  (half - upper) * rep_.size);
      values = lanes_;
    }
    n = half;
    half /= 2;
  }
  std::memcpy(out, values, columns * rep_.size);
}

}  // namespace graven::engine
