#pragma once
#include "graven/base/export.h"

namespace graven::engine {

// What a front end whose threads share a lock (Python's GIL) does while one of them waits for a
// lock of the engine: pause() gives the shared lock away if this thread has it, resume() takes it
// again. Whoever holds the engine's lock may need the shared one before it can go on, as user code
// may run beneath it (the gradient of a custom_gradient, while the gradient of a call is built),
// and the last handle to an object of the front end may be dropped there.
struct WaitHooks {
  void* (*pause)();
  void (*resume)(void* paused);
};
GRAVEN_API void set_wait_hooks(WaitHooks hooks);

namespace waiting_lock_internal {
GRAVEN_API void* pause();
GRAVEN_API void resume(void* paused);
}  // namespace waiting_lock_internal

// A std::lock_guard that waits as said above. For locks that a thread may ask for while it has the
// front end's.
template <typename Mutex>
class WaitingLock {
 public:
  explicit WaitingLock(Mutex& mutex) : mutex_(mutex) {
    if (mutex_.try_lock()) return;
    void* paused = waiting_lock_internal::pause();
    mutex_.lock();
    waiting_lock_internal::resume(paused);
  }
  ~WaitingLock() { mutex_.unlock(); }
  WaitingLock(const WaitingLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace graven::engine
