#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace graven::engine {

// The order in which the n values of one result are combined. It depends on n, on the accumulator's
// dtype, and on whether the last axis is reduced, which chooses one of two orders. It never depends
// on sizes of axes, strides, threads, or fusion. The values come in row-major order of the reduced
// axes. docs/numerics.md explains it to users.
//
// Row order, if the last axis is reduced (whatever the others), or there is none:
//   The values are cut into segments of kRowSegment; the last may be shorter. In each segment there
//   are L = row_order_lanes(n, size) lanes, which start at the identity. Value i of the segment is
//   combined into lane i mod L, i ascending. Then lane i + L/2 is combined into lane i < L/2, and
//   so on by halves until one is left. Neighbouring segments are combined, then neighbours of
//   these results, and so on: a binary tree in index order, where an odd last one waits.
//
// Column order, if the last axis is kept:
//   Segments of kColumnSegment values, each from the identity on one after the other. Segments are
//   combined as above.
//
// The accumulator, or the value of the lower index, is always the first operand. A complex number
// is one value, whose parts are added each for itself.
inline constexpr int64_t kRowSegment = 16384, kRowOrderLaneBytes = 256, kColumnSegment = 128;

// size: bytes of an accumulator.
inline int64_t row_order_lanes(int64_t n, int64_t size) {
  const int64_t most = kRowOrderLaneBytes / size;
  return n >= most
             ? most
             : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

}  // namespace graven::engine
