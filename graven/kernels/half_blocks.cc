// Arithmetic of two stored halves in one loop, which widens both in registers and rounds the result
// back: through blocks of floats it would pass memory four times more.
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graven/kernels/half_blocks.cc"
#include "hwy/foreach_target.h"
//
#include "graven/kernels/block_functions.h"
#include "graven/kernels/short_floats-inl.h"
#include "graven/kernels/simd_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace graven::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <Instruction kInstruction, typename V>
V combine(V a, V b) {
  if constexpr (kInstruction == Instruction::kAdd) {
    return hn::Add(a, b);
  } else if constexpr (kInstruction == Instruction::kSub) {
    return hn::Sub(a, b);
  } else if constexpr (kInstruction == Instruction::kMul) {
    return hn::Mul(a, b);
  } else {
    return hn::Div(a, b);
  }
}

template <Instruction kInstruction>
void loop(void* out, const void* a, const void* b, const void*, int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto step = [&](const hwy::float16_t* x, const hwy::float16_t* y, hwy::float16_t* to) {
    const auto left = hn::PromoteTo(d, hn::LoadU(half, x));
    const auto right = hn::PromoteTo(d, hn::LoadU(half, y));
    hn::StoreU(hn::DemoteTo(half, combine<kInstruction>(left, right)), half, to);
  };
  const auto* x = static_cast<const hwy::float16_t*>(a);
  const auto* y = static_cast<const hwy::float16_t*>(b);
  auto* to = static_cast<hwy::float16_t*>(out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(x + i, y + i, to + i);
  if (i == n) return;
  // The last ones as a whole vector too, so that no result depends on where it stands.
  hwy::float16_t last[3][hn::MaxLanes(d)] = {};
  const auto bytes = static_cast<size_t>(n - i) * sizeof(hwy::float16_t);
  std::memcpy(last[0], x + i, bytes);
  std::memcpy(last[1], y + i, bytes);
  step(last[0], last[1], last[2]);
  std::memcpy(to + i, last[2], bytes);
}

BlockFunction find_half(Instruction instruction) {
  constexpr bool kHasHalves = HWY_TARGET <= HWY_AVX2;  // better targets have smaller numbers
  if constexpr (kHasHalves) {
    switch (instruction) {
      case Instruction::kAdd:
        return loop<Instruction::kAdd>;
      case Instruction::kSub:
        return loop<Instruction::kSub>;
      case Instruction::kMul:
        return loop<Instruction::kMul>;
      case Instruction::kDiv:
        return loop<Instruction::kDiv>;
      default:
        break;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace graven::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graven::engine {
BlockFunction half_function(Instruction instruction) {
  return GRAVEN_SIMD_DISPATCH(find_half)(instruction);
}
}  // namespace graven::engine
#endif
