#include <nanobind/nanobind.h>

#include "graven/base/interrupt.h"
#include "graven/base/waiting_lock.h"
#include "graven/python/bind.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"
#include "graven/python/replay.h"

namespace graven::python {
namespace {

// Ctrl-C ends a long run between two steps, and a wait for another thread.
// Other threads get the GIL then: what seemed too short to let go of it may be an endless loop.
engine::Status check_signals() {
  if (has_gil()) {
    Py_BEGIN_ALLOW_THREADS;
    Py_END_ALLOW_THREADS;
  }
  HoldGil gil;
  return run_python<PyErr_CheckSignals>() < 0 ? pending_exception() : engine::Status();
}

// A thread that waits for a lock of the engine lets other Python threads run, if it has the GIL.
void* pause_python() { return Py_IsInitialized() && has_gil() ? PyEval_SaveThread() : nullptr; }
void resume_python(void* paused) { restore_thread(static_cast<PyThreadState*>(paused)); }

}  // namespace

NB_MODULE(_engine, m) {
  m.doc() = "The engine of graven. Private: import graven instead.";
  engine::set_interrupt_check(check_signals);
  engine::set_wait_hooks({pause_python, resume_python});
  bind_types(m);
  bind_tensor(m);
  bind_convert(m);
  bind_graph(m);
  bind_scopes(m);
  bind_callable(m);
  bind_op_function(m);
  bind_library_function(m);
  bind_variable(m);
  bind_tape(m);
  bind_trace_types(m);
  bind_entry(m);
  bind_function(m);
  bind_random(m);
  bind_custom_gradient(m);
  bind_replay(m);
  bind_config(m);
  bind_watches(m);
}

}  // namespace graven::python
