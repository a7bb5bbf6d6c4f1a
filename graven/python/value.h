#pragma once
#include <Python.h>

#include "graven/ir/value.h"
#include "graven/python/object.h"
#include "graven/tensor/tensor.h"

namespace graven::python {

// A Python argument as an engine Value. With allow_specs, specs may stand for values. Containers
// are taken apart; arrays become tensors.
engine::Result<engine::Value> to_value(PyObject* object, bool allow_specs);

// The result of a traced function: numbers, strings and arrays become tensors, variables are read.
// Errors name the object that cannot be a tensor; `function` is for the message.
engine::Result<engine::Value> result_to_value(PyObject* object, PyObject* function);

// The Python object of a value. An empty Object and an exception on failure.
Object to_python(const engine::Value& value);
// The same, with the tensors of `tensors` in the place of the leaves, in order of collect_tensors.
Object to_python(const engine::Value& value, const engine::Tensors& tensors, size_t& next);

// True for an object with the nest protocol, __tf_flatten__.
bool is_nested(PyObject* object);

}  // namespace graven::python
