#pragma once
#include <Python.h>

#include <utility>

namespace graven::python {

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
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  explicit Object(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Holds the GIL while it lives, from a thread that may or may not have it.
class HoldGil {
 public:
  HoldGil() : state_(PyGILState_Ensure()) {}
  ~HoldGil() { PyGILState_Release(state_); }
  HoldGil(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Lets other Python threads run while it lives.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() { PyEval_RestoreThread(state_); }
  ReleaseGil(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace graven::python
