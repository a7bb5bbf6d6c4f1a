#pragma once
#include <Python.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "graven/base/status.h"
#include "graven/library/parameters.h"

namespace graven::python {

// Python's values as the kinds that attributes of ops and parameters of public functions have.
// Errors are TypeErrors that say what was expected, unless the user's code raises another.

// repr(object), or what stands for it.
std::string text_of(PyObject* object);

engine::Result<int64_t> to_integer(PyObject* object);
engine::Result<double> to_double(PyObject* object);
engine::Result<std::string> to_text(PyObject* object);  // str, or bytes as they are
engine::Result<bool> to_truth(PyObject* object);        // as `if` has it

// A number, a list of numbers, a fully known TensorShape, None, or what becomes a tensor. Eager
// integer scalars count as numbers in lists; a list with others is packed under this name.
engine::Result<engine::Integers> to_integers(PyObject* object, std::string_view name);
// The same; None in a list is -1.
engine::Result<engine::Integers> to_open_sizes(PyObject* object, std::string_view name);
// A number, [a, b] of numbers or lists of them, or what becomes a tensor.
engine::Result<engine::AxisPairs> to_axis_pairs(PyObject* object, std::string_view name);
// A number of Python's or NumPy's, or what becomes a tensor.
engine::Result<engine::Number> to_number(PyObject* object, std::string_view name);
engine::Result<engine::NumberOrText> to_number_or_text(PyObject* object);
engine::Result<engine::Window> to_window(PyObject* object);
engine::Result<engine::Padding> to_padding(PyObject* object);

}  // namespace graven::python
