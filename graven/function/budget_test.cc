#include "graven/function/budget.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "graven/function/frequency.h"

namespace graven::engine {
namespace {

using Positions = std::vector<size_t>;

TEST_CASE("a count is halved once every so many calls, seen entries and keys alike") {
  Frequencies frequencies;
  Frequencies::OfEntry entry;
  frequencies.begin(entry, /*hits=*/0, /*calls_before=*/0);
  CHECK(frequencies.read(entry, 7) == 8);
  frequencies.note(42, 8);
  frequencies.age(1);  // 8 of 16 calls
  CHECK(frequencies.read(entry, 7) == 8);
  CHECK(frequencies.read(entry, 15) == 16);
  frequencies.age(1);
  CHECK(frequencies.read(entry, 15) == 8);
  CHECK(frequencies.estimate(42) == 4);
  CHECK(frequencies.estimate(43) == 0);
}

TEST_CASE("what nobody calls is worth nothing in the end") {
  Frequencies frequencies;
  Frequencies::OfEntry old, busy;
  frequencies.begin(old, 0, 1e6);
  frequencies.begin(busy, 0, 0);
  frequencies.note(1, 1e6);
  for (int64_t hits = 1000; hits <= 100'000; hits += 1000) {
    frequencies.read(busy, hits);
    frequencies.age(2);
  }
  CHECK(frequencies.read(old, 0) < 1e-3);
  CHECK(frequencies.estimate(1) == 0);
}

TEST_CASE("an estimate is never below what was noted, and seldom above") {
  Frequencies frequencies;
  for (uint64_t key = 0; key < 100; ++key) frequencies.note(key, static_cast<double>(key));
  int above = 0;
  for (uint64_t key = 0; key < 100; ++key) {
    CHECK(frequencies.estimate(key) >= static_cast<double>(key));
    above += frequencies.estimate(key) > static_cast<double>(key);
  }
  CHECK(above <= 2);
}

TEST_CASE("a sketch that grows keeps its estimates") {
  Frequencies frequencies;
  for (uint64_t key = 0; key < 50; ++key) frequencies.note(key, 64);
  const int64_t before = frequencies.bytes();
  Frequencies::OfEntry entry;
  frequencies.begin(entry, 0, 0);
  frequencies.read(entry, 16 * 500);
  frequencies.age(500);
  CHECK(frequencies.bytes() > before);
  for (uint64_t key = 0; key < 50; ++key) CHECK(frequencies.estimate(key) == 32);
}

TEST_CASE("the entry of the lowest value goes: calls times price for each byte") {
  std::vector<Candidate> all = {{.calls = 10, .price = -10, .bytes = 100},
                                {.calls = 10, .price = -12, .bytes = 100},  // cheap to rebuild
                                {.calls = 2, .price = -9, .bytes = 100}};
  CHECK(choose_evictions(all, 1, 0) == Positions{1});
  CHECK(choose_evictions(all, 2, 0) == Positions{1, 2});
  CHECK(choose_evictions(all, 0, 150) == Positions{1, 2});
  CHECK(choose_evictions(all, 0, 0).empty());
  CHECK(choose_evictions(all, 0, -5).empty());
}

TEST_CASE("what is held stays, and then less is freed than was asked for") {
  std::vector<Candidate> all = {{.calls = 0, .bytes = 100, .is_held = true},
                                {.calls = 5, .bytes = 100},
                                {.calls = 0, .bytes = 100, .is_newcomer = true, .is_held = true}};
  CHECK(choose_evictions(all, 1, 0) == Positions{1});
  CHECK(choose_evictions(all, 3, 0) == Positions{1});
}

TEST_CASE("a newcomer of about the same value goes itself") {
  auto with = [](double newcomer, double other) {
    return choose_evictions(
        std::vector<Candidate>{{.calls = other}, {.calls = newcomer, .is_newcomer = true}}, 1, 0);
  };
  CHECK(with(0, 0) == Positions{1});
  CHECK(with(5, 5) == Positions{1});
  CHECK(with(6, 5) == Positions{1});
  CHECK(with(7.25, 5) == Positions{1});  // by a quarter and one call
  CHECK(with(7.26, 5) == Positions{0});
  CHECK(with(2, 1) == Positions{1});
  CHECK(with(3, 1) == Positions{0});
}

TEST_CASE("a newcomer that must push out several is kept only if it is worth more than each") {
  std::vector<Candidate> all = {{.calls = 1, .bytes = 10},
                                {.calls = 50, .bytes = 10},
                                {.calls = 20, .bytes = 20, .is_newcomer = true}};
  CHECK(choose_evictions(all, 0, 10) == Positions{0});
  CHECK(choose_evictions(all, 0, 20) == Positions{2});
  all[2].bytes = 100;  // more than the whole budget of 20
  CHECK(choose_evictions(all, 0, 100) == Positions{2});
}

TEST_CASE("the usual price is the mean of all but the first") {
  UsualPrice usual;
  usual.note(10);
  CHECK(usual.price() == 10);
  usual.note(-4);
  CHECK(usual.price() == -4);
  usual.note(-2);
  CHECK(usual.price() == -3);
  usual.note(-6);
  CHECK(usual.price() == -4);
}

TEST_CASE("a price is the usual one up to 16 times, and above that in what noise may take") {
  UsualPrice usual;
  usual.note(-4);
  const double long_ms = 20, short_ms = 19.9;
  CHECK(usual.coarse(-8, long_ms, false) == -4);
  CHECK(usual.coarse(-9, long_ms, false) == -9);
  CHECK(usual.coarse(-9, short_ms, false) == -9);
  CHECK(usual.coarse(0, long_ms, false) == -4);
  CHECK(usual.coarse(1, long_ms, false) == 1);
  CHECK(usual.coarse(1, short_ms, false) == -4);
  CHECK(usual.coarse(1, long_ms, true) == -4);
}

TEST_CASE("the price of a trace is that of its like, but for real differences") {
  UsualPrice usual;
  usual.note(UsualPrice::of(40, 4096));  // the first one converted the source
  for (double milliseconds : {0.5, 0.4, 0.6, 0.5}) usual.note(UsualPrice::of(milliseconds, 4096));
  const double price = usual.coarse(UsualPrice::of(0.5, 4096), 0.5, false);
  CHECK(usual.coarse(UsualPrice::of(0.2, 4096), 0.2, false) == price);
  CHECK(usual.coarse(UsualPrice::of(2.0, 4096), 2.0, false) == price);
  CHECK(usual.coarse(UsualPrice::of(15, 4096), 15, false) == price);  // another program ran
  CHECK(usual.coarse(UsualPrice::of(40, 4096), 40, true) == price);
  CHECK(usual.coarse(UsualPrice::of(0.01, 4096), 0.01, false) < price);
  CHECK(usual.coarse(UsualPrice::of(5000, 4096), 5000, false) >= price + 12);
}

// --- The policy as a whole: a cache of types with room for ten.

constexpr size_t kRoom = 10;

class Simulated {
 public:
  // True for a hit.
  bool call(int type) {
    if (auto at = entries_.find(type); at != entries_.end()) {
      ++at->second.hits;
      return true;
    }
    const double before = frequencies_.estimate(type);
    const double price = std::log2(price_(type));
    usual_.note(price);
    std::vector<int> types;
    std::vector<Candidate> candidates;
    for (auto& [other, entry] : entries_) {
      types.push_back(other);
      candidates.push_back({.calls = frequencies_.read(entry.calls, entry.hits),
                            .price = usual_.coarse(entry.price, std::exp2(entry.price), false)});
    }
    types.push_back(type);
    candidates.push_back(
        {before, usual_.coarse(price, std::exp2(price), false), 0, /*is_newcomer=*/true});
    Simulated::Entry& made = entries_[type];
    made.price = price;
    frequencies_.begin(made.calls, 0, before);
    frequencies_.age(kRoom);
    const auto excess = static_cast<int64_t>(entries_.size()) - static_cast<int64_t>(kRoom);
    for (size_t gone : choose_evictions(candidates, excess, 0)) {
      Simulated::Entry& entry = entries_.at(types[gone]);
      frequencies_.note(types[gone], frequencies_.read(entry.calls, entry.hits));
      entries_.erase(types[gone]);
    }
    return false;
  }
  explicit Simulated(std::function<double(int type)> price) : price_(std::move(price)) {}

 private:
  struct Entry {
    Frequencies::OfEntry calls;
    int64_t hits = 0;
    double price = 0;
  };
  std::function<double(int type)> price_;
  std::map<int, Entry> entries_;
  Frequencies frequencies_;
  UsualPrice usual_;
};

// Times of traces as one measures them: within twice of each other, but for every fiftieth, which
// something else interrupts.
std::function<double(int)> noisy(uint64_t seed) {
  return [random = std::mt19937_64(seed)](int) mutable {
    const double other = random() % 50 == 0 ? 12 : 0;
    return 0.1 * std::exp2(std::uniform_real_distribution<double>(-1, 1)(random)) + other;
  };
}

double hit_rate(Simulated& cache, std::span<const int> calls) {
  const auto hits = std::ranges::count_if(calls, [&](int type) { return cache.call(type); });
  return static_cast<double>(hits) / static_cast<double>(calls.size());
}

std::vector<int> drawn(const std::vector<double>& weights, int number, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::discrete_distribution<int> type(weights.begin(), weights.end());
  std::vector<int> calls(number);
  std::ranges::generate(calls, [&] { return type(random); });
  return calls;
}

double rate_of_best_ten(std::span<const int> calls) {
  std::vector<int> counts(20);
  for (int type : calls) ++counts[type];
  std::ranges::sort(counts, std::greater());
  return static_cast<double>(std::accumulate(counts.begin(), counts.begin() + kRoom, 0)) /
         static_cast<double>(calls.size());
}

TEST_CASE("of 20 types called in turn ten stay, and nearly half of the calls hit") {
  Simulated cache(noisy(1));
  std::vector<int> calls(4000);
  for (int i = 0; i < 4000; ++i) calls[i] = i % 20;
  CHECK(hit_rate(cache, calls) >= 0.45);
}

TEST_CASE("of types of Zipf's popularity nearly the best ten stay") {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (double exponent : {0.7, 1.0, 1.5}) {
      CAPTURE(seed);
      CAPTURE(exponent);
      std::vector<double> weights;
      for (int i = 0; i < 20; ++i) weights.push_back(std::pow((i * 7 + seed) % 20 + 1, -exponent));
      const std::vector<int> calls = drawn(weights, 4000, seed);
      Simulated cache(noisy(seed));
      CHECK(hit_rate(cache, calls) >= rate_of_best_ten(calls) - 0.05);
    }
  }
}

TEST_CASE("when the popular ten change the new ones are in after 1 000 calls") {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    std::vector<double> weights(20, 1.0), others(20, 9.0);
    std::fill_n(weights.begin(), 10, 9.0);
    std::fill_n(others.begin(), 10, 1.0);
    Simulated cache(noisy(seed));
    hit_rate(cache, drawn(weights, 4000, seed));
    hit_rate(cache, drawn(others, 1000, seed + 100));
    const std::vector<int> calls = drawn(others, 1000, seed + 200);
    CHECK(hit_rate(cache, calls) >= rate_of_best_ten(calls) - 0.05);
  }
}

TEST_CASE("a dear trace outlives cheap ones that are called as often, until nobody calls it") {
  Simulated cache([](int type) { return type == 0 ? 1000.0 : 1.0; });
  cache.call(0);
  for (int i = 0; i < 300; ++i) cache.call(1 + i % 15);
  CHECK(cache.call(0));
  for (int i = 0; i < 20'000; ++i) cache.call(1 + i % 15);
  CHECK_FALSE(cache.call(0));
}

}  // namespace
}  // namespace graven::engine
