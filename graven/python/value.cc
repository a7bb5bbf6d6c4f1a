#include "graven/python/value.h"

#include <optional>
#include <utility>
#include <vector>

#include "graven/base/strings.h"
#include "graven/python/container.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/function_object.h"
#include "graven/python/literal.h"
#include "graven/python/opaque.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::ContainerKind;
using engine::Literal;
using engine::make_ref;
using engine::Ref;
using engine::Result;
using engine::Tensor;
using engine::type_error;
using engine::Value;

// Applies `convert` to the items of a container.
template <typename Convert>
Result<Value> container_to_value(PyObject* object, ContainerKind kind, Convert&& convert) {
  ASSIGN_OR_RETURN(ContainerParts parts, take_apart(object, kind));
  std::vector<Value> items;
  for (const Object& item : parts.items) {
    ASSIGN_OR_RETURN(Value value, convert(item.get()));
    items.push_back(std::move(value));
  }
  return Value::of_container(std::move(parts.container), std::move(items));
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
  std::vector<Value> items;
  std::vector<Literal> names;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.get()); ++i) {
    ASSIGN_OR_RETURN(Value part, convert(PyTuple_GET_ITEM(parts.get(), i)));
    items.push_back(std::move(part));
    names.push_back(engine::str_cat(i));
  }
  if (is_argument) {
    ASSIGN_OR_RETURN(Value part, to_value(metadata, /*allow_specs=*/true));
    items.push_back(std::move(part));
    names.push_back(engine::str_cat("metadata of class at ", reinterpret_cast<uintptr_t>(type)));
  }
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._trace_types"));
  Object rebuild =
      module ? Object::take(run_python<PyObject_CallMethod>(
                   module.get(), is_argument ? "Rebuild" : "RebuildWith", "OO", type, metadata))
             : Object();
  if (!rebuild) return pending_exception();
  return Value::of_container(
      engine::Container::of_fields(ContainerKind::kAttrs, class_name_of(object), std::move(names),
                                   make_ref<StrongOpaque>(rebuild.get())),
      std::move(items));
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

// The error about a value whose hash has just failed, with that exception as its cause.
engine::Status no_generic_type(PyObject* object) {
  PyObject *type, *cause, *traceback;
  PyErr_Fetch(&type, &cause, &traceback);
  run_python<PyErr_NormalizeException>(&type, &cause, &traceback);
  if (cause && traceback) PyException_SetTraceback(cause, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  Object repr = Object::take(run_python<PyObject_Repr>(object));
  if (!repr) {
    PyErr_Clear();
    repr = Object::take(PyUnicode_FromFormat("an object of class %s, whose repr() fails",
                                             Py_TYPE(object)->tp_name));
  }
  raise(type_error("Could not generate a generic TraceType for ", utf8(repr.get()),
                   ". Please verify that it is immutable/hashable. Otherwise, consider "
                   "implementing the Python `tf.types.experimental.SupportsTracingProtocol` "
                   "protocol."));
  PyObject* error;
  PyErr_Fetch(&type, &error, &traceback);
  run_python<PyErr_NormalizeException>(&type, &error, &traceback);
  PyException_SetCause(error, cause);  // takes it over
  PyErr_Restore(type, error, traceback);
  return pending_exception();
}

}  // namespace

bool is_nested(PyObject* object) {
  return !PyType_Check(object) && has_attribute(object, "__tf_flatten__");
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
  // A Function stays one: what it wraps knows neither its options nor its instance.
  if (!PyType_Check(object) && !PyObject_TypeCheck(object, function_type)) {
    Object wrapped = Object::take(run_python<PyObject_GetAttrString>(object, "__wrapped__"));
    if (wrapped) return to_value(wrapped.get(), allow_specs);
    PyErr_Clear();
  }
  if (std::optional<ContainerKind> kind = container_kind(object)) {
    return container_to_value(object, *kind,
                              [&](PyObject* item) { return to_value(item, allow_specs); });
  }
  if (is_array_like(object)) {
    ASSIGN_OR_RETURN(Tensor tensor, to_tensor(object));
    Value value = Value::of_tensor(std::move(tensor));
    // An array is no tensor of the program's: its dtype is less binding, and some places refuse it.
    value.object = make_ref<StrongOpaque>(object);
    return value;
  }
  if (is_nested(object)) {
    return nested_to_value(object, /*is_argument=*/true,
                           [&](PyObject* item) { return to_value(item, allow_specs); });
  }
  bool is_weakly_referenceable = PyType_SUPPORTS_WEAKREFS(Py_TYPE(object));
  if (run_python<PyObject_Hash>(object) == -1) return no_generic_type(object);
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
    if (wrapped && container_kind(wrapped.get())) {
      return result_to_value(wrapped.get(), function);
    }
    PyErr_Clear();
  }
  if (std::optional<ContainerKind> kind = container_kind(object)) {
    return container_to_value(object, *kind,
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

template <typename Part>
Object container_to_python(const Value& value, Part&& part) {
  std::vector<Object> items(value.items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t at = value.container->position(i);
    items[at] = part(value.items[at]);
    if (!items[at]) return {};
  }
  const engine::Opaque* maker = value.container->maker().get();
  Object callable = maker ? object_or_error(*maker) : Object();
  if (maker && !callable) return {};
  return put_together(*value.container, callable.get(), std::move(items));
}

}  // namespace

Object to_python(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kTensor:
      return Object::take(wrap(value.tensor));
    case Value::Kind::kLiteral:
      return value.object ? object_or_error(*value.object) : literal_to_python(value.literal);
    case Value::Kind::kVariable:
      if (!value.object) return Object::take(variable_object(value.tensor));  // of C++
      [[fallthrough]];
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
    case Value::Kind::kContainer:
      return container_to_python(value, [](const Value& item) { return to_python(item); });
  }
  return {};
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
    case Value::Kind::kContainer:
      return container_to_python(value,
                                 [&](const Value& item) { return to_python(item, tensors, next); });
  }
  return {};
}

}  // namespace graven::python
