#include "graven/api/staged_states.h"

#include <typeinfo>
#include <utility>

namespace graven::internal {

using engine::Value;

int64_t States::add(ListedState* state) {
  // That of a state that is gone, so that one inside of a loop has the same in each iteration.
  const int64_t number = live_.empty() ? 0 : live_.rbegin()->first + 1;
  live_[number] = state;
  return number;
}

void States::remove(int64_t number) { live_.erase(number); }

States::Seen States::see() const {
  Seen seen;
  for (const auto& [number, state] : live_) {
    seen.numbers.push_back(number);
    seen.types.push_back(typeid(*state));
    seen.statics.push_back(state->copy());
    if (!seen.statics.back()) seen.values.push_back(state->value());
  }
  return seen;
}

bool States::are_as(const Seen& seen) const {
  if (live_.size() != seen.numbers.size()) return false;
  size_t i = 0;
  for (const auto& [number, state] : live_) {
    if (number != seen.numbers[i] || typeid(*state) != seen.types[i]) return false;
    if (seen.statics[i] && !state->equals(seen.statics[i].get())) return false;
    ++i;
  }
  return true;
}

std::vector<Value> States::Seen::with(const Seen& other, const std::vector<Value>& of_other,
                                      std::vector<Value> own) const {
  size_t at = 0;  // among the States
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (statics[i]) continue;
    size_t from = 0;
    for (size_t j = 0; j < other.numbers.size(); ++j) {
      if (other.statics[j]) continue;
      if (other.numbers[j] == numbers[i]) own[at] = of_other[from];
      ++from;
    }
    ++at;
  }
  return own;
}

void States::set(const std::vector<Value>& values) const {
  size_t next = 0;
  for (const auto& [number, state] : live_) {
    if (!state->copy() && next < values.size()) state->set(values[next++]);
  }
}

}  // namespace graven::internal
