#include "graven/kernels/band_copy.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "graven/tensor/allocator.h"

namespace graven::engine {
namespace {

TEST_CASE("rows collide if multiples of 2 KiB lie between them") {
  for (int64_t stride : {512, 1024, 1536, 4096}) CHECK(rows_collide(stride));
  for (int64_t stride : {1, 256, 511, 520, 768, 1280}) CHECK_FALSE(rows_collide(stride));
}

TEST_CASE("the copy of a band has its elements, in rows that do not collide") {
  constexpr int64_t kRows = 7, kStride = 1024, kFirst = 3;
  std::vector<float> matrix(kRows * kStride);
  std::iota(matrix.begin(), matrix.end(), 0.0f);
  for (int64_t columns : {1, 15, 16, 17, 96, 500, 512, 1000}) {
    CAPTURE(columns);
    const BandCopy copy({matrix.data() + kFirst, kRows, columns, kStride});
    REQUIRE(copy.is_made());
    CHECK(copy.stride() >= columns);
    CHECK(copy.stride() % 32 == 16);  // an odd number of cache lines
    for (int64_t row = 0; row < kRows; ++row) {
      CHECK(std::memcmp(copy.data() + row * copy.stride(), matrix.data() + kFirst + row * kStride,
                        static_cast<size_t>(columns) * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("a copy for which there is no memory is not made") {
  const std::vector<float> matrix(1 << 20);
  const int64_t limit = Allocator::host().limit();
  Allocator::host().set_limit(0);
  const BandCopy copy({matrix.data(), 1024, 1024, 1024});
  Allocator::host().set_limit(limit);
  CHECK_FALSE(copy.is_made());
}

}  // namespace
}  // namespace graven::engine
