#pragma once
#include <Python.h>

#include <string>
#include <string_view>

#include "graven/base/status.h"
#include "graven/ir/literal.h"
#include "graven/python/object.h"

namespace graven::python {

// The text of a str. `otherwise`, with no exception left, for null and for half of a surrogate
// pair, which UTF-8 has no bytes for.
std::string utf8(PyObject* text, std::string_view otherwise = {});

// The literal of an object of the kinds that the engine knows by value; false for other objects.
bool known_literal(PyObject* object, engine::Literal& literal);
// The literal of any hashable object.
engine::Result<engine::Literal> to_literal(PyObject* object);

// The Python object of a literal. An empty Object and an exception on failure.
Object literal_to_python(const engine::Literal& literal);
// The object behind a handle. An empty Object and an exception if its owner has let it go.
Object object_or_error(const engine::Opaque& opaque);

}  // namespace graven::python
