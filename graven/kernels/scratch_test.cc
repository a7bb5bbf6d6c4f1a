#include "graven/kernels/scratch.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>

#include "graven/base/function_ref.h"
#include "graven/base/thread_pool.h"

namespace graven::engine {

TEST_CASE("a kernel inside another's chunk leaves the memory of the kernels around it alone") {
  constexpr size_t kBytes = 256;
  auto is_filled = [](const std::byte* memory, int value) {
    for (size_t i = 0; i < kBytes; ++i) {
      if (memory[i] != std::byte(value)) return false;
    }
    return true;
  };
  auto filled = [](ScratchUse use, int value) {
    std::byte* memory = thread_scratch(use, kBytes);
    std::memset(memory, value, kBytes);
    return memory;
  };
  std::atomic<bool> is_right{true};
  auto kernel = [&](int value, FunctionRef<void()> within) {
    std::byte* whole = filled(ScratchUse::kWholeKernel, value);
    ThreadPool::shared().run(4, [&](int64_t chunk) {
      const int own = value + 1 + static_cast<int>(chunk);
      std::byte* memory = filled(ScratchUse::kChunk, own);
      within();
      if (!is_filled(memory, own)) is_right = false;
    });
    if (!is_filled(whole, value)) is_right = false;
  };
  for (int repeat = 0; repeat < 50; ++repeat) {
    kernel(10, [&] { kernel(20, [&] { kernel(30, [] {}); }); });
  }
  CHECK(is_right);
}

}  // namespace graven::engine
