#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "graven/base/status.h"
#include "graven/library/parameters.h"

namespace graven::python {

// Converts Python's values to the kinds of attributes of ops and of parameters of public functions.
// Errors are TypeErrors that name the expected kind, unless the user's code raises another.

// repr(object), or a substitute if that fails.
std::string text_of(PyObject* object);

engine::Result<int64_t> to_integer(PyObject* object);
engine::Result<double> to_double(PyObject* object);
engine::Result<std::string> to_text(PyObject* object);  // str, or bytes as they are
engine::Result<bool> to_truth(PyObject* object);        // the truth that `if` sees

// A number, a list of numbers, a fully known TensorShape, None, or an object that converts to a
// tensor. Eager integer scalars count as numbers in lists; a list with other tensors is packed
// under this name.
engine::Result<engine::Integers> to_integers(PyObject* object, std::string_view name);
// The same; None in a list is -1.
engine::Result<engine::Integers> to_open_sizes(PyObject* object, std::string_view name);
// A number, [a, b] of numbers or lists of them, or an object that converts to a tensor.
engine::Result<engine::AxisPairs> to_axis_pairs(PyObject* object, std::string_view name);
// A number of Python's or NumPy's, or an object that converts to a tensor.
engine::Result<engine::Number> to_number(PyObject* object, std::string_view name);
engine::Result<engine::NumberOrText> to_number_or_text(PyObject* object);
engine::Result<engine::Window> to_window(PyObject* object);
engine::Result<engine::Padding> to_padding(PyObject* object);

}  // namespace graven::python
