#pragma once
#include <Python.h>

#include <memory>

#include "graven/autodiff/tape.h"

namespace graven::python {

// Makes the Python objects of the tapes that record on this thread own an object, where Python's
// cycle collector sees it: the object may hold such a tape.
void keep_for_tapes(PyObject* object);

// A persistent tape for what a function of the program computes when a graph calls it. It owns such
// objects too, while it lives; any thread may drop it.
std::shared_ptr<engine::Tape> make_host_tape();

}  // namespace graven::python
