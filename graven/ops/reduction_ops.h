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
GRAVEN_API inline OpHandle<ReductionAttrs> kSum;  // input, reduction_indices -> output

// For gradients of reductions: the shape of input 0, with 1 for the axes that input 1 names, as an
// int32 vector. dy reshaped to it broadcasts with input 0.
Tensor shape_with_kept_axes(GradientContext& c);

}  // namespace graven::engine
