#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "graven/base/export.h"

namespace graven::engine {

// Counts the hits of an entry. The counter belongs to the first thread that counts, which needs no
// atomic addition. The first hit by another thread adds stripes for all others (a counter that four
// threads share costs each of them ten times as much as the call's look-up).
class GRAVEN_API HitCounter {
 public:
  HitCounter() = default;
  ~HitCounter() { delete stripes_.load(); }
  HitCounter(const HitCounter&) = delete;

  // `thread`: a number, not 0, that no other thread has while this one runs.
  void add(uint32_t thread) {
    if (owner_.load(std::memory_order_relaxed) != thread) return add_slowly(thread);
    own_.store(own_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  int64_t total() const;

 private:
  struct alignas(64) Stripe {
    std::atomic<int64_t> count{0};
  };
  using Stripes = std::array<Stripe, 8>;
  void add_slowly(uint32_t thread);
  std::atomic<uint32_t> owner_{0};
  std::atomic<int64_t> own_{0};
  std::atomic<Stripes*> stripes_{nullptr};
};

}  // namespace graven::engine
