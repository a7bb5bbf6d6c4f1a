#pragma once
#include <Python.h>

namespace graven::python {

// Makes the Python objects of the tapes that record on this thread own an object, where Python's
// cycle collector sees it: the object may hold such a tape.
void keep_for_tapes(PyObject* object);

}  // namespace graven::python
