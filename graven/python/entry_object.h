#pragma once
#include <Python.h>

#include "graven/function/function.h"

namespace graven::python {

// The Python view of a trace, `_engine.Entry`, around which graven._function.ConcreteFunction is
// built: one object for each live entry, so that identity holds.
PyObject* wrap_entry(const engine::Ref<engine::Entry>& entry);

}  // namespace graven::python
