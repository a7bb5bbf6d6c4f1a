#include "graven/function/budget.h"

#include <algorithm>
#include <cmath>

namespace graven::engine {
namespace {

constexpr double kNoiseMilliseconds = 20;

double value_of(const Candidate& candidate) {
  return std::ldexp(candidate.calls, static_cast<int>(std::lround(candidate.price)));
}

bool is_worth_more(const Candidate& newcomer, const Candidate& other) {
  const double unit = std::ldexp(1.0, static_cast<int>(std::lround(other.price)));
  const double own = std::ldexp(1.0, static_cast<int>(std::lround(newcomer.price)));
  return (newcomer.calls - 1) * own > 1.25 * other.calls * unit;
}

}  // namespace

std::vector<size_t> choose_evictions(std::span<const Candidate> candidates, int64_t traces,
                                     int64_t bytes) {
  std::vector<size_t> order, gone;
  std::optional<size_t> newcomer;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].is_held) continue;
    if (candidates[i].is_newcomer) {
      newcomer = i;
    } else {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return value_of(candidates[i]); });
  auto is_enough = [&] { return traces <= 0 && bytes <= 0; };
  auto take = [&](size_t i) {
    gone.push_back(i);
    --traces;
    bytes -= candidates[i].bytes;
  };
  if (is_enough()) return gone;
  const int64_t traces_before = traces, bytes_before = bytes;
  bool newcomer_stays = true;
  for (size_t i : order) {
    if (is_enough()) break;
    if (newcomer && !is_worth_more(candidates[*newcomer], candidates[i])) {
      newcomer_stays = false;
      break;
    }
    take(i);
  }
  if (!newcomer || (newcomer_stays && is_enough())) return gone;
  gone.clear();
  traces = traces_before;
  bytes = bytes_before;
  take(*newcomer);
  for (size_t i : order) {
    if (is_enough()) break;
    take(i);
  }
  return gone;
}

double UsualPrice::of(double milliseconds, int64_t bytes) {
  return std::log2(std::max(milliseconds, 1e-6)) -
         std::log2(static_cast<double>(std::max<int64_t>(bytes, 1)));
}

void UsualPrice::note(double price) {
  ++noted_;
  // The first trace converted the source and loaded what all need: the second says more.
  const double weight = noted_ <= 2 ? 1 : std::max(1.0 / static_cast<double>(noted_ - 1), 1.0 / 32);
  usual_ += weight * (price - usual_);
}

double UsualPrice::coarse(double price, double milliseconds, bool is_first) const {
  const bool may_be_noise = is_first || milliseconds < kNoiseMilliseconds;
  const bool is_usual = std::abs(price - usual_) <= 4 || (may_be_noise && price > usual_);
  return std::round(is_usual ? usual_ : price);
}

}  // namespace graven::engine
