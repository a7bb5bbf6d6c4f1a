#pragma once
#include <Python.h>

#include <memory>
#include <vector>

#include "graven/function/function.h"
#include "graven/python/object.h"

namespace graven::python {

// How Python binds the arguments of the user's function (S2.10, S2.24), taken from its signature
// when the Function is made.
struct Signature {
  struct Parameter {
    PyObject* name;  // interned str, owned
    engine::ParameterKind kind;
    PyObject* default_value;          // owned, null if there is none
    engine::TraceTypeRef constraint;  // of the input_signature
  };
  std::vector<Parameter> parameters;
  int var_positional = -1, var_keyword = -1;  // positions of *args and **kwargs
  bool has_constraints = false;
};

// The CPython type of tf.function's result. Its vectorcall is C++ from the call to the packed
// result when the row of words finds the entry; what is rare is in python/graven/_function.py,
// which adds methods to the type.
struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  engine::Ref<engine::Function> function;
  std::unique_ptr<Signature> signature;
  PyObject* python_function;  // what is traced
  PyObject* instance;         // weak reference to `self` for a bound method, or null
  PyObject* dict;
  PyObject* weak_references;
};

extern PyTypeObject* function_type;

}  // namespace graven::python
