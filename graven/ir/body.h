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

// A finished function: the attribute of calls, If, While and Case. Its graph does not change any
// more. Objects that are made from it once (its Program, its gradient pair, bodies that compute
// tangents too, output types for constant arguments) sit in slots that other rooms fill; their
// bytes are counted here.
//
// Each body is charged to one owner, so that its bytes are counted once however many nodes hold it.
// The owner is its Entry or gradient pair, or else the first node that holds it.
class GRAVEN_API Body : public RefCounted {
 public:
  // Works out the effects from the graph's nodes.
  static Ref<Body> create(std::string name, Ref<Graph> graph);

  const std::string& name() const { return name_; }
  const Ref<Graph>& graph() const { return graph_; }
  // Effects on the graph's inputs, in their order. stateful if any node is.
  const Effects& effects() const { return effects_; }

  enum Slot { kProgram, kGradientPair, kTangents, kOutputTypes, kNumSlots };
  // The object in the slot; `make` makes it if the slot is empty. Its bytes() count as bytes of the
  // body, and are read each time.
  //
  // Several threads may call this. One of them makes the object, with no lock held, because users'
  // code may run then (a custom gradient). Where threads would wait for each other in a circle, or
  // making the object needs the object itself, several threads make it: the first to finish fills
  // the slot, and all return its object.
  template <typename T>
  Result<Ref<T>> get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make);
  // Fills the slot; returns false if it is filled already. The object's bytes are counted
  // elsewhere, not here.
  bool fill(Slot slot, Ref<RefCounted> object);

  // Charges the body to this owner, an address that tells it from others, unless the body has an
  // owner. Returns true if this is its owner now. Any thread may call it.
  bool charge_to(const void* owner) const;
  // Ends the ownership: the next caller of charge_to becomes the owner.
  void release_from(const void* owner) const;
  // Bytes of the graph, of the slots, and of the bodies that are charged to the graph's nodes.
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
  // Gives the bytes of the object in a slot; null if they are counted elsewhere.
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
