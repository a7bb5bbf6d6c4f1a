#include "graven/python/cast.h"

#include "graven/ir/graph.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::ContainerType;
using engine::LiteralType;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::TensorType;
using engine::TraceType;
using engine::type_error;

std::string repr_of(PyObject* object) {
  Object repr = Object::take(run_python<PyObject_Repr>(object));
  const char* text = repr ? PyUnicode_AsUTF8(repr.get()) : nullptr;
  if (!text) PyErr_Clear();
  return text ? text : "the argument";
}

Status cannot_cast(const std::string& what, const TraceType& type) {
  return type_error("Can not cast ", what, " to ", type.repr());
}

Result<Object> cast_to_tensor(const TensorType& type, PyObject* object, bool allow_specs) {
  if (engine::TraceTypeRef spec = trace_type_of_object(object)) {
    if (!allow_specs) {
      return engine::value_error("A call needs values; ", spec->repr(),
                                 " is a type, which only get_concrete_function takes");
    }
    if (!spec->is_subtype_of(type)) return cannot_cast(spec->repr(), type);
    return type_to_python(engine::TraceTypeRef(&type));
  }
  if (!is_tensor(object)) {
    bool is_other_variable =
        is_variable(object) && variable_of(object)->variable()->dtype() != type.dtype();
    if (is_other_variable) return cannot_cast(repr_of(object), type);
    Result<Tensor> tensor =
        is_variable(object) ? read_variable(variable_of(object)) : to_tensor(object, type.dtype());
    if (!tensor.ok() && tensor.status().kind() == engine::ErrorKind::kKeyboardInterrupt) {
      return tensor.status();
    }
    if (!tensor.ok()) {
      return cannot_cast(repr_of(object), type).with_suffix(": " + tensor.status().message());
    }
    if (!engine::is_subshape(tensor->shape(), type.shape())) {
      return cannot_cast(TensorType(tensor->shape(), tensor->dtype()).repr(), type);
    }
    return Object::take(wrap(std::move(*tensor)));
  }
  const Tensor& tensor = tensor_of(object);
  bool fits = engine::is_subshape(tensor.shape(), type.shape());
  // In a graph a more general tensor is taken, and narrowed.
  bool can_be_narrowed = !fits && tensor.is_symbolic() &&
                         engine::are_compatible(tensor.shape(), type.shape()) &&
                         engine::is_subshape(type.shape(), tensor.shape());
  if (tensor.dtype() != type.dtype() || !(fits || can_be_narrowed)) {
    engine::TypingContext context;
    auto own = engine::type_of(engine::Value::of_tensor(tensor), context);
    return cannot_cast(own.ok() ? (*own)->repr() : repr_of(object), type);
  }
  if (can_be_narrowed) {
    Object shape = Object::take(wrap(type.shape()));
    if (!shape) return pending_exception();
    Object done =
        Object::take(run_python<PyObject_CallMethod>(object, "set_shape", "O", shape.get()));
    if (!done) return pending_exception();
  }
  return Object::borrow(object);
}

Result<Object> cast_to_container(const ContainerType& type, PyObject* object, bool allow_specs) {
  using Kind = TraceType::Kind;
  ContainerKind kind = is_tensor(object) ? ContainerKind::kNone : container_kind(object);
  auto mismatch = [&] { return cannot_cast(repr_of(object), type); };
  Kind wanted = type.kind();
  bool same_family =
      (wanted == Kind::kList && kind == ContainerKind::kList) ||
      (wanted == Kind::kTuple &&
       (kind == ContainerKind::kTuple || kind == ContainerKind::kNamedTuple)) ||
      (wanted == Kind::kNamedTuple && kind == ContainerKind::kNamedTuple) ||
      (wanted == Kind::kAttrs && kind == ContainerKind::kAttrs) ||
      (wanted == Kind::kDict && (kind == ContainerKind::kDict || kind == ContainerKind::kMapping));
  if (!same_family) return mismatch();

  if (wanted == Kind::kDict) {
    if (run_python<PyMapping_Size>(object) != static_cast<Py_ssize_t>(type.items().size()))
      return mismatch();
    Object copy = Object::take(PyDict_New());
    bool changed = false;
    for (size_t i = 0; i < type.items().size(); ++i) {
      Object key = literal_to_python(type.keys()[i]);
      Object item = key ? Object::take(run_python<PyObject_GetItem>(object, key.get())) : Object();
      if (!item) {
        PyErr_Clear();
        return mismatch();
      }
      ASSIGN_OR_RETURN(Object cast, cast_to(*type.items()[i], item.get(), allow_specs));
      changed |= cast.get() != item.get();
      if (PyDict_SetItem(copy.get(), key.get(), cast.get()) < 0) return pending_exception();
    }
    return changed ? copy : Object::borrow(object);
  }

  std::vector<Object> items;
  if (wanted == Kind::kNamedTuple || wanted == Kind::kAttrs) {
    for (const std::string& name : type.names()) {
      items.push_back(Object::take(run_python<PyObject_GetAttrString>(object, name.c_str())));
      if (!items.back()) {
        PyErr_Clear();
        return mismatch();
      }
    }
  } else {
    Object list = Object::take(run_python<PySequence_Fast>(object, "a sequence"));
    if (!list) return pending_exception();
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
      items.push_back(Object::borrow(PySequence_Fast_GET_ITEM(list.get(), i)));
    }
  }
  if (items.size() != type.items().size()) return mismatch();
  bool changed = false;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(Object cast, cast_to(*type.items()[i], items[i].get(), allow_specs));
    changed |= cast.get() != items[i].get();
    items[i] = std::move(cast);
  }
  if (!changed) return Object::borrow(object);
  Object parts =
      Object::take(wanted == Kind::kList ? PyList_New(static_cast<Py_ssize_t>(items.size()))
                                         : PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) {
    if (wanted == Kind::kList) {
      PyList_SET_ITEM(parts.get(), static_cast<Py_ssize_t>(i), items[i].release());
    } else {
      PyTuple_SET_ITEM(parts.get(), static_cast<Py_ssize_t>(i), items[i].release());
    }
  }
  if (wanted == Kind::kList || wanted == Kind::kTuple) return parts;
  Object made = Object::take(
      run_python<PyObject_CallObject>(reinterpret_cast<PyObject*>(Py_TYPE(object)), parts.get()));
  if (!made) return pending_exception();
  return made;
}

}  // namespace

Result<Object> cast_to(const TraceType& type, PyObject* object, bool allow_specs) {
  RecursionLevel level(" while an argument is cast");
  if (!level.ok()) return pending_exception();
  if (!PyType_Check(object) && !is_tensor(object) && !is_variable(object)) {
    Object wrapped = Object::take(run_python<PyObject_GetAttrString>(object, "__wrapped__"));
    if (wrapped) return cast_to(type, wrapped.get(), allow_specs);
    PyErr_Clear();
  }
  const bool by_own_type = type.kind() == TraceType::Kind::kAttrs && is_nested(object);
  switch (by_own_type ? TraceType::Kind::kObject : type.kind()) {
    case TraceType::Kind::kTensor:
      return cast_to_tensor(static_cast<const TensorType&>(type), object, allow_specs);
    case TraceType::Kind::kList:
    case TraceType::Kind::kTuple:
    case TraceType::Kind::kNamedTuple:
    case TraceType::Kind::kAttrs:
    case TraceType::Kind::kDict:
      return cast_to_container(static_cast<const ContainerType&>(type), object, allow_specs);
    case TraceType::Kind::kVariable:
      if (is_variable(object)) return Object::borrow(object);
      return cannot_cast(repr_of(object), type);
    case TraceType::Kind::kLiteral: {
      // An equal value passes, an eager tensor of it too.
      Object own = literal_to_python(static_cast<const LiteralType&>(type).literal());
      int equal = own ? run_python<PyObject_RichCompareBool>(object, own.get(), Py_EQ) : -1;
      if (equal < 0) PyErr_Clear();
      if (equal > 0) return is_tensor(object) ? own : Object::borrow(object);
      [[fallthrough]];
    }
    default: {
      ASSIGN_OR_RETURN(engine::Value value, to_value(object, allow_specs));
      engine::TypingContext context;
      ASSIGN_OR_RETURN(engine::TraceTypeRef own, engine::type_of(value, context));
      if (!own->is_subtype_of(type)) return cannot_cast(repr_of(object), type);
      return Object::borrow(object);
    }
  }
}

}  // namespace graven::python
