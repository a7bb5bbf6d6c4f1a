#pragma once
#include <string_view>

namespace graven::engine {

// The SIMD instruction sets that *_blocks.cc are compiled for, worst first. Highway compiles them
// (foreach_target); which one runs is decided here, so that its run-time library is not needed.
// The least that the engine runs on is SSE4.2.
enum class SimdTarget { kSse4, kAvx2, kAvx512 };
inline constexpr int kNumSimdTargets = 3;

// The best one that this CPU and system have, unless a test chose another.
SimdTarget simd_target();
SimdTarget best_simd_target();
// Only for what is looked up (compiled) from now on.
void set_simd_target_for_test(SimdTarget target);
std::string_view simd_target_name(SimdTarget target);

// The function of a name that was compiled in the namespace of each target.
#define GRAVEN_SIMD_DISPATCH(function)                      \
  (simd_target() == SimdTarget::kAvx512 ? &N_AVX3::function \
   : simd_target() == SimdTarget::kAvx2 ? &N_AVX2::function \
                                        : &N_SSE4::function)

}  // namespace graven::engine
