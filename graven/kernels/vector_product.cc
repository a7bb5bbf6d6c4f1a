#include "graven/kernels/vector_product.h"

#include <algorithm>

#include "graven/base/thread_pool.h"

namespace graven::engine {
namespace {

constexpr int64_t kLanes = 16, kElementsOfChunk = 32 << 10;
constexpr DTypeSet kTypes = {DType::kFloat64, DType::kInt32, DType::kUInt32, DType::kInt64,
                             DType::kUInt64};

template <typename T>
T dot(const T* a, const T* b, int64_t n) {
  T sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (int64_t k = 0; i < n; ++i, ++k) sums[k] += a[i] * b[i];
  T total = sums[0];
  for (int64_t k = 1; k < kLanes; ++k) total += sums[k];
  return total;
}

template <typename T>
void multiply(const MatMulArguments& p) {
  auto *a = static_cast<const T*>(p.a), *b = static_cast<const T*>(p.b);
  T* c = static_cast<T*>(p.c);
  const int64_t rows = static_cast<int64_t>(p.a_offsets.size()) * p.m;
  const int64_t rows_of_chunk = std::max<int64_t>(1, kElementsOfChunk / p.k);
  ThreadPool::shared().run((rows + rows_of_chunk - 1) / rows_of_chunk, [&](int64_t chunk) {
    const int64_t end = std::min(rows, (chunk + 1) * rows_of_chunk);
    for (int64_t row = chunk * rows_of_chunk; row < end; ++row) {
      const int64_t product = row / p.m;
      c[row] = dot(a + p.a_offsets[product] + row % p.m * p.k, b + p.b_offsets[product], p.k);
    }
    const int64_t first = chunk * rows_of_chunk;
    if (p.done) (*p.done)({first, end - first, 0, 1});
  });
}

}  // namespace

bool is_vector_product(const MatMulArguments& p) {
  return p.n == 1 && !p.transpose_a && kTypes.contains(p.dtype);
}

void multiply_vectors(const MatMulArguments& p) {
  // Integers as unsigned numbers, whose sums wrap around.
  if (p.dtype == DType::kFloat64) {
    multiply<double>(p);
  } else if (dtype_size(p.dtype) == 4) {
    multiply<uint32_t>(p);
  } else {
    multiply<uint64_t>(p);
  }
}

}  // namespace graven::engine
