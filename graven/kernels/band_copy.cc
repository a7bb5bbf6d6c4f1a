#include "graven/kernels/band_copy.h"

#include <cstring>

namespace graven::engine {
namespace {

constexpr int64_t kLine = 64 / sizeof(float);

// An odd number of cache lines: so the rows go through all sets in turn.
int64_t stride_of_copy(int64_t columns) { return ((columns + kLine - 1) / kLine | 1) * kLine; }

}  // namespace

bool rows_collide(int64_t stride) { return stride % (2048 / sizeof(float)) == 0; }

BandCopy::BandCopy(const FloatBand& band)
    : stride_(stride_of_copy(band.columns)),
      memory_(static_cast<size_t>(band.rows * stride_) * sizeof(float)) {
  if (!is_made()) return;
  auto* to = static_cast<float*>(memory_.get());
  const float* from = band.data;
  for (int64_t row = 0; row < band.rows; ++row, from += band.stride, to += stride_) {
    std::memcpy(to, from, static_cast<size_t>(band.columns) * sizeof(float));
  }
}

}  // namespace graven::engine
