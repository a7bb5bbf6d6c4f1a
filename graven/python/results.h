#pragma once
#include <Python.h>
#include <nanobind/nanobind.h>

#include <utility>

#include "graven/base/status.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"

// What CPython and the engine give, for code that is written with nanobind: it throws.
namespace graven::python {

[[noreturn]] inline void throw_status(const engine::Status& status) {
  raise(status);
  throw nanobind::python_error();
}

// An object whose reference is the caller's; null with an exception set is thrown.
inline nanobind::object steal(PyObject* object) {
  if (!object) throw nanobind::python_error();
  return nanobind::steal(object);
}
inline nanobind::object steal(Object object) { return steal(object.release()); }

// The value, or the error raised as Python's exception.
template <typename T>
T value_or_raise(engine::Result<T> result) {
  if (result.ok()) return *std::move(result);
  throw_status(result.status());
}

}  // namespace graven::python
