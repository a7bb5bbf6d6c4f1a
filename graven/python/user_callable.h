#pragma once
#include <Python.h>

#include <string_view>

#include "graven/base/ref.h"
#include "graven/base/status.h"
#include "graven/ir/callable.h"
#include "graven/ir/value.h"
#include "graven/library/parameters.h"

namespace graven::python {

// A Python function that a public function takes, such as a branch of cond. AutoGraph converts it
// where it is traced.
// A TypeError if the object cannot be called.
engine::Result<engine::Ref<engine::Callable>> to_callable(PyObject* object, std::string_view name);

// Makes all such functions that run on this thread own an object, for as long as the calls of the
// public functions that take them.
void keep_for_callable(PyObject* object);

// A list, tuple or dict of functions, or of pairs of a value and a function.
engine::Result<engine::Choices> to_choices(PyObject* object);

// TensorShapes, dtypes and TypeSpecs in containers, as types of tensors.
engine::Result<engine::Value> to_shape_structure(PyObject* object);

}  // namespace graven::python
