#pragma once
#include <Python.h>

#include <exception>

#include "graven/base/status.h"

namespace graven::python {

// Sets the Python exception for a Status: the class of its kind or of its code
// (graven.errors.InvalidArgumentError, ...), or the very exception object that user code raised.
// The text of an error of a run (runtime's ExecutionError) is "Graph execution error" with the
// user's lines. Returns null, for `return raise(status);`.
PyObject* raise(const engine::Status& status);

// True for the class of errors of a trace lock, which are told and not tried again.
bool is_trace_lock_error(PyObject* type);

// Clears the pending Python exception and returns a Status that carries it. Call it after a Python
// C function has failed.
engine::Status pending_exception();
// The same for C++ programs: with the kind and the code of the exception's class, where there is
// one; else the message begins with the class's name.
engine::Status pending_error();
// Takes the frames that a Python exception has passed from it, if the Status carries one, and notes
// their lines: it holds what is local in them no longer.
engine::Status without_frames(const engine::Status& status);
// Sets the Python exception for one of C++: a graven::Error's by its status, its line in front.
void raise(std::exception_ptr exception);

}  // namespace graven::python
