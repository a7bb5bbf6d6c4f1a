#pragma once
#include <Python.h>

#include "graven/base/status.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// NumPy is never imported for a program that does not use it: its objects are recognised by
// their class and read through the buffer protocol.

// True for a NumPy array or scalar.
bool is_numpy(PyObject* object);
// A copy of its elements, in its dtype.
engine::Result<engine::Tensor> from_numpy(PyObject* object);

}  // namespace graven::python
