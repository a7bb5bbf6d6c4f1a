#pragma once
#include <Python.h>

#include "graven/base/status.h"

namespace graven::python {

// Sets the Python exception that a Status stands for: the class of its kind or of its code
// (graven.errors.InvalidArgumentError, ...), or the very exception object that user code raised.
// An error of a run (runtime's ExecutionError) is told as "Graph execution error" with the user's
// lines. Returns null, for `return raise(status);`.
PyObject* raise(const engine::Status& status);

// The pending Python exception as a Status that carries it, which clears it. To be called after a
// Python C function has failed.
engine::Status pending_exception();

}  // namespace graven::python
