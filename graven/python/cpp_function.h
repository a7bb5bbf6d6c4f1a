#pragma once
#include <Python.h>

#include <memory>

#include "graven/function/function.h"
#include "graven/python_api.h"

namespace graven::python {

// `_engine.CppFunction`: a Function of C++ as Python has it. It shares the traces of calls from
// C++, because both write the same rows. graven._cpp_function adds the methods that a Function of
// Python has.

// The object of a function that an extension module offers: a new reference; null with an exception
// set. find_cpp_function: the object that a Function has already; null without an exception.
PyObject* make_cpp_function(std::unique_ptr<internal::OfferedFunction> function);
PyObject* find_cpp_function(const engine::Function& function);
// The function of a CppFunction; null for another object.
internal::OfferedFunction* offered_function_of(PyObject* object);

}  // namespace graven::python
