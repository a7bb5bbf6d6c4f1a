#include "graven/function/hit_counter.h"

namespace graven::engine {

void HitCounter::add_slowly(uint32_t thread) {
  uint32_t nobody = 0;
  if (owner_.compare_exchange_strong(nobody, thread)) return add(thread);
  Stripes* stripes = stripes_.load(std::memory_order_acquire);
  if (!stripes) {
    auto* made = new Stripes();
    if (stripes_.compare_exchange_strong(stripes, made)) {
      stripes = made;
    } else {
      delete made;  // another thread was first, and `stripes` is its
    }
  }
  (*stripes)[thread % stripes->size()].count.fetch_add(1, std::memory_order_relaxed);
}

int64_t HitCounter::total() const {
  int64_t total = own_.load(std::memory_order_relaxed);
  if (const Stripes* stripes = stripes_.load(std::memory_order_acquire)) {
    for (const Stripe& stripe : *stripes) total += stripe.count.load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace graven::engine
