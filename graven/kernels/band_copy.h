#pragma once
#include <cstdint>

#include "graven/kernels/scratch_block.h"

namespace graven::engine {

// A band of neighbouring columns of a row-major matrix of floats.
struct FloatBand {
  const float* data;
  int64_t rows, columns;
  int64_t stride;  // elements from one row to the next
};

// Whether rows at this distance collide in the caches. A cache chooses the set of a line by the low
// bits of its address, so the rows of a band whose distance is a multiple of 2 KiB share two sets
// of 64 in the first level, and elements that a product reads again are evicted. oneDNN 2.6 avoids
// that on AVX-512 only and for the largest products; with AVX2 it then reaches a half (4 KiB) or
// two thirds (2 KiB) of its speed.
bool rows_collide(int64_t stride);

// The band with its rows close together and in all sets, in memory of its own.
class BandCopy {
 public:
  explicit BandCopy(const FloatBand& band);

  // False if there was no memory.
  bool is_made() const { return memory_.get() != nullptr; }
  const float* data() const { return static_cast<const float*>(memory_.get()); }
  int64_t stride() const { return stride_; }

 private:
  int64_t stride_;
  ScratchBlock memory_;
};

}  // namespace graven::engine
