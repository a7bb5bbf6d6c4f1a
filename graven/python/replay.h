#pragma once
#include <Python.h>

#include "graven/python/bind.h"

namespace graven::python {

// Called with a symbolic tensor whose truth is asked for on this thread; gives a bool, or
// NotImplemented where the tensor has none. Null: none has.
extern constinit thread_local PyObject* truth_oracle;

void bind_replay(nanobind::module_& module);  // Replay, Path, set_truth_oracle

}  // namespace graven::python
