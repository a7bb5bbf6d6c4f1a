#include "graven/base/claim.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "graven/base/interrupt.h"

namespace graven::engine {
namespace {

Claim claim(const int& thing) {
  auto claim = Claim::take(&thing);
  REQUIRE(claim.ok());
  return std::move(*claim);
}

void wait_until(const std::atomic<int>& value, int reached) {
  while (value < reached) std::this_thread::yield();
}

TEST_CASE("one thread at a time claims a thing") {
  const int thing = 0;
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Claim mine = claim(thing);
        most = std::max<int>(most, ++inside);
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(most == 1);
}

TEST_CASE("a thread that claims a thing again goes on, and has it until the first claim ends") {
  const int thing = 0;
  std::atomic<bool> is_free{false};
  Claim first = claim(thing);
  { Claim again = claim(thing); }
  CHECK(*Claim::wait_for(&thing) == false);
  std::thread other([&] {
    Claim mine = claim(thing);
    is_free = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(!is_free);
  first = Claim();
  other.join();
  CHECK(is_free);
}

TEST_CASE("threads that claim each other's things do not wait in a circle") {
  constexpr int kThreads = 3;
  const int things[kThreads] = {};
  std::atomic<int> have_one{0}, went_on{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Claim own = claim(things[t]);
      ++have_one;
      wait_until(have_one, kThreads);
      Claim next = claim(things[(t + 1) % kThreads]);
      ++went_on;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(went_on == kThreads);
}

Status interrupt() { return Status(Code::kCancelled, "interrupted"); }

TEST_CASE("a wait for another thread is interrupted while that goes on") {
  const int thing = 0;
  Claim mine = claim(thing);
  set_interrupt_check(interrupt);
  std::thread other([&] { CHECK(Claim::take(&thing).status().message() == "interrupted"); });
  other.join();  // before `mine` ends
  set_interrupt_check(nullptr);
}

}  // namespace
}  // namespace graven::engine
