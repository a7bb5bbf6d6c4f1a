#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "graven/base/status.h"
#include "graven/ops/image_ops.h"
#include "graven/ops/resample.h"

namespace graven::engine {

// The taps by which an axis of `in` places becomes one of `out` places; both are above 0.

Taps bilinear_taps(int64_t in, int64_t out, const ResizeAttrs& attrs);
Taps bicubic_taps(int64_t in, int64_t out, const ResizeAttrs& attrs);
Taps area_taps(int64_t in, int64_t out, bool align_corners);

// A curve of TensorFlow's name ("lanczos3"), moved to place * scale + translation. Where the source
// is the larger one, antialias makes the curve as much wider. Places outside have no taps.
struct Curve {
  float radius = 0;
  float (*at)(float distance) = nullptr;  // not below 0
};
Result<Curve> curve_of(std::string_view kernel_type);
Taps curve_taps(int64_t in, int64_t out, const Curve& curve, bool antialias, float scale,
                float translation);

// The one place of the source that each place of the result is nearest to.
std::vector<int64_t> nearest_places(int64_t in, int64_t out, const ResizeAttrs& attrs);

}  // namespace graven::engine
