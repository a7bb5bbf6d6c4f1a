#pragma once
#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace graven::engine {

// The calls that run in a library which frees at exit, in destructors of its own, what they need.
// A process can end beside threads that compute, if it calls end() before those destructors.
class CallsUntilExit {
 public:
  // After end() it does not return, but on the thread that ended the calls: it is the last one.
  void enter() {
    running_.fetch_add(1, std::memory_order_seq_cst);
    if (!ended_.load(std::memory_order_seq_cst) || pthread_equal(pthread_self(), last_)) return;
    leave();
    while (true) pause();
  }
  void leave() { running_.fetch_sub(1, std::memory_order_release); }

  // For a child of fork(), where the calls of other threads are not.
  void forget() { running_.store(0, std::memory_order_seq_cst); }

  // No call begins after this, and none runs any more when it returns, but for one that takes
  // longer than anybody would wait for the end of a process. Once, on the thread that exits.
  void end() {
    constexpr int kLimitMs = 5000;
    last_ = pthread_self();
    ended_.store(true, std::memory_order_seq_cst);
    for (int ms = 0; ms < kLimitMs && running_.load(std::memory_order_seq_cst) != 0; ++ms) {
      usleep(1000);
    }
  }

 private:
  std::atomic<int> running_{0};
  std::atomic<bool> ended_{false};
  pthread_t last_ = {};
};

}  // namespace graven::engine
