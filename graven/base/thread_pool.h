#pragma once
#include <cstdint>

#include "graven/base/export.h"
#include "graven/base/function_ref.h"

namespace graven::engine {

// The one pool of the process. Work is cut into numbered chunks by its caller, by shape alone; any
// number of threads gives the same chunks and so the same bits. The caller works too, and claims
// each chunk that no worker has taken, so nothing ever waits for a thread that has not started.
//
// Any number of threads may call run() at once, and a chunk may call it too. Each run takes the
// workers that are free; a run that gets none does its chunks alone. A caller waits only when all
// its chunks are claimed, for the chunks that other threads still run, and meanwhile it helps with
// the runs that these chunks have started. A thread that waits enters no other run, so waiting goes
// from a run to those inside it only, and never in a circle.
//
// A chunk does not throw and does not block: no user code, no file, no queue, no lock that is held
// while any of these happens (LetOthersRun asserts it). Code that can block has a thread of its
// own. A chunk writes its results, errors too, where the caller reads them afterwards.
//
// The pool has one thread less than may work at once, because the caller is one; while several
// callers work, each gets fewer helpers. Threads start when they are first needed, with
// flush-to-zero and denormals-are-zero set; the caller's own control register is set for the
// duration and restored (DESIGN 6). After a fork the child starts threads of its own.
class GRAVEN_API ThreadPool {
 public:
  static ThreadPool& shared();

  // Threads that work at once, the caller included. 0 (the default) means one per core that the
  // process may use. May be changed at any time between runs.
  void set_num_threads(int num_threads);
  int num_threads() const;
  int wanted_threads() const;  // the number that was set
  // Workers that were started so far; they stay.
  int num_workers() const;

  // Calls body(i) once for each i in [0, num_chunks), and returns when all have returned.
  void run(int64_t num_chunks, FunctionRef<void(int64_t)> body);

  // The number of chunks this thread is in, one within the other; 0 outside of run().
  static int depth();

 private:
  ThreadPool();
  struct State;
  State* state_;  // leaked on purpose: workers may outlive static destruction
};

}  // namespace graven::engine
