#pragma once
#include <Python.h>

#include <vector>

#include "graven/function/trace_type.h"
#include "graven/python/object.h"
#include "graven/python/slot.h"

namespace graven::python {

// The engine's type for a Python object that is a type: a TensorSpec and the like, or an instance
// of the user's subclass of tf.types.experimental.TraceType. Null for other objects.
engine::TraceTypeRef trace_type_of_object(PyObject* object);

// The held Python object of a type that Python code defines; null for the engine's own types.
HeldObject* held_object_of(const engine::TraceType& type);

// The comparisons of types (is_subtype_of, __eq__, ...) that one call of a Function makes. An
// exception of a user's method cannot stop them: it counts as "no", and while this lives the first
// one of the thread is kept for the call to raise. Else it is reported as one that Python ignores.
class TypeComparisons {
 public:
  TypeComparisons();
  ~TypeComparisons();  // with the GIL
  TypeComparisons(const TypeComparisons&) = delete;
  // Keeps the exception that is set.
  static void fail(PyObject* type);
  static bool has_failed();
  // The exception that was kept, once; ok if there is none.
  static engine::Status take();

 private:
  TypeComparisons* outer_;
  engine::Status failure_;
};

// The result of the object's __tf_tracing_type__; null if its class has none.
engine::Result<engine::TraceTypeRef> own_trace_type(PyObject* object);

// The Python object of a type: TensorSpec, a user's type itself, or a view of an engine's type.
Object type_to_python(const engine::TraceTypeRef& type);

// For types that Python defines: the tensors of a value as parts of its Value (to_tensors), and
// the value rebuilt around tensors (from_tensors).
engine::Status tensors_of_foreign(const engine::TraceType& type, PyObject* object,
                                  std::vector<engine::Value>& items);
Object foreign_to_python(const engine::Value& value, const engine::Tensors& tensors, size_t& next);

// Composite tensors (RaggedTensor, IndexedSlices, ...): objects with a `_type_spec`.
engine::Result<bool> is_composite_tensor(PyObject* object);
engine::Result<engine::Value> composite_to_value(PyObject* object);

}  // namespace graven::python
