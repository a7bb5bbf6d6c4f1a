#pragma once
#include <Python.h>

#include "graven/function/function.h"

namespace graven::python {

// The entry behind such an object, borrowed; null for another object.
engine::Entry* entry_of(PyObject* object);

// The Python view of a trace, `_engine.Entry`, around which graven._function.ConcreteFunction is
// built: one object for each live entry, so that identity holds.
PyObject* wrap_entry(const engine::Ref<engine::Entry>& entry);

// While a graph is built or a tape is on, a trace whose captured variables are gone is refused: an
// AssertionError. False if it is set.
bool check_variables(const engine::Entry& entry);

}  // namespace graven::python
