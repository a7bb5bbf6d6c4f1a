#include "graven/python/cast.h"

#include <optional>
#include <utility>
#include <vector>

#include "graven/ir/call_sizes.h"
#include "graven/ir/graph.h"
#include "graven/python/container.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/function_object.h"
#include "graven/python/literal.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"

namespace graven::python {
namespace {

using engine::Container;
using engine::ContainerKind;
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

// A composite tensor that is of no subtype of the type, by the cast of its spec.
Result<Object> cast_composite(const TraceType& type, PyObject* object) {
  Object spec = type_to_python(engine::TraceTypeRef(&type));
  Object cast =
      spec
          ? Object::take(run_python<PyObject_CallMethod>(spec.get(), "cast", "OO", object, Py_None))
          : Object();
  if (cast) return cast;
  const bool does_not_fit = PyErr_ExceptionMatches(PyExc_TypeError);
  const Status status = pending_exception();
  return does_not_fit ? cannot_cast(repr_of(object), type) : status;
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
  if (tensor.is_symbolic() && tensor.rank() == type.shape().rank()) {
    for (int i = 0; i < tensor.rank(); ++i) {
      if (type.shape()[i].is_number()) engine::CallSizes::read(tensor, i);
    }
  }
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
  const Container& container = *type.container();
  std::optional<ContainerKind> kind = container_kind(object);
  const bool is_named_for_plain_tuple =
      container.kind() == ContainerKind::kTuple && kind == ContainerKind::kNamedTuple;
  if (kind != container.kind() && !is_named_for_plain_tuple) {
    return cannot_cast(repr_of(object), type);
  }
  std::optional<std::vector<Object>> items = items_in_places_of(container, object);
  if (!items || items->size() != type.items().size()) return cannot_cast(repr_of(object), type);
  bool changed = false;
  for (size_t i = 0; i < items->size(); ++i) {
    Object& item = (*items)[i];
    ASSIGN_OR_RETURN(Object cast, cast_to(*type.items()[i], item.get(), allow_specs));
    changed |= cast.get() != item.get();
    item = std::move(cast);
  }
  if (!changed) return Object::borrow(object);
  // An object of a class stays one of its own class; a mapping becomes a plain dict.
  const bool has_class = container.maker() && !container.is_mapping();
  auto* maker = has_class ? reinterpret_cast<PyObject*>(Py_TYPE(object)) : nullptr;
  Object made = put_together(container, maker, std::move(*items));
  if (!made) return pending_exception();
  return made;
}

}  // namespace

Result<Object> cast_to(const TraceType& type, PyObject* object, bool allow_specs) {
  RecursionLevel level(" while an argument is cast");
  if (!level.ok()) return pending_exception();
  if (!PyType_Check(object) && !is_tensor(object) && !is_variable(object) &&
      !PyObject_TypeCheck(object, function_type)) {
    Object wrapped = Object::take(run_python<PyObject_GetAttrString>(object, "__wrapped__"));
    if (wrapped) return cast_to(type, wrapped.get(), allow_specs);
    PyErr_Clear();
  }
  const bool is_container = type.kind() == TraceType::Kind::kContainer;
  // An object with the nest protocol has the kind of an attrs object, and is not cast.
  const bool is_protocol =
      is_container && is_nested(object) &&
      static_cast<const ContainerType&>(type).container()->kind() == ContainerKind::kAttrs;
  switch (is_protocol ? TraceType::Kind::kObject : type.kind()) {
    case TraceType::Kind::kTensor:
      return cast_to_tensor(static_cast<const TensorType&>(type), object, allow_specs);
    case TraceType::Kind::kContainer:
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
      if (own->is_subtype_of(type)) return Object::borrow(object);
      ASSIGN_OR_RETURN(bool is_composite, is_composite_tensor(object));
      if (is_composite && !trace_type_of_object(object)) return cast_composite(type, object);
      return cannot_cast(repr_of(object), type);
    }
  }
}

}  // namespace graven::python
