#pragma once
#include <Python.h>

#include <vector>

#include "graven/python/object.h"

namespace graven::python {

// The arguments of a pure function: each that is neither a tensor nor a type becomes a tensor as a
// whole.
class PureArguments {
 public:
  // `n` arguments from `args` on. False with an exception set if one is no tensor.
  bool convert(PyObject* const* args, Py_ssize_t n);
  PyObject* const* data() const { return arguments_.data(); }

 private:
  std::vector<Object> owned_;
  std::vector<PyObject*> arguments_;
};

}  // namespace graven::python
