#pragma once
#include <Python.h>

#include "graven/runtime/variable.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// The C++ part of tf.Variable: the Python class derives from `_engine.VariableBase`, whose layout
// this is. Arguments of cached calls and operators read it without running Python.
struct VariableObject {
  PyObject_HEAD engine::Tensor handle;  // an eager scalar of dtype resource
  PyObject* weak_references;
  PyObject* dict;
  engine::Variable* variable() const {
    return static_cast<engine::Variable*>(handle.resource().get());
  }
};

extern PyTypeObject* variable_base_type;

inline bool is_variable(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), variable_base_type);
}
inline VariableObject* variable_of(PyObject* object) {
  return reinterpret_cast<VariableObject*>(object);
}
// The live Python variable of a handle, borrowed; null if it is gone.
PyObject* find_variable(const engine::Tensor& handle);
// The same, or one made now for a variable of C++: a new reference; null with an exception set.
PyObject* variable_object(const engine::Tensor& handle);
// True for a variable of Python's whose object is gone.
bool is_deleted(const engine::Tensor& handle);
// Tells tapes that the variable is used.
void note_variable(const VariableObject* variable);
// Reads it as an op does: tapes record the read, a node is added in a graph.
engine::Result<engine::Tensor> read_variable(VariableObject* variable);

}  // namespace graven::python
