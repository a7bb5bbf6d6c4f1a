#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graven/base/status.h"

namespace graven::engine {
class KernelContext;

// How the rows of a segment become one.
enum class SegmentKind { kSum, kMean, kProd, kMin, kMax };

// Consecutive rows [begin, end) of one segment.
struct SegmentRun {
  int64_t segment, begin, end;
};
// The runs of sorted ids, int32 or int64; an error if they are not sorted, or one is below 0, or,
// of a limit that is not below 0, not below that.
template <typename Index>
Result<std::vector<SegmentRun>> sorted_runs(std::span<const Index> ids, int64_t limit = -1);

// Rows of sorted ids. The output has a row for each id up to the last; one that no row has is 1 in
// a product, else 0.
template <SegmentKind kind>
Status segment_kernel(KernelContext& c);
// Ids are below the number in the third input, in any order. Rows with a negative id are dropped. A
// segment without rows has the identity of its combination: 0, 1, or the lowest or highest value.
template <SegmentKind kind>
Status unsorted_segment_kernel(KernelContext& c);

}  // namespace graven::engine
