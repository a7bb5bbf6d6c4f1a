#include "graven/python/value.h"

#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/opaque.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::Literal;
using engine::make_ref;
using engine::Ref;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::type_error;
using engine::Value;

bool has_attribute(PyObject* object, const char* name) {
  Object found = Object::take(run_python<PyObject_GetAttrString>(object, name));
  if (!found) PyErr_Clear();
  return static_cast<bool>(found);
}

// Empty, with no exception left, for a text that could not be made or that UTF-8 has no bytes for.
std::string utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (!data) {
    PyErr_Clear();
    return {};
  }
  return std::string(data, size);
}

std::string class_name_of(PyObject* object) {
  Object name = Object::take(
      run_python<PyObject_GetAttrString>(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  if (!name) PyErr_Clear();
  return name ? utf8(name.get()) : "object";
}

Ref<engine::Opaque> class_of(PyObject* object) {
  return make_ref<StrongOpaque>(reinterpret_cast<PyObject*>(Py_TYPE(object)));
}

// Literals of the kinds that the engine knows by value; false for other objects.
bool known_literal(PyObject* object, Literal& literal) {
  if (object == Py_None) {
    literal = engine::None();
  } else if (PyBool_Check(object)) {
    literal = object == Py_True;
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) return false;
    literal = static_cast<int64_t>(number);
  } else if (PyFloat_CheckExact(object)) {
    literal = PyFloat_AS_DOUBLE(object);
  } else if (PyUnicode_Check(object)) {
    literal = utf8(object);
  } else if (PyBytes_CheckExact(object)) {
    literal = engine::Bytes{
        std::string(PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)))};
  } else if (PyComplex_CheckExact(object)) {
    Py_complex z = PyComplex_AsCComplex(object);
    literal = std::complex<double>(z.real, z.imag);
  } else {
    return false;
  }
  return true;
}

Result<Literal> to_literal(PyObject* object) {
  Literal literal;
  if (known_literal(object, literal)) return literal;
  if (run_python<PyObject_Hash>(object) == -1) return pending_exception();
  return Literal(Ref<engine::Opaque>(make_ref<StrongOpaque>(object)));
}

// Applies `convert` to the parts of a container and puts them together as a Value.
template <typename Convert>
Result<Value> container_to_value(PyObject* object, ContainerKind kind, Convert&& convert) {
  Value value;
  auto add = [&](PyObject* item) -> Status {
    ASSIGN_OR_RETURN(Value part, convert(item));
    value.items.push_back(std::move(part));
    return {};
  };
  switch (kind) {
    case ContainerKind::kList:
    case ContainerKind::kTuple:
    case ContainerKind::kNamedTuple: {
      value.kind = kind == ContainerKind::kList    ? Value::Kind::kList
                   : kind == ContainerKind::kTuple ? Value::Kind::kTuple
                                                   : Value::Kind::kNamedTuple;
      Object items = Object::take(run_python<PySequence_Fast>(object, "a sequence"));
      if (!items) return pending_exception();
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
        Object item = Object::borrow(PySequence_Fast_GET_ITEM(items.get(), i));
        RETURN_IF_ERROR(add(item.get()));
      }
      break;
    }
    case ContainerKind::kAttrs:
      value.kind = Value::Kind::kAttrs;
      break;
    default: {
      value.kind = Value::Kind::kDict;
      value.object = class_of(object);
      Object items = Object::take(run_python<PyMapping_Items>(object));
      if (!items) return pending_exception();
      // Keys of kinds that the engine cannot order come in Python's order.
      bool is_sorted_here = false;
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
        PyObject* pair = PyList_GET_ITEM(items.get(), i);
        Literal key;
        is_sorted_here |= !known_literal(PyTuple_GET_ITEM(pair, 0), key) ||
                          std::holds_alternative<std::complex<double>>(key);
      }
      if (is_sorted_here) {
        Object keys = Object::take(run_python<PyMapping_Keys>(object));
        if (!keys || run_python<PyList_Sort>(keys.get()) < 0) return pending_exception();
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
          PyObject* key = PyList_GET_ITEM(keys.get(), i);
          ASSIGN_OR_RETURN(Literal literal, to_literal(key));
          value.keys.push_back(std::move(literal));
          Object item = Object::take(run_python<PyObject_GetItem>(object, key));
          if (!item) return pending_exception();
          RETURN_IF_ERROR(add(item.get()));
        }
        return value;
      }
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
        PyObject* pair = PyList_GET_ITEM(items.get(), i);
        ASSIGN_OR_RETURN(Literal key, to_literal(PyTuple_GET_ITEM(pair, 0)));
        value.keys.push_back(std::move(key));
        RETURN_IF_ERROR(add(PyTuple_GET_ITEM(pair, 1)));
      }
      // Keys that cannot be sorted are refused here, as a TypeError.
      return engine::sorted_key_order(value.keys).ok()
                 ? Result<Value>(std::move(value))
                 : Result<Value>(engine::sorted_key_order(value.keys).status());
    }
  }
  if (kind == ContainerKind::kNamedTuple || kind == ContainerKind::kAttrs) {
    value.object = class_of(object);
    value.class_name = class_name_of(object);
    Object names = field_names(Py_TYPE(object), kind);
    if (!names) return pending_exception();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
      PyObject* name = PyTuple_GET_ITEM(names.get(), i);
      value.names.push_back(utf8(name));
      if (kind == ContainerKind::kNamedTuple) continue;
      Object item = Object::take(run_python<PyObject_GetAttr>(object, name));
      if (!item) return pending_exception();
      RETURN_IF_ERROR(add(item.get()));
    }
  }
  return value;
}

// An object with the nest protocol: the parts that it names, and for an argument also its other
// contents, which are compared by value. The function that builds it again replaces the class. The
// class's address is part of the type: classes of one name are not equal.
template <typename Convert>
Result<Value> nested_to_value(PyObject* object, bool is_argument, Convert&& convert) {
  PyTypeObject* type = Py_TYPE(object);
  Object flat = Object::take(run_python<PyObject_CallMethod>(object, "__tf_flatten__", nullptr));
  if (!flat) return pending_exception();
  if (!PyTuple_Check(flat.get()) || PyTuple_GET_SIZE(flat.get()) != 2) {
    return type_error("__tf_flatten__ of ", type->tp_name, " must return (metadata, components)");
  }
  PyObject* metadata = PyTuple_GET_ITEM(flat.get(), 0);
  Object parts = Object::take(run_python<PySequence_Tuple>(PyTuple_GET_ITEM(flat.get(), 1)));
  if (!parts) return pending_exception();
  Value value;
  value.kind = Value::Kind::kAttrs;
  value.class_name = class_name_of(object);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.get()); ++i) {
    ASSIGN_OR_RETURN(Value part, convert(PyTuple_GET_ITEM(parts.get(), i)));
    value.items.push_back(std::move(part));
    value.names.push_back(engine::str_cat(i));
  }
  if (is_argument) {
    ASSIGN_OR_RETURN(Value part, to_value(metadata, /*allow_specs=*/true));
    value.items.push_back(std::move(part));
    value.names.push_back(
        engine::str_cat("metadata of class at ", reinterpret_cast<uintptr_t>(type)));
  }
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._trace_types"));
  Object rebuild =
      module ? Object::take(run_python<PyObject_CallMethod>(
                   module.get(), is_argument ? "Rebuild" : "RebuildWith", "OO", type, metadata))
             : Object();
  if (!rebuild) return pending_exception();
  value.object = make_ref<StrongOpaque>(rebuild.get());
  return value;
}

Value variable_to_value(PyObject* object) {
  Value value;
  value.kind = Value::Kind::kVariable;
  VariableObject* variable = variable_of(object);
  value.tensor = variable->handle;
  value.object = make_ref<StrongOpaque>(object);
  const engine::Variable& v = *variable->variable();
  value.type = make_ref<engine::VariableType>(v.shape(), v.dtype(), v.is_trainable(), 0, Value());
  return value;
}

}  // namespace

ContainerKind container_kind(PyObject* object) {
  if (PyList_Check(object)) return ContainerKind::kList;
  if (PyTuple_Check(object)) {
    if (PyTuple_CheckExact(object)) return ContainerKind::kTuple;
    return has_attribute(reinterpret_cast<PyObject*>(Py_TYPE(object)), "_fields")
               ? ContainerKind::kNamedTuple
               : ContainerKind::kTuple;
  }
  if (PyDict_Check(object)) return ContainerKind::kDict;
  if (has_attribute(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__attrs_attrs__")) {
    return ContainerKind::kAttrs;
  }
  static constinit Imported mapping("collections.abc", "Mapping");
  if (mapping.get() && run_python<PyObject_IsInstance>(object, mapping.get()) == 1) {
    return ContainerKind::kMapping;
  }
  PyErr_Clear();
  return ContainerKind::kNone;
}

bool is_nested(PyObject* object) {
  return !PyType_Check(object) && has_attribute(object, "__tf_flatten__");
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

Result<Value> to_value(PyObject* object, bool allow_specs) {
  RecursionLevel level(" while the arguments of a function are read");
  if (!level.ok()) return pending_exception();
  if (is_tensor(object)) return Value::of_tensor(operand_of(object));
  if (is_variable(object)) return variable_to_value(object);
  if (engine::TraceTypeRef type = trace_type_of_object(object)) {
    if (allow_specs) return Value::of_type(std::move(type));
    return engine::value_error("A call needs values; ", type->repr(),
                               " is a type, which only get_concrete_function takes");
  }
  Literal literal;
  if (known_literal(object, literal)) {
    Value value = Value::of_literal(std::move(literal));
    value.object = make_ref<StrongOpaque>(object);
    return value;
  }
  if (!PyType_Check(object)) {
    ASSIGN_OR_RETURN(engine::TraceTypeRef own, own_trace_type(object));
    if (own) {
      Value value;
      value.kind = Value::Kind::kTyped;
      value.object = make_ref<StrongOpaque>(object);
      RETURN_IF_ERROR(tensors_of_foreign(*own, object, value.items));
      value.type = std::move(own);
      return value;
    }
  }
  if (PyWeakref_CheckRef(object)) {
    return type_error("weakref ", utf8(Object::take(run_python<PyObject_Repr>(object)).get()),
                      " not supported for Tracing.");
  }
  if (!PyType_Check(object)) {
    Object wrapped = Object::take(run_python<PyObject_GetAttrString>(object, "__wrapped__"));
    if (wrapped) return to_value(wrapped.get(), allow_specs);
    PyErr_Clear();
  }
  if (ContainerKind kind = container_kind(object); kind != ContainerKind::kNone) {
    return container_to_value(object, kind,
                              [&](PyObject* item) { return to_value(item, allow_specs); });
  }
  if (is_array_like(object)) {
    ASSIGN_OR_RETURN(Tensor tensor, to_tensor(object));
    return Value::of_tensor(std::move(tensor));
  }
  if (is_nested(object)) {
    return nested_to_value(object, /*is_argument=*/true,
                           [&](PyObject* item) { return to_value(item, allow_specs); });
  }
  bool is_weakly_referenceable = PyType_SUPPORTS_WEAKREFS(Py_TYPE(object));
  if (run_python<PyObject_Hash>(object) == -1) {
    PyErr_Clear();
    return type_error("Could not generate a generic TraceType for ",
                      utf8(Object::take(run_python<PyObject_Repr>(object)).get()),
                      ". Please verify that it is immutable/hashable. Otherwise, consider "
                      "implementing the Python `tf.types.experimental.SupportsTracingProtocol` "
                      "protocol.");
  }
  if (is_weakly_referenceable) {
    Value value;
    value.kind = Value::Kind::kObject;
    ASSIGN_OR_RETURN(value.object, WeakOpaque::create(object));
    return value;
  }
  return Value::of_literal(Ref<engine::Opaque>(make_ref<StrongOpaque>(object)));
}

Result<Value> result_to_value(PyObject* object, PyObject* function) {
  RecursionLevel level(" while the result of a function is read");
  if (!level.ok()) return pending_exception();
  if (object == Py_None) return Value::of_literal(engine::None());
  if (is_tensor(object)) return Value::of_tensor(operand_of(object));
  if (is_variable(object)) {
    ASSIGN_OR_RETURN(Tensor value, read_variable(variable_of(object)));
    return Value::of_tensor(std::move(value));
  }
  if (!PyType_Check(object)) {
    Object wrapped = Object::take(run_python<PyObject_GetAttrString>(object, "__wrapped__"));
    if (wrapped && container_kind(wrapped.get()) != ContainerKind::kNone) {
      return result_to_value(wrapped.get(), function);
    }
    PyErr_Clear();
  }
  if (ContainerKind kind = container_kind(object); kind != ContainerKind::kNone) {
    return container_to_value(object, kind,
                              [&](PyObject* item) { return result_to_value(item, function); });
  }
  ASSIGN_OR_RETURN(bool is_composite, is_composite_tensor(object));
  if (is_composite) return composite_to_value(object);
  if (is_nested(object)) {
    return nested_to_value(object, /*is_argument=*/false,
                           [&](PyObject* item) { return result_to_value(item, function); });
  }
  auto tensor = to_tensor(object);
  if (tensor.ok()) return Value::of_tensor(std::move(*tensor));
  Object name = Object::take(run_python<PyObject_Repr>(function)),
         type =
             Object::take(run_python<PyObject_Repr>(reinterpret_cast<PyObject*>(Py_TYPE(object))));
  PyErr_Clear();
  return type_error(
      "To be compatible with tf.function, Python functions must return zero or more "
      "Tensors or ExtensionTypes or None values; in compilation of ",
      name ? utf8(name.get()) : "the function", ", found return value of type ",
      type ? utf8(type.get()) : "?", ", which is not a Tensor or ExtensionType.");
}

namespace {

// The object behind a handle, which its owner may have let go.
Object object_or_error(const engine::Opaque& opaque) {
  Object object = object_of(opaque);
  if (!object && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_RuntimeError,
                    "An object that a trace needs is gone, because the tf.function that made the "
                    "trace is gone: keep that alive");
  }
  return object;
}

}  // namespace

Object literal_to_python(const Literal& literal) {
  if (const auto* v = std::get_if<bool>(&literal)) return Object::borrow(*v ? Py_True : Py_False);
  if (const auto* v = std::get_if<int64_t>(&literal)) {
    return Object::take(PyLong_FromLongLong(*v));
  }
  if (const auto* v = std::get_if<double>(&literal)) return Object::take(PyFloat_FromDouble(*v));
  if (const auto* v = std::get_if<std::complex<double>>(&literal)) {
    return Object::take(PyComplex_FromDoubles(v->real(), v->imag()));
  }
  if (const auto* v = std::get_if<std::string>(&literal)) {
    return Object::take(PyUnicode_FromStringAndSize(v->data(), static_cast<Py_ssize_t>(v->size())));
  }
  if (const auto* v = std::get_if<engine::Bytes>(&literal)) {
    return Object::take(
        PyBytes_FromStringAndSize(v->data.data(), static_cast<Py_ssize_t>(v->data.size())));
  }
  if (const auto* v = std::get_if<Ref<engine::Opaque>>(&literal)) {
    Object object = object_or_error(**v);
    // The body sees a range as a list.
    if (object && PyRange_Check(object.get()))
      return Object::take(run_python<PySequence_List>(object.get()));
    return object;
  }
  return Object::borrow(Py_None);
}

namespace {

// The container of a value around its finished parts.
Object assemble(const Value& value, std::vector<Object> items) {
  size_t n = items.size();
  switch (value.kind) {
    case Value::Kind::kList: {
      Object list = Object::take(PyList_New(static_cast<Py_ssize_t>(n)));
      for (size_t i = 0; list && i < n; ++i) PyList_SET_ITEM(list.get(), i, items[i].release());
      return list;
    }
    case Value::Kind::kTuple:
    case Value::Kind::kNamedTuple:
    case Value::Kind::kAttrs: {
      Object tuple = Object::take(PyTuple_New(static_cast<Py_ssize_t>(n)));
      for (size_t i = 0; tuple && i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, items[i].release());
      if (!tuple || value.kind == Value::Kind::kTuple) return tuple;
      Object klass = object_or_error(*value.object);
      return klass ? Object::take(run_python<PyObject_CallObject>(klass.get(), tuple.get()))
                   : Object();
    }
    case Value::Kind::kDict: {
      Object klass = value.object ? object_or_error(*value.object) : Object();
      if (value.object && !klass) return {};
      bool is_plain = !klass || klass.get() == reinterpret_cast<PyObject*>(&PyDict_Type) ||
                      has_attribute(klass.get(), "default_factory");
      if (is_plain) {
        Object dict = Object::take(PyDict_New());
        for (size_t i = 0; dict && i < n; ++i) {
          Object key = literal_to_python(value.keys[i]);
          if (!key || PyDict_SetItem(dict.get(), key.get(), items[i].get()) < 0) return {};
        }
        return dict;
      }
      Object pairs = Object::take(PyList_New(0));
      for (size_t i = 0; pairs && i < n; ++i) {
        Object key = literal_to_python(value.keys[i]);
        Object pair = key ? Object::take(PyTuple_Pack(2, key.get(), items[i].get())) : Object();
        if (!pair || PyList_Append(pairs.get(), pair.get()) < 0) return {};
      }
      return pairs ? Object::take(run_python<PyObject_CallOneArg>(klass.get(), pairs.get()))
                   : Object();
    }
    default:
      PyErr_SetString(PyExc_SystemError, "not a container");
      return {};
  }
}

template <typename Part>
Object container_to_python(const Value& value, Part&& part) {
  std::vector<Object> items(value.items.size());
  std::vector<int> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  if (value.kind == Value::Kind::kDict) {
    if (auto sorted = engine::sorted_key_order(value.keys); sorted.ok()) order = *sorted;
  }
  for (int i : order) {
    items[i] = part(value.items[i]);
    if (!items[i]) return {};
  }
  return assemble(value, std::move(items));
}

}  // namespace

Object to_python(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kTensor:
      return Object::take(wrap(value.tensor));
    case Value::Kind::kLiteral:
      return value.object ? object_or_error(*value.object) : literal_to_python(value.literal);
    case Value::Kind::kVariable:
    case Value::Kind::kObject: {
      Object object = object_of(*value.object);
      return object ? object : Object::borrow(Py_None);
    }
    case Value::Kind::kTyped: {
      if (value.items.empty() && value.object) return object_or_error(*value.object);
      engine::Tensors none;
      size_t next = 0;
      for (const Value& item : value.items) none.push_back(item.tensor);
      return foreign_to_python(value, none, next);
    }
    default:
      return container_to_python(value, [](const Value& item) { return to_python(item); });
  }
}

Object to_python(const Value& value, const engine::Tensors& tensors, size_t& next) {
  switch (value.kind) {
    case Value::Kind::kTensor:
      return Object::take(wrap(tensors[next++]));
    case Value::Kind::kTyped:
      return foreign_to_python(value, tensors, next);
    case Value::Kind::kLiteral:
    case Value::Kind::kVariable:
    case Value::Kind::kObject:
      return to_python(value);
    default:
      return container_to_python(value,
                                 [&](const Value& item) { return to_python(item, tensors, next); });
  }
}

}  // namespace graven::python
