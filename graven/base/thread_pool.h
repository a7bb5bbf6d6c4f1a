#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"

namespace graven::engine {

// The one pool of the process. Work is cut into numbered chunks by whoever brings it, by shape
// alone; any number of threads gives the same chunks and so the same bits. The caller works
// too, and claims whatever no worker has taken, so nothing ever waits for a thread that has
// not started. A chunk must not block and must not call run().
//
// Threads start when they are first needed, with flush-to-zero and denormals-are-zero set; the
// caller's own control register is set for the duration and restored (DESIGN 6). After a fork
// the child starts threads of its own.
class GRAVEN_API ThreadPool {
 public:
  static ThreadPool& shared();

  // Threads that work on one run(), the caller included. 0 (the default) means one per core
  // that the process may use. May be changed at any time between runs.
  void set_num_threads(int num_threads);
  int num_threads() const;
  int wanted_threads() const;  // what was set

  // Calls body(i) once for each i in [0, num_chunks), and returns when all have returned.
  // Several threads may call run() at once; one of them at a time gets help from workers.
  void run(int64_t num_chunks, FunctionRef<void(int64_t)> body);

 private:
  ThreadPool();
  struct State;
  State* state_;  // leaked on purpose: workers may outlive static destruction
};

// Sets flush-to-zero and denormals-are-zero while it lives.
class GRAVEN_API FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;

 private:
  uint32_t saved_;
};

}  // namespace graven::engine
