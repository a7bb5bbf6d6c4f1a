#pragma once
#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "graven/base/status.h"
#include "graven/ir/container.h"
#include "graven/python/object.h"

namespace graven::python {

// The __name__ of the class of an object.
std::string class_name_of(PyObject* object);

// What kind of container an object is; none for other objects. Any Mapping counts as a dict.
std::optional<engine::ContainerKind> container_kind(PyObject* object);

// The names of the fields of a named tuple or attrs class: a tuple of str. An empty Object and an
// exception on failure.
Object field_names(PyTypeObject* type, engine::ContainerKind kind);

struct ContainerParts {
  engine::Ref<const engine::Container> container;
  std::vector<Object> items;
};
// The container that an object of this kind is, and its items.
engine::Result<ContainerParts> take_apart(PyObject* object, engine::ContainerKind kind);

// The items of an object in the places of a container's: by key, by name of a field or by position.
// None if the object has others.
std::optional<std::vector<Object>> items_in_places_of(const engine::Container& container,
                                                      PyObject* object);

// Makes a container of its items: `maker` is the class or function that is called; null makes a
// plain list, tuple or dict. An empty Object and an exception on failure.
Object put_together(const engine::Container& container, PyObject* maker, std::vector<Object> items);

}  // namespace graven::python
