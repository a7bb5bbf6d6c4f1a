#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// y[k] = sum over j of x[j] exp(-2 pi i j k / length); the inverse has + there and divides by the
// length.
enum class FftKind : uint8_t {
  kForward,
  kInverse,
  kReal,         // of real numbers: the first length / 2 + 1 elements
  kRealInverse,  // of these first elements: the real numbers
};

// The transforms of all lines along an axis: tensors of the shape [outer, size, inner], float32 or
// float64 and their complex numbers, in which all is computed.
struct FftArguments {
  FftKind kind = FftKind::kForward;
  bool is_double = false;
  const void* from = nullptr;
  void* to = nullptr;  // may be `from` where the shapes are the same
  int64_t length = 1;
  int64_t outer = 1, inner = 1;
  // The size of the axis in `from`. Elements that the transform does not need are not read.
  int64_t from_size = 1;
};

// How many elements of an axis a transform reads, and how many it writes.
struct FftSizes {
  int64_t from, to;
};
FftSizes fft_sizes(FftKind kind, int64_t length);

// The thread pool works on several lines, or on one long line; the same bits for any number of
// threads. An error if there is no memory.
GRAVEN_API Status fft(const FftArguments& arguments);

}  // namespace graven::engine
