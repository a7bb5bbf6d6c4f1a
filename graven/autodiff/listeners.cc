#include "graven/autodiff/listeners.h"

#include <algorithm>
#include <atomic>

#include "graven/autodiff/forward_accumulator.h"
#include "graven/autodiff/tape.h"

namespace graven::engine {
namespace {

// The hidden listeners of all frames of this thread, the last hidden last; null for one that left.
thread_local InlineVector<Listener*, 4> t_hidden;

uint64_t number_of(const Listener* listener) {
  if (const auto* tape = dynamic_cast<const Tape*>(listener)) return tape->place().number();
  const auto* accumulator = dynamic_cast<const ForwardAccumulator*>(listener);
  return accumulator ? accumulator->place().number() : 0;
}

}  // namespace

void ListenerPlace::join(Listener* listener) {
  static std::atomic<uint64_t> last{0};
  auto& listeners = Frame::current().listeners;
  auto* at = listeners.end();
  if (number_ == 0) {
    number_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
  } else {
    while (at != listeners.begin() && number_of(*(at - 1)) > number_) --at;
  }
  listeners.insert(at, listener);
}

void ListenerPlace::leave(Frame& frame, const Listener* listener) {
  std::ranges::replace(t_hidden, const_cast<Listener*>(listener), nullptr);
  auto* const at = std::ranges::find(frame.listeners, listener);
  if (at != frame.listeners.end()) frame.listeners.erase(at);
}

OuterListeners::OuterListeners(const Listener* inner)
    : frame_(Frame::current()), num_hidden_(t_hidden.size()) {
  auto& listeners = frame_.listeners;
  auto* const first = std::ranges::find(listeners, inner);
  for (auto* at = first; at != listeners.end(); ++at) t_hidden.push_back(*at);
  listeners.resize(static_cast<size_t>(first - listeners.begin()));
}

OuterListeners::~OuterListeners() {
  for (size_t i = num_hidden_; i < t_hidden.size(); ++i) {
    if (t_hidden[i]) frame_.listeners.push_back(t_hidden[i]);
  }
  t_hidden.resize(num_hidden_);
}

}  // namespace graven::engine
