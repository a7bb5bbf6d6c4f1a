#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "graven/base/export.h"
#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/base/waiting_lock.h"
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
  // What is in the slot, made by `make` if it is empty. Several threads may ask; one makes.
  template <typename T>
  Result<Ref<T>> get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make);
  void add_bytes(int64_t bytes) { bytes_ += bytes; }
  int64_t bytes() const { return graph_->bytes() + bytes_; }

 private:
  Body(std::string name, Ref<Graph> graph) : name_(std::move(name)), graph_(std::move(graph)) {}
  std::string name_;
  Ref<Graph> graph_;
  Effects effects_;
  std::recursive_mutex mutex_;  // recursive: differentiating a body may ask for its own program
  Ref<RefCounted> slots_[kNumSlots];  // GUARDED_BY(mutex_) while null
  std::atomic<RefCounted*> published_[kNumSlots] = {};
  std::atomic<int64_t> bytes_{0};
};

template <typename T>
Result<Ref<T>> Body::get_or_make(Slot slot, const std::function<Result<Ref<T>>()>& make) {
  if (auto* there = published_[slot].load(std::memory_order_acquire)) {
    return Ref<T>(static_cast<T*>(there));
  }
  WaitingLock lock(mutex_);
  if (!slots_[slot]) {
    ASSIGN_OR_RETURN(Ref<T> made, make());
    slots_[slot] = made;
    published_[slot].store(made.get(), std::memory_order_release);
  }
  return Ref<T>(static_cast<T*>(slots_[slot].get()));
}

}  // namespace graven::engine
