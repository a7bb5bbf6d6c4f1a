#pragma once
#include <Python.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "graven/function/function.h"
#include "graven/python/equal_functions.h"
#include "graven/python/object.h"
#include "graven/python/watch.h"

namespace graven::python {

// How Python binds the arguments of the user's function, taken from its signature
// when the Function is made.
struct Signature {
  struct Parameter {
    Object name;  // interned str
    engine::ParameterKind kind;
    Object default_value;             // null if there is none
    engine::TraceTypeRef constraint;  // of the input_signature
  };
  std::vector<Parameter> parameters;
  int var_positional = -1, var_keyword = -1;  // positions of *args and **kwargs
  bool has_constraints = false;
  bool is_positional = true;  // all parameters take arguments by position, and one each
};

// The Functions of instances to which a Function of their class was bound, found by address. Each
// is owned by a weak dictionary of graven._function, and dies with its instance.
struct Bindings {
  struct Binding {
    engine::Ref<engine::LifeGuard> instance;
    Object function;  // a weak reference
  };
  std::unordered_map<PyObject*, Binding> by_instance;
  size_t sweep_at = 16;  // size at which entries of dead instances are removed
};

// The CPython type of tf.function's result. If the row of words finds the entry, the call is C++
// from its vectorcall to the packed result. Rare calls are handled in python/graven/_function.py,
// which adds methods to the type.
struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  engine::Ref<engine::Function> function;
  std::unique_ptr<Signature> signature;
  PyObject* python_function;  // the function to trace
  PyObject* instance;         // weak reference to `self` for a bound method, or null
  std::unique_ptr<Bindings> bindings;
  // The count of its hits; after its first trace in a call, shared by all Functions of one code
  // object.
  std::shared_ptr<int64_t> hits;
  // A list of Python objects that the traces need and the engine must not own: slots of types and
  // classes, functions that compute gradients, and such lists of Functions that the traces call.
  // See keep_for_trace.
  PyObject* kept;
  bool is_pure;  // arguments become tensors before anything else
  Stale stale;   // what it does about watched values that change
  // Null if functions are arguments by identity, whatever they do, as in TensorFlow.
  std::unique_ptr<EqualFunctions> equal;
  PyObject* dict;
  PyObject* weak_references;
};

extern PyTypeObject* function_type;

// Function(python_function, name, parameters, reduce_retracing, literals_equal_as_numbers,
// automatic_control_dependencies, instance, is_pure, max_traces, max_bytes, stale, qualified_name,
// shown_name, shares_functions):
// parameters are tuples of (name, kind number, has_default, default, constraint or None);
// reduce_retracing is a bool or None; instance is None or a weak reference; a budget of 0 is none;
// stale is the number of a Stale; shares_functions lets equal functions among the arguments share a
// trace, if the rest allows it.
int init_function(PyObject* object, PyObject* args, PyObject* keywords);

// Makes the Function that this thread traces, if there is one, own an object, where Python's cycle
// collector sees it: a graph that owned it could never die, because the object may hold tensors of
// that graph (graven/ir/custom_gradient.h). False with an exception set if it fails.
bool keep_for_trace(PyObject* object);

}  // namespace graven::python
