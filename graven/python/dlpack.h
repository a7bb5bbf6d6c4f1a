#pragma once
#include <Python.h>

// The protocol of DLPack for eager tensors: other libraries read their elements without a copy.

namespace graven::python {

// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None): a capsule of the
// protocol's first version, which holds the tensor; NumPy treats such a capsule as read-only.
PyObject* tensor_dlpack(PyObject* self, PyObject* args, PyObject* keywords);
// __dlpack_device__(): the type and the number of the device.
PyObject* tensor_dlpack_device(PyObject* self, PyObject* nothing);

}  // namespace graven::python
