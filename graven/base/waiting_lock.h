#pragma once
#include "graven/base/export.h"
#include "graven/base/mutex.h"

namespace graven::engine {

// What a front end whose threads share a lock (Python's GIL) does while one of them waits for a
// lock of the engine: pause() gives the shared lock away if this thread has it, resume() takes it
// again. Whoever holds the engine's lock may need the shared one before it can go on, as the last
// handle to an object of the front end may be dropped there.
struct WaitHooks {
  void* (*pause)();
  void (*resume)(void* paused);
};
GRAVEN_API void set_wait_hooks(WaitHooks hooks);

namespace waiting_lock_internal {
GRAVEN_API void* pause();
GRAVEN_API void resume(void* paused);  // not null
}  // namespace waiting_lock_internal

// Gives the front end's shared lock away while it lives, if this thread has it: around what waits
// for another thread, takes long or may block. What it touches must be its own. Never within a
// chunk of the pool, which must not block.
class LetOthersRun {
 public:
  explicit LetOthersRun(bool really = true)
      : paused_(really ? waiting_lock_internal::pause() : nullptr) {}
  ~LetOthersRun() {
    if (paused_) waiting_lock_internal::resume(paused_);
  }
  LetOthersRun(const LetOthersRun&) = delete;
  // From now on, if not from the beginning.
  void start() {
    if (!paused_) paused_ = waiting_lock_internal::pause();
  }

 private:
  void* paused_;
};

// A MutexLock that waits as said above. For locks that a thread may ask for while it has the front
// end's.
class SCOPED_CAPABILITY WaitingLock {
 public:
  explicit WaitingLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) {
    if (mutex_.try_lock()) return;
    LetOthersRun others;
    mutex_.lock();
  }
  ~WaitingLock() RELEASE() { mutex_.unlock(); }
  WaitingLock(const WaitingLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace graven::engine
