#pragma once
#include "graven/ir/op.h"

namespace graven::engine {

// The rows of a tensor combined segment by segment. UnsortedSegmentSum is in structural_ops.h.

GRAVEN_API inline OpHandle<NoAttrs> kSegmentSum, kSegmentMean, kSegmentProd, kSegmentMin,
    kSegmentMax;  // data, segment_ids -> output
GRAVEN_API inline OpHandle<NoAttrs> kUnsortedSegmentProd, kUnsortedSegmentMin,
    kUnsortedSegmentMax;  // data, segment_ids, num_segments -> output

}  // namespace graven::engine
