#pragma once
#include <span>

#include "graven/base/inline_vector.h"
#include "graven/ir/builder.h"
#include "graven/ir/frame.h"
#include "graven/tensor/tensor.h"

namespace graven::engine {

// The listeners of the current frame that want a step on these inputs; none if the builder does not
// record (RecordingBuilder).
using Listeners = InlineVector<Listener*, 2>;
inline Listeners listeners_of_step(Builder& builder, std::span<const Tensor> inputs) {
  Listeners listeners;
  if (&builder.unrecorded() == &builder) return listeners;
  for (Listener* listener : Frame::current().listeners) {
    if (listener->wants(inputs)) listeners.push_back(listener);
  }
  return listeners;
}

}  // namespace graven::engine
