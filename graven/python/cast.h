#pragma once
#include <Python.h>

#include "graven/function/trace_type.h"
#include "graven/python/object.h"

namespace graven::python {

// Casts the argument to a constraint: returns the object itself if it fits. A mismatch is a
// TypeError whose text begins with "Can not cast".
engine::Result<Object> cast_to(const engine::TraceType& type, PyObject* object, bool allow_specs);

}  // namespace graven::python
