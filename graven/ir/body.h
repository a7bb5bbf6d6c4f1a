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
// change any more. What is made of it once (its Program, its gradient pair, output
// types for constant arguments) sits in slots that other rooms fill; their bytes are counted here.
//
// Each body is charged to one owner, that of its Entry or gradient pair, or else the first node
// that holds it, so that its bytes are counted once however many hold it.
class GRAVEN_API Body : public RefCounted {
 public:
  // Works out the effects from the graph's nodes.
  static Ref<Body> create(std::string name, Ref<Graph> graph);

  const std::string& name() const { return name_; }
  const Ref<Graph>& graph() const { return graph_; }
  // Effects on the graph's inputs, in their order. stateful if any node is.
  const Effects& effects() const { return effects_; }

  enum Slot { kProgram, kGradientPair, kOutputTypes, kNumSlots };
  // What is in the slot; if that is empty it is made by `make`. Its bytes() are counted here, as
  // they are when they are asked for.
  // Several threads may ask, and one makes, with no lock held, as users' code may run then (that
  // of a custom gradient). Where threads would wait for each other in a circle, or one needs what
  // it is just making, more than one makes it: who is done first fills the slot, for all of them.
  template <typename T>
  Result<Ref<T>> get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make);
  // Fills the slot, unless it is filled: then it returns false. What is put there so is counted
  // elsewhere.
  bool fill(Slot slot, Ref<RefCounted> object);

  // Charges the body to this owner, an address that tells it from others, unless it has one; true
  // if this is its owner now. Any thread may call it.
  bool charge_to(const void* owner) const;
  // The owner goes: the next that asks becomes it.
  void release_from(const void* owner) const;
  // Of the graph, what was made of it, and the bodies that are charged to the graph's nodes.
  int64_t bytes() const { return bytes_of(*graph_, this); }

 private:
  friend class Graph;
  static int64_t bytes_of(const Graph& graph, const Body* body);
  int64_t bytes_of_slots() const;
  Body(std::string name, Ref<Graph> graph) : name_(std::move(name)), graph_(std::move(graph)) {}
  ~Body() override;
  std::string name_;
  Ref<Graph> graph_;
  Effects effects_;
  std::atomic<RefCounted*> slots_[kNumSlots] = {};  // each null, or a reference that the body owns
  // Gives the bytes of what is in a slot; null if that is counted elsewhere.
  using BytesFunction = int64_t (*)(RefCounted& object);
  std::atomic<BytesFunction> bytes_of_slot_[kNumSlots] = {};
  mutable std::atomic<const void*> charged_to_{nullptr};
};

template <typename T>
Result<Ref<T>> Body::get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make) {
  auto in_slot = [&] { return static_cast<T*>(slots_[slot].load(std::memory_order_acquire)); };
  if (T* there = in_slot()) return Ref<T>(there);
  ASSIGN_OR_RETURN(Claim claim, Claim::take(&slots_[slot]));
  if (T* there = in_slot()) return Ref<T>(there);
  ASSIGN_OR_RETURN(Ref<T> made, make());
  if (fill(slot, std::move(made))) {
    bytes_of_slot_[slot] = [](RefCounted& object) { return static_cast<T&>(object).bytes(); };
  }
  return Ref<T>(in_slot());
}

}  // namespace graven::engine
