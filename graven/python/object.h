#pragma once
#include <Python.h>
#include <unistd.h>

#include <utility>

namespace graven::python {

// Takes the GIL with a function of Python's. While Python ends, that function stops a thread which
// asks for the GIL (a daemon's) there and then: it unwinds the thread's stack, through destructors
// that need the GIL and functions that let no exception through, which would abort the process. So
// the thread stays here, asleep, until the process has ended, as threads do from Python 3.14 on.
template <typename Take>
auto take_gil(Take&& take) {
  try {
    return take();
  } catch (...) {  // only that unwinding: functions of C throw nothing
    for (;;) ::pause();
  }
}

// Calls a function of Python's that may run Python code, which gives the GIL away now and then and
// takes it again: run_python<PyObject_Repr>(object). This folder calls all such functions through
// it.
template <auto function, typename... Arguments>
auto run_python(Arguments... arguments) {
  return take_gil([&] { return function(arguments...); });
}

// Drops a reference, which may be null. Destroying the object may run Python code.
inline void drop(PyObject* object) noexcept {
  take_gil([&] { Py_XDECREF(object); });
}

// An owned reference to a Python object; may be null. The thread holds the GIL.
class Object {
 public:
  Object() = default;
  static Object take(PyObject* object) { return Object(object); }  // takes over the reference
  static Object borrow(PyObject* object) {
    Py_XINCREF(object);
    return Object(object);
  }
  Object(const Object& other) : object_(other.object_) { Py_XINCREF(object_); }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { drop(object_); }

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  explicit Object(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// False, with no exception left, also if looking for the attribute fails.
inline bool has_attribute(PyObject* object, const char* name) {
  Object found = Object::take(run_python<PyObject_GetAttrString>(object, name));
  if (!found) PyErr_Clear();
  return static_cast<bool>(found);
}

// An attribute of a module, imported at the first use and kept for ever. Not an initialised static
// of the function that uses it: C++ holds a lock of its own around that, and Python gives the GIL
// away while it imports, so that two threads would wait for each other.
class Imported {
 public:
  constexpr Imported(const char* module, const char* name) : module_(module), name_(name) {}
  Imported(const Imported&) = delete;
  // Borrowed; null with an exception set if the module has no such attribute.
  PyObject* get() {
    if (object_) return object_;
    Object module = Object::take(run_python<PyImport_ImportModule>(module_));
    Object found =
        module ? Object::take(run_python<PyObject_GetAttrString>(module.get(), name_)) : Object();
    if (!object_) {
      object_ = found.release();
    } else {
      PyErr_Clear();  // another thread was first, and did not fail
    }
    return object_;
  }

 private:
  const char *module_, *name_;
  PyObject* object_ = nullptr;
};

// The items of a sequence as they are now, because users' code that runs while they are read may
// change a list. Null with an exception set (a TypeError with this message, if it is no sequence).
inline Object items_of(PyObject* sequence, const char* message) {
  Object fast = Object::take(run_python<PySequence_Fast>(sequence, message));
  return fast ? Object::take(run_python<PySequence_Tuple>(fast.get())) : fast;
}

// One level of a recursion over the user's objects, which may contain themselves. Not Python's own
// count: a program may set its limit to more than the stack of C++ holds.
class RecursionLevel {
 public:
  // `where` follows "maximum recursion depth exceeded" in the RecursionError.
  explicit RecursionLevel(const char* where) : ok_(++levels() <= kMaxLevels) {
    if (!ok_) PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded%s", where);
  }
  ~RecursionLevel() { --levels(); }
  RecursionLevel(const RecursionLevel&) = delete;
  // False if the limit is exceeded; then the exception is set.
  bool ok() const { return ok_; }

 private:
  static constexpr int kMaxLevels = 256;
  static int& levels() {
    static constinit thread_local int levels = 0;
    return levels;
  }
  const bool ok_;
};

// Unlike PyGILState_Check it does not say yes to every thread once Python has ended.
inline bool has_gil() {
  const PyThreadState* state = PyGILState_GetThisThreadState();
  return state && state == _PyThreadState_UncheckedGet();
}

// Puts a daemon's thread to sleep if Python is ending or has ended: then the GIL can no longer be
// taken. The thread that ends Python goes on: it has the GIL, or is the last one.
inline void sleep_if_python_ends() {
  if (Py_IsInitialized()) return;
  if (has_gil() || ::gettid() == ::getpid()) return;
  for (;;) ::pause();
}

inline void restore_thread(PyThreadState* state) {
  sleep_if_python_ends();
  take_gil([&] { PyEval_RestoreThread(state); });
}

// Holds the GIL while it lives, from a thread that may or may not have it.
class HoldGil {
 public:
  HoldGil() {
    sleep_if_python_ends();
    state_ = take_gil(PyGILState_Ensure);
  }
  ~HoldGil() { run_python<PyGILState_Release>(state_); }
  HoldGil(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Lets other Python threads run while it lives.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() { restore_thread(state_); }
  ReleaseGil(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace graven::python
