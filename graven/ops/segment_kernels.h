#pragma once
#include "graven/base/status.h"

namespace graven::engine {
class KernelContext;

// How the rows of a segment become one.
enum class SegmentKind { kSum, kMean, kProd, kMin, kMax };

// Rows of sorted ids. The output has a row for each id up to the last; one that no row has is 1 in
// a product, else 0.
template <SegmentKind kind>
Status segment_kernel(KernelContext& c);
// Rows of any ids below a number that the third input gives. Those of a negative id are dropped. A
// segment without rows has the value that changes no other: 0, 1, or what lies beyond all numbers.
template <SegmentKind kind>
Status unsorted_segment_kernel(KernelContext& c);

}  // namespace graven::engine
