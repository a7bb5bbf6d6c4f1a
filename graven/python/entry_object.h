#pragma once
#include <Python.h>

#include "graven/function/function.h"

namespace graven::python {

// The entry of an Entry object, borrowed; null for another object.
engine::Entry* entry_of(PyObject* object);

// The Python view of a trace, `_engine.Entry`, around which graven._function.ConcreteFunction is
// built: one object for each live entry, so that identity holds.
PyObject* wrap_entry(const engine::Ref<engine::Entry>& entry);

// Refuses a trace whose captured variables are gone, while a graph is built or a tape is on: an
// AssertionError. False if the exception is set.
bool check_variables(const engine::Entry& entry);

}  // namespace graven::python
