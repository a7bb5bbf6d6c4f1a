#pragma once
#include <Python.h>

namespace graven::python {

// Lets the Python objects of the tapes that record on this thread own an object, where the
// collector of cycles sees it: what a tape remembers may hold that tape.
void keep_for_tapes(PyObject* object);

}  // namespace graven::python
