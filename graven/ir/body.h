#pragma once
#include <atomic>
#include <functional>
#include <span>
#include <string>

#include "graven/base/claim.h"
#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/graph.h"

namespace graven::engine {

// Process-wide increasing numbers, for names of functions.
GRAVEN_API int64_t next_uid();

// A finished function: what calls, If, While and Case hold as an attribute. The graph does not
// change any more. What is made of it once (its Program, its gradient pair) sits in slots that
// other rooms fill; their bytes are counted here.
class GRAVEN_API Body : public RefCounted {
 public:
  // Works out the effects from the graph's nodes.
  static Ref<Body> create(std::string name, Ref<Graph> graph);

  const std::string& name() const { return name_; }
  const Ref<Graph>& graph() const { return graph_; }
  // Effects on the graph's inputs, in their order. stateful if any node is.
  const Effects& effects() const { return effects_; }

  enum Slot { kProgram, kGradientPair, kNumSlots };
  // What is in the slot; if that is empty it is made by `make`, and its bytes() are counted here.
  // Several threads may ask, and one makes, with no lock held, as users' code may run then (that
  // of a custom gradient). Where threads would wait for each other in a circle, or one needs what
  // it is just making, more than one makes it: who is done first fills the slot, for all of them.
  template <typename T>
  Result<Ref<T>> get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make);
  // Fills the slot, unless it is filled: then it returns false.
  bool fill(Slot slot, Ref<RefCounted> object);
  int64_t bytes() const { return graph_->bytes() + bytes_; }

 private:
  Body(std::string name, Ref<Graph> graph) : name_(std::move(name)), graph_(std::move(graph)) {}
  ~Body() override;
  std::string name_;
  Ref<Graph> graph_;
  Effects effects_;
  std::atomic<RefCounted*> slots_[kNumSlots] = {};  // each null, or a reference that the body owns
  std::atomic<int64_t> bytes_{0};
};

template <typename T>
Result<Ref<T>> Body::get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make) {
  auto in_slot = [&] { return static_cast<T*>(slots_[slot].load(std::memory_order_acquire)); };
  if (T* there = in_slot()) return Ref<T>(there);
  ASSIGN_OR_RETURN(Claim claim, Claim::take(&slots_[slot]));
  if (T* there = in_slot()) return Ref<T>(there);
  ASSIGN_OR_RETURN(Ref<T> made, make());
  const int64_t bytes = made->bytes();
  if (fill(slot, std::move(made))) bytes_ += bytes;
  return Ref<T>(in_slot());
}

}  // namespace graven::engine
