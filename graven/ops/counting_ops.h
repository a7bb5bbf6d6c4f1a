#pragma once
#include <vector>

#include "graven/ir/op.h"

namespace graven::engine {

// Elements counted by their values, and places among sorted elements.

GRAVEN_API inline OpHandle<NoAttrs> kBincount;  // arr, size, weights -> bins
struct DenseBincountAttrs {
  bool binary_output = false;
  static constexpr auto fields() {
    return std::tuple(field("binary_output", &DenseBincountAttrs::binary_output));
  }
};
GRAVEN_API inline OpHandle<DenseBincountAttrs> kDenseBincount;  // input, size, weights -> output

struct HistogramAttrs {
  DType dtype = DType::kInt32;
  static constexpr auto fields() { return std::tuple(field("dtype", &HistogramAttrs::dtype)); }
};
GRAVEN_API inline OpHandle<HistogramAttrs>
    kHistogramFixedWidth;  // values, value_range, nbins -> out

struct BucketizeAttrs {
  std::vector<double> boundaries;
  static constexpr auto fields() {
    return std::tuple(required_field("boundaries", &BucketizeAttrs::boundaries));
  }
};
GRAVEN_API inline OpHandle<BucketizeAttrs> kBucketize;  // input -> output

struct BoundAttrs {
  DType out_type = DType::kInt32;
  static constexpr auto fields() { return std::tuple(field("out_type", &BoundAttrs::out_type)); }
};
GRAVEN_API inline OpHandle<BoundAttrs> kLowerBound, kUpperBound;  // sorted_inputs, values -> output

}  // namespace graven::engine
