#pragma once
#include <string_view>

namespace graven::engine {

// The SIMD instruction sets that *_blocks.cc are compiled for, worst first. Highway compiles them
// (foreach_target); this file chooses the one to run, so that Highway's run-time library is not
// needed. The engine needs SSE4.2 at least.
enum class SimdTarget { kSse4, kAvx2, kAvx512 };
inline constexpr int kNumSimdTargets = 3;

// The best one of this CPU and system, unless a test chose another.
SimdTarget simd_target();
SimdTarget best_simd_target();
// Affects only functions that are looked up (compiled) after it.
void set_simd_target_for_test(SimdTarget target);
std::string_view simd_target_name(SimdTarget target);

// The function of a name that was compiled in the namespace of each target.
#define GRAVEN_SIMD_DISPATCH(function)                      \
  (simd_target() == SimdTarget::kAvx512 ? &N_AVX3::function \
   : simd_target() == SimdTarget::kAvx2 ? &N_AVX2::function \
                                        : &N_SSE4::function)

}  // namespace graven::engine
