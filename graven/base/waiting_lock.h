#pragma once
#include "graven/base/export.h"
#include "graven/base/mutex.h"

namespace graven::engine {

// Hooks for a front end whose threads share a lock (Python's GIL), called while one of them waits
// for a lock of the engine: pause() gives the shared lock away if this thread has it, resume()
// takes it again. The thread that holds the engine's lock may need the shared one to go on, because
// it may drop the last handle to an object of the front end.
struct WaitHooks {
  void* (*pause)();
  void (*resume)(void* paused);
};
GRAVEN_API void set_wait_hooks(WaitHooks hooks);

namespace waiting_lock_internal {
GRAVEN_API void* pause();
GRAVEN_API void resume(void* paused);  // not null
}  // namespace waiting_lock_internal

// Gives the front end's shared lock away while it lives, if this thread has it: around code that
// waits for another thread, takes long or may block. That code may touch only its own objects.
// Never within a chunk of the pool, which must not block.
class LetOthersRun {
 public:
  explicit LetOthersRun(bool really = true)
      : paused_(really ? waiting_lock_internal::pause() : nullptr) {}
  ~LetOthersRun() {
    if (paused_) waiting_lock_internal::resume(paused_);
  }
  LetOthersRun(const LetOthersRun&) = delete;
  // Gives the lock away from now on, if the constructor did not.
  void start() {
    if (!paused_) paused_ = waiting_lock_internal::pause();
  }

 private:
  void* paused_;
};

// A MutexLock that waits as said above. For locks that a thread may take while it has the front
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
