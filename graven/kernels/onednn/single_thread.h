#pragma once
#include <omp.h>

namespace graven::engine {

// While it lives, OpenMP regions entered by this thread have one thread, this one. The setting is
// the thread's own in libgomp; it is put back because the thread may be the user's, who may use
// OpenMP too.
class SingleThread {
 public:
  SingleThread() : saved_(omp_get_max_threads()) {
    if (saved_ != 1) omp_set_num_threads(1);
  }
  ~SingleThread() {
    if (saved_ != 1) omp_set_num_threads(saved_);
  }
  SingleThread(const SingleThread&) = delete;

 private:
  int saved_;
};

}  // namespace graven::engine
