#include <nanobind/nanobind.h>

#include <cstdlib>
#include <stdexcept>

#include "graven/base/interrupt.h"
#include "graven/base/waiting_lock.h"
#include "graven/kernels/open_plugin.h"
#include "graven/python/bind.h"
#include "graven/python/errors.h"
#include "graven/python/host_function.h"
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

// Daemon threads may compute until the process is gone. What Python has at its own end is called
// before exit() begins, so the handler that is set there is the first of exit().
void end_plugin_calls_at_exit() {
  Py_AtExit([] { std::atexit(engine::end_plugin_calls); });
}

// What lives when Python has ended, such as what a daemon thread holds, is no fault of the program.
// Tests want to see it: a cycle that the collector cannot see looks like that.
void keep_quiet_about_what_lives_on() {
  nanobind::set_leak_warnings(std::getenv("GRAVEN_LEAK_WARNINGS") != nullptr);
}

// The engine's classes and its hooks are one for the process, and belong to one interpreter.
void refuse_sub_interpreters() {
  static nanobind::detail::nb_internals* internals_of_main = nullptr;
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) {
    internals_of_main = nanobind::detail::internals;
    return;
  }
  // nanobind has just taken up this interpreter, which will not be used.
  nanobind::detail::internals = internals_of_main;
  throw std::runtime_error(
      "Graven runs in the main interpreter of a process, and this is a sub-interpreter: import "
      "graven in the main one, or in a process of its own");
}

}  // namespace

NB_MODULE(_engine, m) {
  refuse_sub_interpreters();
  keep_quiet_about_what_lives_on();
  m.doc() = "The engine of graven. Private: import graven instead.";
  engine::set_interrupt_check(check_signals);
  engine::set_wait_hooks({pause_python, resume_python});
  end_plugin_calls_at_exit();
  bind_types(m);
  bind_tensor(m);
  bind_convert(m);
  bind_graph(m);
  bind_graph_def(m);
  bind_scopes(m);
  bind_callable(m);
  bind_op_function(m);
  bind_library_function(m);
  bind_variable(m);
  bind_tape(m);
  bind_trace_types(m);
  bind_entry(m);
  bind_explain(m);
  bind_function(m);
  bind_random(m);
  bind_custom_gradient(m);
  bind_host_function(m);
  bind_replay(m);
  bind_config(m);
  bind_watches(m);
  bind_cpp_function(m);
  bind_python_api(m);
}

}  // namespace graven::python
