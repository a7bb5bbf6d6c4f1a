#pragma once
#include <utility>

#include "graven/base/export.h"
#include "graven/base/status.h"

namespace graven::engine {

// The right of one thread to make something, while others that want it wait for that thread.
//
// Not a lock: what is made may run users' code (a trace, the gradient of a custom_gradient), which
// may want anything else that is claimed. So a claim never makes threads wait in a circle. Who
// would close one, and a thread that wants again what it is just making, goes on at once, and makes
// another of its own; of the two, whoever keeps them lets one stay.
//
// A thing is known by an address that is nothing else's while it is claimed. Who waits lets go of
// the front end's shared lock meanwhile, and ends with an error if that interrupts it.
class GRAVEN_API Claim {
 public:
  // Waits until the thing is free and claims it, or goes on without it as said above. What was
  // waited for may be there then: look again.
  static Result<Claim> take(const void* thing);
  // Waits until the thing is free. False, at once or later, if it is not and to wait on would
  // close a circle.
  static Result<bool> wait_for(const void* thing);

  Claim() = default;  // of nothing
  Claim(Claim&& other) noexcept : thing_(std::exchange(other.thing_, nullptr)) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(thing_, other.thing_);
    return *this;
  }
  ~Claim();

 private:
  explicit Claim(const void* thing) : thing_(thing) {}
  const void* thing_ = nullptr;  // null if the thread goes on without it
};

}  // namespace graven::engine
