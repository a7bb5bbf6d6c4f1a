#pragma once
#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include "graven/base/calls_until_exit.h"

namespace graven::engine {

// The settings of this thread while oneDNN runs on it; restored afterwards, because the thread may
// be the user's.
//
// OpenMP regions have one thread, this one. The setting is the thread's own in libgomp.
//
// No asynchronous signal is delivered here: the product of oneDNN 2.6 (AVX-512) keeps no stack that
// a handler could use, and a signal in the middle of it overwrites the heap. A Ctrl-C arrives when
// the call is over.
//
// oneDNN frees at exit the code that it made; see CallsUntilExit.
class LibraryCall {
 public:
  LibraryCall() : saved_threads_(omp_get_max_threads()) {
    calls().enter();
    if (saved_threads_ != 1) omp_set_num_threads(1);
    static const sigset_t asynchronous = [] {
      sigset_t set;
      sigfillset(&set);
      for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&set, fault);
      return set;
    }();
    pthread_sigmask(SIG_BLOCK, &asynchronous, &saved_signals_);
  }
  ~LibraryCall() {
    pthread_sigmask(SIG_SETMASK, &saved_signals_, nullptr);
    if (saved_threads_ != 1) omp_set_num_threads(saved_threads_);
    calls().leave();
  }
  LibraryCall(const LibraryCall&) = delete;

  static CallsUntilExit& calls() {
    static CallsUntilExit all;
    return all;
  }

 private:
  int saved_threads_;
  sigset_t saved_signals_;
};

}  // namespace graven::engine
