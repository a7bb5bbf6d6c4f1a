#include "graven/kernels/reduction_combiner.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace graven::engine {
namespace {

size_t align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

}  // namespace

size_t ReductionCombiner::scratch_bytes(const ReductionProgram::Rep& rep) {
  return align(rep.program_scratch) + kRowOrderLaneBytes + 2 * align(kBlockElements * rep.size);
}

ReductionCombiner::ReductionCombiner(const ReductionProgram::Rep& rep, std::byte* scratch,
                                     TrapNotes* traps)
    : rep_(rep),
      traps_(traps),
      programs_(scratch),
      lanes_(scratch + align(rep.program_scratch)),
      block_(lanes_ + kRowOrderLaneBytes) {}

void ReductionCombiner::fill_identity(std::byte* out, int64_t n) const {
  const size_t bytes = n * rep_.size;
  for (size_t done = 0; done < bytes; done += kRowOrderLaneBytes) {
    std::memcpy(out + done, rep_.identity, std::min<size_t>(bytes - done, kRowOrderLaneBytes));
  }
}

void ReductionCombiner::combine(std::byte* out, const std::byte* a, const std::byte* b, int64_t n) {
  if (rep_.combine_blocks) return rep_.combine_blocks(out, a, b, nullptr, n);
  const void* operands[] = {a, b};
  const bool scalars[] = {false, false};
  void* results[] = {out};
  rep_.combine->run(n, operands, scalars, results, programs_);
}

void ReductionCombiner::combine_tree(std::byte* accumulators, int64_t count, int64_t n) {
  const int64_t bytes = n * static_cast<int64_t>(rep_.size);
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t i = 0; i + width < count; i += 2 * width) {
      std::byte* lower = accumulators + i * bytes;
      combine(lower, lower, lower + width * bytes, n);
    }
  }
}

void ReductionCombiner::finish(std::byte* out, const std::byte* accumulators, int64_t n,
                               double count) {
  const void* operands[] = {accumulators, &count};
  const bool scalars[] = {false, true};
  void* results[] = {out};
  rep_.finish->run(n, operands, scalars, results, programs_);
}

const std::byte* ReductionCombiner::prepare(int64_t n, const void* const* inputs,
                                            const bool* is_scalar, std::byte* to) {
  const int handed_on = rep_.handed_on;
  if (handed_on >= 0 && (!is_scalar[handed_on] || n == 1)) {
    return static_cast<const std::byte*>(inputs[handed_on]);
  }
  void* results[] = {to};
  rep_.prepare->run(n, inputs, is_scalar, results, programs_, traps_);
  return to;
}

void ReductionCombiner::rows(const std::byte* values, int64_t rows, int64_t columns,
                             std::byte* out) {
  assert(columns <= kRowSegment);
  if (rep_.functions) return rep_.functions->rows(out, values, rows, columns, rep_.identity);
  const auto size = static_cast<int64_t>(rep_.size);
  if (columns <= kRowOrderLaneBytes / size) return rows_side_by_side(values, rows, columns, out);
  for (int64_t r = 0; r < rows; ++r) {
    const std::byte* at = values + r * columns * size;
    row(
        columns,
        [&](int64_t position, int64_t limit, const std::byte*& next) {
          next = at + position * size;
          return limit;
        },
        out + r * size);
  }
}

// Lane 0 of all rows, then lane 1 of all rows, and so on: a half of all lanes is one run.
void ReductionCombiner::rows_side_by_side(const std::byte* values, int64_t rows, int64_t columns,
                                          std::byte* out) {
  const size_t size = rep_.size;
  const int64_t lanes = row_order_lanes(columns, static_cast<int64_t>(size));
  const int64_t together = kBlockElements / lanes;
  std::byte* transposed = block_ + align(kBlockElements * size);
  for (int64_t first = 0; first < rows; first += together) {
    const int64_t n = std::min(together, rows - first);
    visit_element_size(size, [&](auto zero) {
      using Element = decltype(zero);
      for (int64_t column = 0; column < columns; ++column) {
        const std::byte* from = values + (first * columns + column) * sizeof(Element);
        std::byte* to = transposed + column * n * sizeof(Element);
        for (int64_t r = 0; r < n; ++r) {
          std::memcpy(to + r * sizeof(Element), from + r * columns * sizeof(Element),
                      sizeof(Element));
        }
      }
    });
    fill_identity(block_, lanes * n);
    combine(block_, block_, transposed, columns * n);
    fold(block_, lanes, n);
    std::memcpy(out + first * size, block_, n * size);
  }
}

// Upper halves into lower ones; a lane is `stride` accumulators.
void ReductionCombiner::fold(std::byte* lanes, int64_t n, int64_t stride) {
  for (int64_t half = n / 2; half > 0; half /= 2) {
    combine(lanes, lanes, lanes + half * stride * rep_.size, half * stride);
  }
}

void ReductionCombiner::into_lanes(int64_t first, const std::byte* values, int64_t n) {
  if (rep_.functions) return rep_.functions->lanes(lanes_, first, values, n);
  const int64_t lanes = kRowOrderLaneBytes / static_cast<int64_t>(rep_.size);
  while (n > 0) {
    const int64_t count = std::min(n, lanes - first);
    std::byte* to = lanes_ + first * rep_.size;
    combine(to, to, values, count);
    values += count * rep_.size;
    n -= count;
    first = 0;
  }
}

void ReductionCombiner::row(int64_t length, NextValues next_values, std::byte* out) {
  assert(length <= kMaxRow);
  const int64_t lanes = row_order_lanes(length, static_cast<int64_t>(rep_.size));
  alignas(16) std::byte results[kMaxRow / kRowSegment * 16];
  int64_t segments = 0;
  for (int64_t begin = 0; begin < std::max<int64_t>(length, 1); begin += kRowSegment) {
    const int64_t end = std::min(length, begin + kRowSegment);
    fill_identity(lanes_, lanes);
    for (int64_t position = begin; position < end;) {
      const std::byte* values;
      const int64_t n = next_values(position, end - position, values);
      into_lanes((position - begin) % lanes, values, n);
      position += n;
    }
    std::byte* result = results + segments++ * rep_.size;
    if (rep_.functions) {
      rep_.functions->rows(result, lanes_, 1, lanes, rep_.identity);
    } else {
      fold(lanes_, lanes, 1);
      std::memcpy(result, lanes_, rep_.size);
    }
  }
  combine_tree(results, segments, 1);
  std::memcpy(out, results, rep_.size);
}

void ReductionCombiner::columns(std::byte* accumulators, const ColumnValues& x) {
  if (rep_.functions) return rep_.functions->columns(accumulators, x);
  for (int64_t segment = 0; segment < x.segments; ++segment) {
    std::byte* to = accumulators + segment * x.accumulator_bytes;
    const std::byte* from = x.values + segment * x.segment_bytes;
    for (int64_t row = 0; row < x.rows; ++row, from += x.row_bytes) {
      combine(to, to, from, x.columns);
    }
  }
}

}  // namespace graven::engine
