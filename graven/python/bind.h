#pragma once
#include <nanobind/nanobind.h>

namespace graven::python {

// Each part of the extension adds its names to the module (module.cc calls them).
void bind_types(nanobind::module_& module);      // dtypes and shapes
void bind_tensor(nanobind::module_& module);     // Tensor, EagerTensor, SymbolicTensor
void bind_convert(nanobind::module_& module);    // constant, convert_to_tensor, ...
void bind_graph(nanobind::module_& module);      // Graph, Operation
void bind_graph_def(nanobind::module_& module);  // import_graph_def
void bind_scopes(nanobind::module_& module);     // name_scope, device, ...
void bind_callable(nanobind::module_& module);
void bind_op_function(nanobind::module_& module);
void bind_library_function(nanobind::module_& module);
void bind_variable(nanobind::module_& module);     // VariableBase
void bind_tape(nanobind::module_& module);         // Tape
void bind_trace_types(nanobind::module_& module);  // TensorSpec and other types of arguments
void bind_entry(nanobind::module_& module);        // Entry, one trace
void bind_explain(nanobind::module_& module);      // Explanation, logs, trace locks
void bind_function(nanobind::module_& module);     // Function, Slot
void bind_random(nanobind::module_& module);       // restart_random_streams
void bind_custom_gradient(nanobind::module_& module);
void bind_cpp_function(nanobind::module_& module);  // CppFunction, a Function of C++
void bind_python_api(nanobind::module_& module);    // the capsule of graven/python_api.h
void bind_config(nanobind::module_& module);        // memory and devices
void bind_watches(nanobind::module_& module);       // values that traces read

}  // namespace graven::python
