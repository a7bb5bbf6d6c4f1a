#pragma once
#include <utility>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// The right of one thread to make an object, while other threads that want it wait for that thread.
//
// Not a lock: making the object may run users' code (a trace, the gradient of a custom_gradient),
// which may want any other claimed object. So a claim never makes threads wait in a circle. A
// thread that would close a circle, or that wants the object that it is just making, goes on at
// once and makes another one; the owner of the two keeps one of them.
//
// An address identifies the object; nothing else may use that address while it is claimed. A thread
// that waits gives the front end's shared lock away meanwhile, and returns an error if that
// interrupts it.
class GRAVEN_API Claim {
 public:
  // Waits until the object is free and claims it, or goes on without it as said above. After a wait
  // the object may exist: look again.
  static Result<Claim> take(const void* thing);
  // Waits until the object is free. Returns false, at once or later, if it is not free and waiting
  // on would close a circle.
  static Result<bool> wait_for(const void* thing);

  Claim() = default;  // of nothing
  Claim(Claim&& other) noexcept : thing_(std::exchange(other.thing_, nullptr)) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(thing_, other.thing_);
    return *this;
  }
  ~Claim();

  // False if the thread goes on without the object, or this is of nothing.
  bool is_given() const { return thing_ != nullptr; }

 private:
  explicit Claim(const void* thing) : thing_(thing) {}
  const void* thing_ = nullptr;  // null if the thread goes on without it
};

}  // namespace graven::engine
