#pragma once
#include <Python.h>

namespace graven::python {

// Lets the gradient of a custom_gradient that runs on this thread, if it adds to a graph, own an
// object that the graph needs. False with an exception set if it fails.
bool keep_for_gradient(PyObject* object);

}  // namespace graven::python
