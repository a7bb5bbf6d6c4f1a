#include "graven/kernels/scratch.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>

#include "graven/base/function_ref.h"

namespace graven::engine {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAnySanitizer = true;
#else
constexpr bool kAnySanitizer = false;
#endif

TEST_CASE("a kernel inside another's chunk leaves the memory of the kernels around it alone") {
  constexpr size_t kBytes = 256;
  auto is_filled = [](const std::byte* memory, int value) {
    for (size_t i = 0; i < kBytes; ++i) {
      if (memory[i] != std::byte(value)) return false;
    }
    return true;
  };
  std::atomic<bool> is_right{true};
  auto kernel = [&](int value, FunctionRef<void()> within) {
    const Status status = run_chunks(4, kBytes, [&](int64_t chunk, std::byte* memory) {
      const int own = value + static_cast<int>(chunk);
      std::memset(memory, own, kBytes);
      within();
      if (!is_filled(memory, own)) is_right = false;
    });
    if (!status.ok()) is_right = false;
  };
  for (int repeat = 0; repeat < 50; ++repeat) {
    kernel(10, [&] { kernel(20, [&] { kernel(30, [] {}); }); });
  }
  CHECK(is_right);
}

// The sanitizers end a process that asks for more than there can be.
TEST_CASE("memory that is not to be had is an error, and the next chunks have theirs" *
          doctest::skip(kAnySanitizer)) {
  constexpr size_t kTooMuch = size_t{1} << 60;
  for (int64_t chunks : {1, 8}) {
    std::atomic<int> ran{0};
    auto count = [&](int64_t, std::byte*) { ++ran; };
    const Status status = run_chunks(chunks, kTooMuch, count);
    CHECK(status.code() == Code::kResourceExhausted);
    CHECK(status.message().starts_with("Out of memory when allocating 1152921504606846976 bytes"));
    CHECK(ran == 0);
    CHECK(run_chunks(chunks, 0, count).ok());
    CHECK(run_chunks(chunks, 1 << 20, count).ok());
    CHECK(ran == 2 * chunks);
  }
}

}  // namespace
}  // namespace graven::engine
