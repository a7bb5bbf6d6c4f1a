#include "graven/python/container.h"

#include <string>
#include <utility>

#include "graven/python/errors.h"
#include "graven/python/literal.h"
#include "graven/python/opaque.h"

namespace graven::python {
namespace {

using engine::Container;
using engine::ContainerKind;
using engine::Literal;
using engine::make_ref;
using engine::Ref;
using engine::Result;

Ref<engine::Opaque> class_of(PyObject* object) {
  return make_ref<StrongOpaque>(reinterpret_cast<PyObject*>(Py_TYPE(object)));
}

std::vector<Object> objects_of(PyObject* tuple) {
  std::vector<Object> objects;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    objects.push_back(Object::borrow(PyTuple_GET_ITEM(tuple, i)));
  }
  return objects;
}

// The engine sorts keys of its own kinds. A dict with others goes in the order in which Python
// sorts its keys.
bool is_sorted_by_python(PyObject* keys) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); ++i) {
    Literal key;
    if (!known_literal(PyList_GET_ITEM(keys, i), key)) return true;
    if (std::holds_alternative<std::complex<double>>(key)) return true;
  }
  return false;
}

constexpr const char* kNoPair = "items() of a mapping must give pairs of a key and an item";

Result<ContainerParts> take_mapping_apart(PyObject* object) {
  Object pairs = Object::take(run_python<PyMapping_Items>(object));
  if (!pairs) return pending_exception();
  Object keys = Object::take(PyList_New(0));
  std::vector<Object> items;
  for (Py_ssize_t i = 0; keys && i < PyList_GET_SIZE(pairs.get()); ++i) {
    Object pair = Object::borrow(PyList_GET_ITEM(pairs.get(), i));
    if (!PyTuple_CheckExact(pair.get())) pair = items_of(pair.get(), kNoPair);
    if (!pair) return pending_exception();
    if (PyTuple_GET_SIZE(pair.get()) != 2) return engine::type_error(kNoPair);
    if (PyList_Append(keys.get(), PyTuple_GET_ITEM(pair.get(), 0)) < 0) return pending_exception();
    items.push_back(Object::borrow(PyTuple_GET_ITEM(pair.get(), 1)));
  }
  if (!keys) return pending_exception();
  if (is_sorted_by_python(keys.get())) {
    if (run_python<PyList_Sort>(keys.get()) < 0) return pending_exception();
    for (size_t i = 0; i < items.size(); ++i) {
      PyObject* key = PyList_GET_ITEM(keys.get(), static_cast<Py_ssize_t>(i));
      items[i] = Object::take(run_python<PyObject_GetItem>(object, key));
      if (!items[i]) return pending_exception();
    }
  }
  std::vector<Literal> literals;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(Literal key,
                     to_literal(PyList_GET_ITEM(keys.get(), static_cast<Py_ssize_t>(i))));
    literals.push_back(std::move(key));
  }
  ASSIGN_OR_RETURN(Ref<const Container> dict,
                   Container::dict(std::move(literals), class_of(object)));
  return ContainerParts{std::move(dict), std::move(items)};
}

Object make_mapping(const Container& container, PyObject* maker, std::vector<Object> items) {
  const bool is_plain = !maker || maker == reinterpret_cast<PyObject*>(&PyDict_Type) ||
                        has_attribute(maker, "default_factory");
  Object made = Object::take(is_plain ? PyDict_New() : PyList_New(0));  // else a list of pairs
  for (size_t i = 0; made && i < items.size(); ++i) {
    Object key = literal_to_python(container.keys()[i]);
    if (!key) return {};
    if (is_plain) {
      if (PyDict_SetItem(made.get(), key.get(), items[i].get()) < 0) return {};
      continue;
    }
    Object pair = Object::take(PyTuple_Pack(2, key.get(), items[i].get()));
    if (!pair || PyList_Append(made.get(), pair.get()) < 0) return {};
  }
  if (!made || is_plain) return made;
  return Object::take(run_python<PyObject_CallOneArg>(maker, made.get()));
}

}  // namespace

std::string class_name_of(PyObject* object) {
  Object name = Object::take(
      run_python<PyObject_GetAttrString>(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  if (!name) PyErr_Clear();
  return name ? utf8(name.get()) : "object";
}

std::optional<ContainerKind> container_kind(PyObject* object) {
  if (PyList_Check(object)) return ContainerKind::kList;
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (PyTuple_Check(object)) {
    const bool is_named = !PyTuple_CheckExact(object) && has_attribute(type, "_fields");
    return is_named ? ContainerKind::kNamedTuple : ContainerKind::kTuple;
  }
  if (PyDict_Check(object)) return ContainerKind::kDict;
  if (has_attribute(type, "__attrs_attrs__")) return ContainerKind::kAttrs;
  static constinit Imported mapping("collections.abc", "Mapping");
  if (mapping.get() && run_python<PyObject_IsInstance>(object, mapping.get()) == 1) {
    return ContainerKind::kDict;
  }
  PyErr_Clear();
  return std::nullopt;
}

Object field_names(PyTypeObject* type, ContainerKind kind) {
  auto* klass = reinterpret_cast<PyObject*>(type);
  if (kind == ContainerKind::kNamedTuple) {
    Object fields = Object::take(run_python<PyObject_GetAttrString>(klass, "_fields"));
    return fields ? Object::take(run_python<PySequence_Tuple>(fields.get())) : fields;
  }
  Object attributes = Object::take(run_python<PyObject_GetAttrString>(klass, "__attrs_attrs__"));
  if (!attributes) return {};
  Object list = Object::take(run_python<PySequence_Fast>(attributes.get(), "__attrs_attrs__"));
  if (!list) return {};
  Py_ssize_t n = PySequence_Fast_GET_SIZE(list.get());
  Object names = Object::take(PyTuple_New(n));
  for (Py_ssize_t i = 0; names && i < n; ++i) {
    PyObject* name =
        run_python<PyObject_GetAttrString>(PySequence_Fast_GET_ITEM(list.get(), i), "name");
    if (!name) return {};
    PyTuple_SET_ITEM(names.get(), i, name);
  }
  return names;
}

Result<ContainerParts> take_apart(PyObject* object, ContainerKind kind) {
  if (kind == ContainerKind::kDict) return take_mapping_apart(object);
  ContainerParts parts;
  if (kind != ContainerKind::kAttrs) {
    Object items = items_of(object, "a sequence");
    if (!items) return pending_exception();
    parts.items = objects_of(items.get());
  }
  if (kind == ContainerKind::kList || kind == ContainerKind::kTuple) {
    parts.container = kind == ContainerKind::kList ? Container::list() : Container::tuple();
    return parts;
  }
  Object names = field_names(Py_TYPE(object), kind);
  if (!names) return pending_exception();
  std::vector<Literal> literals;
  for (const Object& name : objects_of(names.get())) {
    literals.push_back(utf8(name.get()));
    if (kind == ContainerKind::kNamedTuple) continue;
    parts.items.push_back(Object::take(run_python<PyObject_GetAttr>(object, name.get())));
    if (!parts.items.back()) return pending_exception();
  }
  parts.container =
      Container::of_fields(kind, class_name_of(object), std::move(literals), class_of(object));
  return parts;
}

std::optional<std::vector<Object>> items_in_places_of(const Container& container,
                                                      PyObject* object) {
  std::vector<Object> items;
  const bool is_by_position = !container.is_mapping() && container.keys().empty();
  if (is_by_position) {
    if (Object all = items_of(object, "a sequence")) return objects_of(all.get());
    PyErr_Clear();
    return std::nullopt;
  }
  const auto num_keys = static_cast<Py_ssize_t>(container.keys().size());
  if (container.is_mapping() && run_python<PyMapping_Size>(object) != num_keys) return std::nullopt;
  for (const Literal& literal : container.keys()) {
    Object key = literal_to_python(literal);
    if (key) {
      items.push_back(Object::take(container.is_mapping()
                                       ? run_python<PyObject_GetItem>(object, key.get())
                                       : run_python<PyObject_GetAttr>(object, key.get())));
    }
    if (!key || !items.back()) {
      PyErr_Clear();
      return std::nullopt;
    }
  }
  return items;
}

Object put_together(const Container& container, PyObject* maker, std::vector<Object> items) {
  if (container.is_mapping()) return make_mapping(container, maker, std::move(items));
  const auto size = static_cast<Py_ssize_t>(items.size());
  if (container.kind() == ContainerKind::kList) {
    Object list = Object::take(PyList_New(size));
    for (Py_ssize_t i = 0; list && i < size; ++i) {
      PyList_SET_ITEM(list.get(), i, items[i].release());
    }
    return list;
  }
  Object tuple = Object::take(PyTuple_New(size));
  for (Py_ssize_t i = 0; tuple && i < size; ++i) {
    PyTuple_SET_ITEM(tuple.get(), i, items[i].release());
  }
  if (!tuple || !maker) return tuple;
  return Object::take(run_python<PyObject_CallObject>(maker, tuple.get()));
}

}  // namespace graven::python
