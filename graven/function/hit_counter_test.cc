#include "graven/function/hit_counter.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace graven::engine {
namespace {

TEST_CASE("hits of one thread and of many are all counted") {
  HitCounter hits;
  CHECK(hits.total() == 0);
  for (int i = 0; i < 10; ++i) hits.add(1);
  CHECK(hits.total() == 10);
  std::vector<std::thread> threads;
  for (uint32_t number = 1; number <= 10; ++number) {
    threads.emplace_back([&hits, number] {
      for (int i = 0; i < 1000; ++i) hits.add(number);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(hits.total() == 10'010);
}

}  // namespace
}  // namespace graven::engine
