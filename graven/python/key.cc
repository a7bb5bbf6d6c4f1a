#include "graven/python/key.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "graven/python/convert.h"
#include "graven/python/numpy.h"
#include "graven/python/object.h"
#include "graven/python/opaque.h"
#include "graven/python/tensor_object.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

// Containers in containers that a row can tell. What holds itself has no end.
constexpr int kMaxDepth = 64;

// Tags of the elements of a row.
enum Tag : uint64_t {
  kTensor = 1,
  kVariable,
  kNone,
  kString,
  kBytes,
  kInteger,
  kFloat,
  kBool,
  kComplex,
  kList,
  kTuple,
  kNamedTuple,
  kDict,
  kAttrs,
  kObject,
};

// What objects of a class are, as far as the class alone tells. Kept per class; a class that dies
// is forgotten by its weak reference.
enum class Category : uint8_t { kLongWay, kObject, kArray, kNamedTuple, kAttrs, kInteger, kString };

std::unordered_map<PyTypeObject*, Category>& categories() {
  static auto* map = new std::unordered_map<PyTypeObject*, Category>();
  return *map;
}

PyObject* forget_class(PyObject* address, PyObject* reference) {
  categories().erase(static_cast<PyTypeObject*>(PyLong_AsVoidPtr(address)));
  Py_DECREF(reference);  // nobody else owned it
  Py_RETURN_NONE;
}
PyMethodDef forget_class_method = {"forget_class", forget_class, METH_O, nullptr};

bool class_has(PyTypeObject* type, const char* name) {
  PyObject* found = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name);
  if (!found) PyErr_Clear();
  Py_XDECREF(found);
  return found != nullptr;
}

Category find_category(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_Check(object)) return Category::kObject;
  if (class_has(type, "__tf_tracing_type__") || class_has(type, "__wrapped__") ||
      class_has(type, "__tf_flatten__") || PyWeakref_CheckRef(object)) {
    return Category::kLongWay;
  }
  if (PyLong_Check(object)) return Category::kInteger;
  if (PyUnicode_Check(object)) return Category::kString;
  switch (container_kind(object)) {
    case ContainerKind::kNamedTuple:
      return Category::kNamedTuple;
    case ContainerKind::kAttrs:
      return Category::kAttrs;
    case ContainerKind::kNone:
      break;
    default:
      return Category::kLongWay;
  }
  if (is_array_like(object)) return Category::kArray;
  // Unhashable objects are refused, which the long way does.
  if (type->tp_hash == PyObject_HashNotImplemented) return Category::kLongWay;
  // A value that cannot be weakly referenced may share a trace with an equal one.
  if (!PyType_SUPPORTS_WEAKREFS(type)) return Category::kLongWay;
  return Category::kObject;
}

// runs_code is set where the class is looked at for the first time and has a class of its own,
// whose methods may run then.
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

void clear_class_cache() { categories().clear(); }

bool KeyBuilder::add(PyObject* argument) {
  PyTypeObject* type = Py_TYPE(argument);
  if (type == eager_tensor_type || type == symbolic_tensor_type) {
    add_tensor(tensor_of(argument));
    return true;
  }
  if (type == &PyBool_Type) {
    words_.push_back(equal_as_numbers_ ? kInteger : kBool);
    words_.push_back(argument == Py_True);
    return true;
  }
  if (type == &PyLong_Type) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
    if (overflow) return false;
    words_.push_back(kInteger);
    words_.push_back(static_cast<uint64_t>(value));
    return true;
  }
  if (type == &PyFloat_Type) {
    add_number(PyFloat_AS_DOUBLE(argument));
    return true;
  }
  if (argument == Py_None) {
    words_.push_back(kNone);
    return true;
  }
  if (type == &PyUnicode_Type) {
    add_text(kString, argument);
    return true;
  }
  if (is_variable(argument)) {
    add_variable(argument);
    return true;
  }
  if (type == &PyBytes_Type) {
    add_bytes(kBytes, PyBytes_AS_STRING(argument), PyBytes_GET_SIZE(argument));
    return true;
  }
  if (type == &PyComplex_Type) {
    Py_complex z = PyComplex_AsCComplex(argument);
    if (equal_as_numbers_ && (z.imag == 0 || std::isnan(z.imag) || std::isnan(z.real))) {
      add_number(std::isnan(z.imag) ? z.imag : z.real);
      return true;
    }
    words_.push_back(kComplex);
    words_.push_back(std::bit_cast<uint64_t>(z.real + 0.0));
    words_.push_back(std::bit_cast<uint64_t>(z.imag + 0.0));
    return true;
  }
  return add_nested(argument);
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

void KeyBuilder::add_tensor(const engine::Tensor& tensor) {
  const engine::Shape& shape = tensor.shape();
  uint64_t rank = shape.has_rank() ? static_cast<uint64_t>(shape.rank()) : 255;
  words_.push_back(kTensor | static_cast<uint64_t>(tensor.dtype()) << 8 | rank << 16);
  for (engine::Dim dim : shape.dims()) {
    words_.push_back(static_cast<uint64_t>(dim.number_or_minus_one()));
  }
  tensors_.push_back(tensor);
}

void KeyBuilder::add_variable(PyObject* object) {
  VariableObject* variable = variable_of(object);
  const engine::Variable* resource = variable->variable();
  auto* at = std::find(variables_.begin(), variables_.end(), resource);
  uint64_t alias = at - variables_.begin();
  if (at == variables_.end()) {
    variables_.push_back(resource);
    tensors_.push_back(variable->handle);
  }
  const engine::Shape& shape = resource->shape();
  uint64_t rank = shape.has_rank() ? static_cast<uint64_t>(shape.rank()) : 255;
  words_.push_back(kVariable | static_cast<uint64_t>(resource->dtype()) << 8 | rank << 16 |
                   static_cast<uint64_t>(resource->is_trainable()) << 24 | alias << 32);
  for (engine::Dim dim : shape.dims()) {
    words_.push_back(static_cast<uint64_t>(dim.number_or_minus_one()));
  }
}

void KeyBuilder::add_number(double value) {
  if (std::isnan(value)) {
    words_.push_back(kFloat);
    words_.push_back(std::bit_cast<uint64_t>(std::nan("")));
    return;
  }
  if (equal_as_numbers_ && std::abs(value) < 0x1p53 && value == std::trunc(value)) {
    words_.push_back(kInteger);
    words_.push_back(static_cast<uint64_t>(static_cast<int64_t>(value)));
    return;
  }
  words_.push_back(kFloat);
  words_.push_back(std::bit_cast<uint64_t>(value));
}

void KeyBuilder::add_text(uint64_t tag, PyObject* text) {
  // The internal form: kind of characters, length, characters.
  auto kind = static_cast<uint64_t>(PyUnicode_KIND(text));
  size_t size = static_cast<size_t>(PyUnicode_GET_LENGTH(text)) * kind;
  add_bytes(tag | kind << 8, static_cast<const char*>(PyUnicode_DATA(text)), size);
}

void KeyBuilder::add_bytes(uint64_t tag, const char* data, size_t size) {
  words_.push_back(tag | static_cast<uint64_t>(size) << 16);
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data + i, std::min<size_t>(8, size - i));
    words_.push_back(word);
  }
}

void KeyBuilder::add_object(PyObject* object) {
  words_.push_back(reinterpret_cast<uintptr_t>(object));
  objects_.push_back(Object::borrow(object));
}

bool KeyBuilder::add_list(PyObject* list) {
  Py_ssize_t n = PyList_GET_SIZE(list);
  words_.push_back(kList | static_cast<uint64_t>(n) << 8);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    Object item = Object::borrow(PyList_GET_ITEM(list, i));
    if (!add(item.get())) return false;
  }
  return PyList_GET_SIZE(list) == n;
}

bool KeyBuilder::add_tuple(PyObject* tuple) {
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  words_.push_back(kTuple | static_cast<uint64_t>(n) << 8);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!add(PyTuple_GET_ITEM(tuple, i))) return false;
  }
  return true;
}

bool KeyBuilder::add_dict(PyObject* dict) {
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
  words_.push_back(kDict | static_cast<uint64_t>(items.size()) << 8);
  for (const Item& item : items) {
    add_text(kString, item.key.get());
    if (!add(item.value.get())) return false;
  }
  return true;
}

bool KeyBuilder::add_other(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  switch (category_of(object, has_run_user_code_)) {
    case Category::kObject:
      words_.push_back(kObject);
      add_object(object);
      return true;
    case Category::kArray: {
      has_run_user_code_ |= !is_numpy(object);
      auto tensor = to_tensor(object);
      if (!tensor.ok()) return false;
      add_tensor(*tensor);
      return true;
    }
    case Category::kNamedTuple:
      words_.push_back(kNamedTuple);
      add_object(type);
      return add_tuple(object);
    case Category::kAttrs: {
      words_.push_back(kAttrs);
      add_object(type);
      has_run_user_code_ |= Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr;
      Object names = field_names(Py_TYPE(object), ContainerKind::kAttrs);
      for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names.get()); ++i) {
        Object item = Object::take(PyObject_GetAttr(object, PyTuple_GET_ITEM(names.get(), i)));
        if (!item) {
          PyErr_Clear();
          return false;
        }
        // The row keeps no reference; an attribute that is computed anew is not for rows.
        if (Py_REFCNT(item.get()) < 2 || !add(item.get())) return false;
      }
      if (!names) PyErr_Clear();
      return static_cast<bool>(names);
    }
    case Category::kInteger: {
      if (!equal_as_numbers_) return false;
      int overflow = 0;
      long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow) return false;
      words_.push_back(kInteger);
      words_.push_back(static_cast<uint64_t>(value));
      return true;
    }
    case Category::kString:
      if (!equal_as_numbers_) return false;
      add_text(kString, object);
      return true;
    case Category::kLongWay:
      return false;
  }
  return false;
}

}  // namespace graven::python
