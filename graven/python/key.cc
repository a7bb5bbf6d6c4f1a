#include "graven/python/key.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "graven/ir/call_sizes.h"
#include "graven/python/container.h"
#include "graven/python/convert.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/opaque.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::ContainerKind;
using engine::KeyTag;

// The nesting of containers that a row can hold. A container that holds itself has no end.
constexpr int kMaxDepth = 64;

// The kind of objects of a class, as far as the class alone decides. Kept per class; a weak
// reference removes a class that dies.
enum class Category : uint8_t { kLongWay, kObject, kArray, kNamedTuple, kAttrs, kInteger, kString };

std::unordered_map<PyTypeObject*, Category>& categories() {
  static auto* map = new std::unordered_map<PyTypeObject*, Category>();
  return *map;
}

PyObject* forget_class(PyObject* address, PyObject* reference) {
  categories().erase(static_cast<PyTypeObject*>(PyLong_AsVoidPtr(address)));
  Py_DECREF(reference);  // it had no other owner
  Py_RETURN_NONE;
}
PyMethodDef forget_class_method = {"forget_class", forget_class, METH_O, nullptr};

Category find_category(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  auto class_has = [&](const char* name) {
    return has_attribute(reinterpret_cast<PyObject*>(type), name);
  };
  if (PyType_Check(object)) return Category::kObject;
  if (class_has("__tf_tracing_type__") || class_has("__wrapped__") || class_has("__tf_flatten__") ||
      PyWeakref_CheckRef(object)) {
    return Category::kLongWay;
  }
  if (PyLong_Check(object)) return Category::kInteger;
  if (PyUnicode_Check(object)) return Category::kString;
  if (std::optional<ContainerKind> kind = container_kind(object)) {
    if (*kind == ContainerKind::kNamedTuple) return Category::kNamedTuple;
    return *kind == ContainerKind::kAttrs ? Category::kAttrs : Category::kLongWay;
  }
  if (is_array_like(object)) return Category::kArray;
  // Unhashable objects are refused, which the long way does.
  if (type->tp_hash == PyObject_HashNotImplemented) return Category::kLongWay;
  // A value that cannot be weakly referenced may share a trace with an equal one.
  if (!PyType_SUPPORTS_WEAKREFS(type)) return Category::kLongWay;
  return Category::kObject;
}

// Sets runs_code if the class is looked at for the first time and has a class of its own, whose
// methods may run then.
Category category_of(PyObject* object, bool& runs_code) {
  PyTypeObject* type = Py_TYPE(object);
  auto& map = categories();
  if (auto at = map.find(type); at != map.end()) return at->second;
  runs_code |= Py_TYPE(type) != &PyType_Type;
  Category category = find_category(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
    Object address = Object::take(PyLong_FromVoidPtr(type));
    Object callback = Object::take(PyCFunction_New(&forget_class_method, address.get()));
    // The reference lives as long as the class; forget_class lets it go.
    if (!callback || !PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), callback.get())) {
      PyErr_Clear();
      return category;
    }
  }
  map.emplace(type, category);
  return category;
}

}  // namespace

bool KeyBuilder::add(PyObject* argument) {
  PyTypeObject* type = Py_TYPE(argument);
  if (type == eager_tensor_type || type == symbolic_tensor_type) {
    if (type == symbolic_tensor_type) engine::CallSizes::refresh(tensor_of(argument));
    key_.add_tensor(tensor_of(argument));
  } else if (type == &PyBool_Type) {
    key_.add_bool(argument == Py_True);
  } else if (type == &PyLong_Type) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
    if (overflow) return false;
    key_.add_integer(value);
  } else if (type == &PyFloat_Type) {
    key_.add_float(PyFloat_AS_DOUBLE(argument));
  } else if (argument == Py_None) {
    key_.add_none();
  } else if (type == &PyUnicode_Type) {
    return add_text(argument);
  } else if (is_variable(argument)) {
    add_variable(argument);
  } else if (type == &PyBytes_Type) {
    key_.add_bytes({PyBytes_AS_STRING(argument), static_cast<size_t>(PyBytes_GET_SIZE(argument))});
  } else if (type == &PyComplex_Type) {
    Py_complex z = PyComplex_AsCComplex(argument);
    key_.add_complex({z.real, z.imag});
  } else {
    return add_nested(argument);
  }
  return true;
}

bool KeyBuilder::add_nested(PyObject* argument) {
  if (depth_ >= kMaxDepth) return false;
  ++depth_;
  PyTypeObject* type = Py_TYPE(argument);
  bool is_added = type == &PyList_Type    ? add_list(argument)
                  : type == &PyTuple_Type ? add_tuple(argument)
                  : type == &PyDict_Type  ? add_dict(argument)
                                          : add_other(argument);
  --depth_;
  return is_added;
}

bool KeyBuilder::add_spec(const engine::TraceType& type) {
  if (type.kind() != engine::TraceType::Kind::kTensor) return false;
  const auto& spec = static_cast<const engine::TensorType&>(type);
  key_.add_spec(spec.dtype(), spec.shape(), spec.name().has_value());
  return true;
}

void KeyBuilder::add_variable(PyObject* object) {
  note_other("a variable, which a function may have captured too");
  VariableObject* variable = variable_of(object);
  const engine::Variable* resource = variable->variable();
  key_.add_variable(variable->handle, resource, resource->dtype(), resource->shape(),
                    resource->is_trainable());
}

bool KeyBuilder::add_text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (!utf8) {  // half of a surrogate pair
    PyErr_Clear();
    return false;
  }
  key_.add_text({utf8, static_cast<size_t>(size)});
  return true;
}

void KeyBuilder::add_address(PyObject* object) {
  key_.add_address(object);
  objects_.push_back(Object::borrow(object));
}

bool KeyBuilder::add_list(PyObject* list) {
  Py_ssize_t n = PyList_GET_SIZE(list);
  key_.begin(KeyTag::kList, static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    Object item = Object::borrow(PyList_GET_ITEM(list, i));
    if (!add(item.get())) return false;
  }
  return PyList_GET_SIZE(list) == n;
}

bool KeyBuilder::add_tuple(PyObject* tuple) {
  key_.begin(KeyTag::kTuple, static_cast<size_t>(PyTuple_GET_SIZE(tuple)));
  return add_items(tuple);
}

bool KeyBuilder::add_items(PyObject* tuple) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    if (!add(PyTuple_GET_ITEM(tuple, i))) return false;
  }
  return true;
}

bool KeyBuilder::add_dict(PyObject* dict) {
  note_other("a dict, whose order code may see");
  struct Item {
    Object key, value;
  };
  engine::InlineVector<Item, 16> items;
  Py_ssize_t at = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &at, &key, &value)) {
    if (!PyUnicode_CheckExact(key)) return false;
    items.push_back({Object::borrow(key), Object::borrow(value)});
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return PyUnicode_Compare(a.key.get(), b.key.get()) < 0;
  });
  key_.begin(KeyTag::kDict, items.size());
  for (const Item& item : items) {
    if (!add_text(item.key.get()) || !add(item.value.get())) return false;
  }
  return true;
}

bool KeyBuilder::add_attrs(PyObject* object) {
  has_run_user_code_ |= Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr;
  Object names = field_names(Py_TYPE(object), ContainerKind::kAttrs);
  if (!names) {
    PyErr_Clear();
    return false;
  }
  add_address(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  key_.begin(KeyTag::kAttrs, static_cast<size_t>(PyTuple_GET_SIZE(names.get())));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
    Object item =
        Object::take(run_python<PyObject_GetAttr>(object, PyTuple_GET_ITEM(names.get(), i)));
    if (!item) {
      PyErr_Clear();
      return false;
    }
    // The row keeps no reference; an attribute that is computed anew is not for rows.
    if (Py_REFCNT(item.get()) < 2 || !add(item.get())) return false;
  }
  return true;
}

bool KeyBuilder::add_other(PyObject* object) {
  if (functions_ && depth_ == 1 && functions_->takes(object)) {
    functions_->add(object, key_, objects_);
    return true;
  }
  if (has_specs_) {
    if (engine::TraceTypeRef type = trace_type_of_object(object)) return add_spec(*type);
  }
  const Category category = category_of(object, has_run_user_code_);
  if (category != Category::kArray) note_other("an object, or has functions in it");
  switch (category) {
    case Category::kObject:
      add_address(object);
      return true;
    case Category::kArray: {
      has_run_user_code_ |= !is_numpy(object);
      auto tensor = to_tensor(object);
      if (!tensor.ok()) return false;
      key_.add_tensor(*tensor);
      return true;
    }
    case Category::kNamedTuple:
      add_address(reinterpret_cast<PyObject*>(Py_TYPE(object)));
      key_.begin(KeyTag::kNamedTuple, static_cast<size_t>(PyTuple_GET_SIZE(object)));
      return add_items(object);
    case Category::kAttrs:
      return add_attrs(object);
    case Category::kInteger: {
      if (!key_.equal_as_numbers()) return false;
      int overflow = 0;
      long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow) return false;
      key_.add_integer(value);
      return true;
    }
    case Category::kString:
      return key_.equal_as_numbers() && add_text(object);
    case Category::kLongWay:
      return false;
  }
  return false;
}

}  // namespace graven::python
