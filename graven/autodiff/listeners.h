#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "graven/base/inline_vector.h"
#include "graven/ir/builder.h"
#include "graven/ir/frame.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The listeners of the current frame, if one of them wants a step on these inputs; none if the
// builder does not record (RecordingBuilder). Outer ones may want what inner ones make of the step.
using Listeners = InlineVector<Listener*, 2>;
inline Listeners listeners_of_step(Builder& builder, std::span<const Tensor> inputs) {
  Listeners listeners;
  if (&builder.unrecorded() == &builder) return listeners;
  bool is_wanted = false;
  for (Listener* listener : Frame::current().listeners) {
    listeners.push_back(listener);
    is_wanted |= listener->wants(inputs);
  }
  if (!is_wanted) listeners.clear();
  return listeners;
}

// A listener's place among those of its frame. One that leaves and joins again comes back inside of
// those that joined before it did for the first time.
class ListenerPlace {
 public:
  uint64_t number() const { return number_; }
  // Joins the current frame.
  void join(Listener* listener);
  // Leaves it, hidden (OuterListeners) or not.
  static void leave(Frame& frame, const Listener* listener);

 private:
  uint64_t number_ = 0;  // 0: it never joined
};

// While it lives, the current frame has only the listeners outside of this one.
class OuterListeners {
 public:
  explicit OuterListeners(const Listener* inner);
  ~OuterListeners();
  OuterListeners(const OuterListeners&) = delete;

 private:
  Frame& frame_;
  const size_t num_hidden_;  // before
};

}  // namespace graven::engine
