#pragma once
#include <Python.h>

#include "graven/function/trace_type.h"
#include "graven/python/object.h"

namespace graven::python {

// The argument cast to a constraint: the object itself if it fits as it is. A
// mismatch is a TypeError whose text begins with "Can not cast".
engine::Result<Object> cast_to(const engine::TraceType& type, PyObject* object, bool allow_specs);

}  // namespace graven::python
