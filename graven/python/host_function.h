#pragma once
#include <nanobind/nanobind.h>

namespace graven::python {

void bind_host_function(nanobind::module_& module);  // call_py_function, call_numpy_function

}  // namespace graven::python
