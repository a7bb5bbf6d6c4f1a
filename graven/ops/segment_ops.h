#pragma once
#include "graven/ir/gradient_context.h"
#include "graven/ir/op.h"

namespace graven::engine {

// The rows of a tensor combined segment by segment. UnsortedSegmentSum is in structural_ops.h.

GRAVEN_API inline OpHandle<NoAttrs> kSegmentSum, kSegmentMean, kSegmentProd, kSegmentMin,
    kSegmentMax;  // data, segment_ids -> output
GRAVEN_API inline OpHandle<NoAttrs> kUnsortedSegmentProd, kUnsortedSegmentMin,
    kUnsortedSegmentMax;  // data, segment_ids, num_segments -> output

// --- sparse_segment_ops.cc: rows that indices choose.
struct SparseSegmentAttrs {
  bool sparse_gradient = false;
  static constexpr auto fields() {
    return std::tuple(field("sparse_gradient", &SparseSegmentAttrs::sparse_gradient));
  }
};
// data, indices, segment_ids (, num_segments) -> output
GRAVEN_API inline OpHandle<SparseSegmentAttrs> kSparseSegmentSum, kSparseSegmentMean,
    kSparseSegmentSqrtN;
GRAVEN_API inline OpHandle<SparseSegmentAttrs> kSparseSegmentSumWithNumSegments,
    kSparseSegmentMeanWithNumSegments, kSparseSegmentSqrtNWithNumSegments;

// A vector of as many numbers as there are segments, to broadcast to their rows, which are like
// those of input 0.
Tensor as_column(GradientContext& c, const Tensor& vector);

}  // namespace graven::engine
