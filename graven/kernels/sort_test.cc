#include "graven/kernels/sort.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace graven::engine {
namespace {

TEST_CASE("words and pairs of any number are sorted, equal ones too") {
  std::mt19937_64 random(1);
  for (size_t n : {0, 1, 2, 511, 512, 513, 2047, 2048, 5000, 100000}) {
    for (uint64_t limit : {uint64_t{3}, ~uint64_t{0}}) {
      std::vector<uint64_t> words(n);
      std::vector<KeyAndPlace> pairs(n);
      for (size_t i = 0; i < n; ++i) {
        words[i] = random() % limit;
        pairs[i] = {n - i, random() % limit};
      }
      std::vector<uint64_t> expected = words;
      std::ranges::sort(expected);
      sort_ascending(std::span(words));
      CHECK(words == expected);
      auto of_places = [](const KeyAndPlace& a, const KeyAndPlace& b) { return a.place < b.place; };
      sort_ascending(std::span(pairs));
      CHECK(std::is_sorted(pairs.begin(), pairs.end()));
      std::ranges::sort(pairs, of_places);  // each is there still
      for (size_t i = 0; i < n; ++i) REQUIRE(pairs[i].place == i + 1);
    }
  }
}

}  // namespace
}  // namespace graven::engine
