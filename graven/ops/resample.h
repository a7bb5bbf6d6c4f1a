#pragma once
#include <cstdint>
#include <vector>

#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// Images of other sizes: each element of a result is a weighted sum of neighbouring elements of
// the source, and the weights are products of those of its row and of its column.

// For each place along an axis of the result, the neighbours that it is made of.
struct Taps {
  std::vector<int64_t> starts;  // the first neighbour
  std::vector<int64_t> ends;    // where the weights of a place end, and those of the next begin
  std::vector<float> weights;

  int64_t size() const { return static_cast<int64_t>(starts.size()); }
  int64_t first_weight(int64_t place) const { return place == 0 ? 0 : ends[place - 1]; }
  int64_t count(int64_t place) const { return ends[place] - first_weight(place); }
  // Adds a place; its weights were added before.
  void add(int64_t start) {
    starts.push_back(start);
    ends.push_back(static_cast<int64_t>(weights.size()));
  }
};

// The taps of the gradient: for each of the `size` places of the source, the places that read it.
Taps transposed(const Taps& taps, int64_t size);

// to = the images `from`, [batch, height, width, channels], with the heights and widths of the
// taps. Real numbers become float32, or one of the two is float32 and the other floating. Sums are
// made in float32, or in float64 where `to` is of it.
Status resample(const Tensor& from, const Taps& rows, const Taps& columns, const Tensor& to);

}  // namespace graven::engine
