#pragma once
#include <Python.h>

#include "graven/tensor/tensor.h"

namespace graven::python {

// The Python object of a tensor. Two classes share the layout: Tensor's subclasses EagerTensor and
// SymbolicTensor; isinstance(x, tf.Tensor) holds for both. An object is made for each
// handle that reaches Python; identity of tensors is that of the engine's object, see
// Tensor.ref() and the tape.
struct TensorObject {
  PyObject_HEAD engine::Tensor tensor;
  PyObject* weak_references;
  PyObject* attributes;  // a dict of attributes that the user has set on it, or null
  bool is_noted;         // wrap_same finds it
};

extern PyTypeObject* tensor_type;  // the common base
extern PyTypeObject* eager_tensor_type;
extern PyTypeObject* symbolic_tensor_type;

inline bool is_tensor(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type == eager_tensor_type || type == symbolic_tensor_type ||
         PyType_IsSubtype(type, tensor_type);
}
inline const engine::Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
// A new reference; null and an exception when memory is gone. The cycle collector may run, and run
// Python code.
PyObject* wrap(engine::Tensor tensor);

// --- A captured tensor is shown as the very object that the traced code used: while traces run,
// operands from outside the graph being built are noted, as long as they live.

// Traces that run now, on all threads; the GIL guards it.
extern int traces_in_progress;
void note_operand(PyObject* object);
// Notes the object in any case, because it is fed for a capture.
void note_object(PyObject* object);
// The tensor of an operand of an op.
inline const engine::Tensor& operand_of(PyObject* object) {
  if (traces_in_progress > 0) note_operand(object);
  return tensor_of(object);
}
// The noted object of a tensor if there is one, else a new one.
PyObject* wrap_same(const engine::Tensor& tensor);

// --- Parts of the type, each in a file of its own.

extern PyType_Slot tensor_operator_slots[];  // tensor_operators.cc: + - * / ...; ends with slot 0
PyObject* tensor_compare(PyObject* a, PyObject* b, int comparison);
PyObject* tensor_subscript(PyObject* self, PyObject* key);  // tensor_index.cc
PyObject* tensor_str(PyObject* self);                       // tensor_text.cc
PyObject* tensor_repr(PyObject* self);
PyObject* tensor_format(PyObject* self, PyObject* specification);

}  // namespace graven::python
