#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

// Clang's attributes of thread safety, which `./dev lint` checks; other compilers skip them. The
// standard library's mutexes carry none, so ours wrap them:
//
//   Mutex mutex_;
//   int count_ GUARDED_BY(mutex_) = 0;   // touched only while mutex_ is held
//   void evict() REQUIRES(mutex_);       // the caller holds it
//
// A lambda counts as a function of its own: conditions are waited for in a loop.
#ifdef __clang__
#define GRAVEN_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define GRAVEN_THREAD_ATTRIBUTE(attribute)
#endif
#define GUARDED_BY(mutex) GRAVEN_THREAD_ATTRIBUTE(guarded_by(mutex))
#define PT_GUARDED_BY(mutex) GRAVEN_THREAD_ATTRIBUTE(pt_guarded_by(mutex))  // the object pointed to
#define REQUIRES(...) GRAVEN_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) GRAVEN_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) GRAVEN_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// For classes that are locks.
#define CAPABILITY(name) GRAVEN_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY GRAVEN_THREAD_ATTRIBUTE(scoped_lockable)
#define ACQUIRE(...) GRAVEN_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) GRAVEN_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) GRAVEN_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) GRAVEN_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE(result) GRAVEN_THREAD_ATTRIBUTE(try_acquire_capability(result))

namespace graven::engine {

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds the mutex while it lives, except between unlock() and lock().
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() {
    if (is_held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  void lock() ACQUIRE() {
    mutex_.lock();
    is_held_ = true;
  }
  void unlock() RELEASE() {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

// A condition variable for threads that hold a mutex. May wake without a cause.
class Condition {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  // False if it returns because the time has come.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point time) REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status how = changed_.wait_until(lock, time);
    lock.release();
    return how == std::cv_status::no_timeout;
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

// A lock of many readers or one writer.
class CAPABILITY("mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  void lock_shared() ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriterLock() RELEASE() { mutex_.unlock(); }
  WriterLock(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() RELEASE() { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace graven::engine
