#include "graven/python/user_callable.h"

#include <utility>
#include <vector>

#include "graven/function/trace_type.h"
#include "graven/ir/frame.h"
#include "graven/python/argument_kinds.h"
#include "graven/python/container.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/graph_object.h"
#include "graven/python/object.h"
#include "graven/python/opaque.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"

namespace graven::python {
namespace {

using engine::make_ref;
using engine::Ref;
using engine::Result;
using engine::Status;
using engine::type_error;
using engine::Value;

// A value that Python gets back as the very object.
Value whole(PyObject* object) {
  Value value;
  value.kind = Value::Kind::kObject;
  value.object = make_ref<StrongOpaque>(object);
  return value;
}

class UserCallable final : public engine::Callable {
 public:
  explicit UserCallable(PyObject* function) : function_(Object::borrow(function)) {}

  static constinit thread_local UserCallable* running;  // the innermost of this thread
  void keep(PyObject* object) {
    kept_.push_back(Object::borrow(object));
    if (outer_ && outer_ != this) outer_->keep(object);
  }

  Result<Value> call(std::span<const Value> arguments, As as) override {
    HoldGil gil;
    PyObject* function = function_.get();
    if (engine::Frame::current().is_graph()) {
      RETURN_IF_ERROR(convert());
      function = converted_.get();
    }
    Object tuple = Object::take(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
    if (!tuple) return pending_exception();
    for (size_t i = 0; i < arguments.size(); ++i) {
      Object argument = to_python(arguments[i]);
      if (!argument) return pending_exception();
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), argument.release());
    }
    UserCallable* const outer = outer_;
    outer_ = std::exchange(running, this);
    Object result = Object::take(run_python<PyObject_CallObject>(function, tuple.get()));
    running = std::exchange(outer_, outer);
    if (!result) return pending_exception();
    switch (as) {
      case As::kWhole:
        return whole(result.get());
      case As::kParts:
        return to_value(result.get(), /*allow_specs=*/false);
      case As::kTensors:
        break;
      case As::kDense:
        if (is_tensor(result.get())) break;
        static constinit Imported dense("graven._indexed_slices", "dense_result");
        if (!dense.get()) return pending_exception();
        result = Object::take(run_python<PyObject_CallOneArg>(dense.get(), result.get()));
        if (!result) return pending_exception();
        break;
    }
    if (node_of(result.get())) return whole(result.get());
    return result_to_value(result.get(), function);
  }

 private:
  // Only what is traced is converted: what runs at once is plain Python, whose tensors have values
  // and whose exceptions pass as they are.
  Status convert() {
    if (converted_) return {};
    static constinit Imported convert("graven.autograph._operators", "convert_callable");
    if (!convert.get()) return pending_exception();
    converted_ = Object::take(run_python<PyObject_CallOneArg>(convert.get(), function_.get()));
    return converted_ ? Status() : pending_exception();
  }

  const Object function_;
  Object converted_;
  std::vector<Object> kept_;
  UserCallable* outer_ = nullptr;  // that calls this one
};

constinit thread_local UserCallable* UserCallable::running = nullptr;

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

Result<engine::Choices::Choice> to_choice(PyObject* key, PyObject* function) {
  engine::Choices::Choice choice;
  if (key) {
    ASSIGN_OR_RETURN(choice.key, to_value(key, /*allow_specs=*/false));
  }
  ASSIGN_OR_RETURN(choice.function, to_callable(function, "a branch"));
  return choice;
}

}  // namespace

void keep_for_callable(PyObject* object) {
  if (UserCallable::running) UserCallable::running->keep(object);
}

Result<Ref<engine::Callable>> to_callable(PyObject* object, std::string_view name) {
  if (!PyCallable_Check(object)) {
    return type_error("The argument `", name, "` must be callable, not ", text_of(object), ".");
  }
  return Ref<engine::Callable>(make_ref<UserCallable>(object));
}

Result<engine::Choices> to_choices(PyObject* object) {
  engine::Choices choices;
  if (PyDict_Check(object)) {
    Object items = Object::take(PyDict_Items(object));
    return items ? to_choices(items.get()) : Result<engine::Choices>(pending_exception());
  }
  if (!is_list(object)) {
    return type_error("must be a list, tuple or dict of functions, not ", text_of(object));
  }
  Object items = items_of(object, "a list of functions");
  if (!items) return pending_exception();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    const bool is_function = PyCallable_Check(item) != 0;
    if (is_function != (PyCallable_Check(PyTuple_GET_ITEM(items.get(), 0)) != 0)) {
      return type_error("must hold functions, or pairs with a function, not both: ", text_of(item));
    }
    if (is_function) {
      ASSIGN_OR_RETURN(auto choice, to_choice(nullptr, item));
      choices.all.push_back(std::move(choice));
      continue;
    }
    if (!is_list(item) || PySequence_Fast_GET_SIZE(item) != 2) {
      return type_error("must hold functions, or pairs with a function, not ", text_of(item));
    }
    Object pair = items_of(item, "a pair");
    if (!pair) return pending_exception();
    ASSIGN_OR_RETURN(auto choice,
                     to_choice(PyTuple_GET_ITEM(pair.get(), 0), PyTuple_GET_ITEM(pair.get(), 1)));
    choices.all.push_back(std::move(choice));
  }
  return choices;
}

Result<Value> to_shape_structure(PyObject* object) {
  static constinit Imported tensor_shape("graven._tensor_shape", "TensorShape");
  if (!tensor_shape.get()) return pending_exception();
  if (object == Py_None) return Value();
  if (PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(tensor_shape.get()))) {
    ASSIGN_OR_RETURN(engine::Shape shape, to_shape(object));
    return Value::of_type(make_ref<engine::TensorType>(std::move(shape), engine::DType::kInvalid));
  }
  if (engine::TraceTypeRef type = trace_type_of_object(object)) return Value::of_type(type);
  static constinit Imported dtype_class("graven._dtypes", "DType");
  if (!dtype_class.get()) return pending_exception();
  if (PyUnicode_Check(object) ||
      PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(dtype_class.get()))) {
    ASSIGN_OR_RETURN(const engine::DType dtype, to_dtype(object));
    return Value::of_type(make_ref<engine::TensorType>(engine::Shape::unknown_rank(), dtype));
  }
  if (auto kind = container_kind(object)) {
    ASSIGN_OR_RETURN(ContainerParts parts, take_apart(object, *kind));
    std::vector<Value> items;
    for (const Object& item : parts.items) {
      ASSIGN_OR_RETURN(Value value, to_shape_structure(item.get()));
      items.push_back(std::move(value));
    }
    return Value::of_container(std::move(parts.container), std::move(items));
  }
  return type_error("must hold a TensorShape, a dtype or a TypeSpec for each tensor, not ",
                    text_of(object));
}

}  // namespace graven::python
