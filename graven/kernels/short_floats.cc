#include "graven/kernels/short_floats.h"

#include <algorithm>

#include "graven/base/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/short_floats.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graven/kernels/short_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {
namespace {
void to_float_of_target(DType dtype, const void* from, int64_t count, float* to) {
  if (dtype == DType::kHalf) {
    promote_run(static_cast<const Half*>(from), count, to);
  } else {
    promote_run(static_cast<const BFloat16*>(from), count, to);
  }
}

void from_float_of_target(DType dtype, const float* from, int64_t count, void* to) {
  if (dtype == DType::kHalf) {
    demote_run(from, count, static_cast<Half*>(to));
  } else {
    demote_run(from, count, static_cast<BFloat16*>(to));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
HWY_EXPORT(to_float_of_target);
HWY_EXPORT(from_float_of_target);

namespace {

constexpr int64_t kElementsOfChunk = 32 << 10;

// Calls f(first, count) for runs of elements, on the pool.
template <typename F>
void for_each_run(int64_t num_elements, const F& f) {
  const int64_t chunks = (num_elements + kElementsOfChunk - 1) / kElementsOfChunk;
  ThreadPool::shared().run(chunks, [&](int64_t chunk) {
    const int64_t first = chunk * kElementsOfChunk;
    f(first, std::min(kElementsOfChunk, num_elements - first));
  });
}

}  // namespace

Floats::Floats(int64_t num_elements)
    : num_elements_(num_elements), scratch_(static_cast<size_t>(num_elements) * sizeof(float)) {}

Floats::Floats(DType dtype, const void* from, int64_t num_elements) : Floats(num_elements) {
  if (!get()) return;
  for_each_run(num_elements_, [&](int64_t first, int64_t count) {
    HWY_DYNAMIC_DISPATCH(to_float_of_target)
    (dtype, static_cast<const uint16_t*>(from) + first, count, get() + first);
  });
}

void Floats::round_to(DType dtype, void* to) const {
  for_each_run(num_elements_, [&](int64_t first, int64_t count) {
    HWY_DYNAMIC_DISPATCH(from_float_of_target)
    (dtype, get() + first, count, static_cast<uint16_t*>(to) + first);
  });
}

}  // namespace graven::engine
#endif  // HWY_ONCE
