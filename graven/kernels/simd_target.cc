#include "graven/kernels/simd_target.h"

#include <atomic>

namespace graven::engine {
namespace {

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

std::atomic<int> chosen_for_test{-1};

}  // namespace

SimdTarget best_simd_target() {
  static const SimdTarget best = has_avx512() ? SimdTarget::kAvx512
                                 : has_avx2() ? SimdTarget::kAvx2
                                              : SimdTarget::kSse4;
  return best;
}

SimdTarget simd_target() {
  int chosen = chosen_for_test.load(std::memory_order_relaxed);
  return chosen < 0 ? best_simd_target() : static_cast<SimdTarget>(chosen);
}

void set_simd_target_for_test(SimdTarget target) {
  chosen_for_test.store(static_cast<int>(target), std::memory_order_relaxed);
}

std::string_view simd_target_name(SimdTarget target) {
  constexpr std::string_view kNames[kNumSimdTargets] = {"SSE4.2", "AVX2", "AVX-512"};
  return kNames[static_cast<int>(target)];
}

}  // namespace graven::engine
