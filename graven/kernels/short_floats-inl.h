// Runs of half and bfloat16 as floats and back, for each SIMD target: included by files that
// foreach_target.h compiles several times, inside no namespace.
#if defined(GRAVEN_SHORT_FLOATS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAVEN_SHORT_FLOATS_INL_H
#undef GRAVEN_SHORT_FLOATS_INL_H
#else
#define GRAVEN_SHORT_FLOATS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "graven/tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine {
namespace HWY_NAMESPACE {

HWY_INLINE void promote_run(const BFloat16* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

// The last ones of a run are converted as a whole vector too: payloads of NaN do not depend on
// where they stand.
HWY_INLINE void promote_run(const Half* from, int64_t count, float* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto promote = [&](const Half* halves, float* floats) {
    const auto* stored = reinterpret_cast<const hwy::float16_t*>(halves);
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, stored)), d, floats);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) promote(from + i, to + i);
  if (i == count) return;
  Half halves[hn::MaxLanes(d)] = {};
  float floats[hn::MaxLanes(d)];
  std::copy(from + i, from + count, halves);
  promote(halves, floats);
  std::copy_n(floats, count - i, to + i);
}

// Rounds to nearest even.
HWY_INLINE void demote_run(const float* from, int64_t count, BFloat16* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = BFloat16(from[i]);
}

HWY_INLINE void demote_run(const float* from, int64_t count, Half* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto demote = [&](const float* floats, Half* halves) {
    auto* stored = reinterpret_cast<hwy::float16_t*>(halves);
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, floats)), half, stored);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) demote(from + i, to + i);
  if (i == count) return;
  float floats[hn::MaxLanes(d)] = {};
  Half halves[hn::MaxLanes(d)];
  std::copy(from + i, from + count, floats);
  demote(floats, halves);
  std::copy_n(halves, count - i, to + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace graven::engine
HWY_AFTER_NAMESPACE();
#endif  // GRAVEN_SHORT_FLOATS_INL_H
