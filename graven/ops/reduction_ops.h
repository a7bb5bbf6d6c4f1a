#pragma once
#include "graven/ir/op.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {
class GradientContext;

struct ReductionAttrs {
  bool keep_dims = false;
  static constexpr auto fields() {
    return std::tuple(field("keep_dims", &ReductionAttrs::keep_dims));
  }
};
// input, reduction_indices -> output
GRAVEN_API inline OpHandle<ReductionAttrs> kSum, kMean, kProd, kMax, kMin, kEuclideanNorm, kAny,
    kAll;

// --- arg_ops.cc: input, dimension -> output.
struct ArgMaxAttrs {
  DType output_type = DType::kInt64;
  static constexpr auto fields() {
    return std::tuple(field("output_type", &ArgMaxAttrs::output_type));
  }
};
GRAVEN_API inline OpHandle<ArgMaxAttrs> kArgMax, kArgMin;

// --- scan_ops.cc: x, axis -> out.
struct ScanAttrs {
  bool exclusive = false, reverse = false;
  static constexpr auto fields() {
    return std::tuple(field("exclusive", &ScanAttrs::exclusive),
                      field("reverse", &ScanAttrs::reverse));
  }
};
GRAVEN_API inline OpHandle<ScanAttrs> kCumsum, kCumprod, kCumulativeLogsumexp;

// For gradients of reductions: the shape of input 0, with 1 for the axes that input 1 names, as an
// int32 vector. dy reshaped to it broadcasts with input 0.
Tensor shape_with_kept_axes(GradientContext& c);

}  // namespace graven::engine
