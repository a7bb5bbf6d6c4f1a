#include "graven/python/tracer.h"

#include "graven/ir/frame.h"
#include "graven/python/errors.h"
#include "graven/python/function_opaque.h"
#include "graven/python/location.h"
#include "graven/python/slot.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"
#include "graven/python/watch.h"

namespace graven::python {
namespace {

using engine::ParameterKind;
using engine::Result;
using engine::Value;

constinit thread_local FunctionObject* t_tracing = nullptr;
thread_local engine::Ref<PythonWatches> t_watches;  // of the trace that has just ended

// A copy of the containers of an argument, to see afterwards whether the body changed them: the
// same leaves in lists and dicts of their own. Null with an exception set if that fails: what a
// user's type made may have no end.
Object copy_of_containers(PyObject* object) {
  RecursionLevel level(" while the arguments of a function are copied");
  if (!level.ok()) return {};
  if (PyList_CheckExact(object)) {
    Py_ssize_t n = PyList_GET_SIZE(object);
    Object copy = Object::take(PyList_New(n));
    for (Py_ssize_t i = 0; copy && i < n; ++i) {
      Object part = copy_of_containers(PyList_GET_ITEM(object, i));
      if (!part) return {};
      PyList_SET_ITEM(copy.get(), i, part.release());
    }
    return copy;
  }
  if (PyTuple_CheckExact(object)) {
    Py_ssize_t n = PyTuple_GET_SIZE(object);
    Object copy = Object::take(PyTuple_New(n));
    for (Py_ssize_t i = 0; copy && i < n; ++i) {
      Object part = copy_of_containers(PyTuple_GET_ITEM(object, i));
      if (!part) return {};
      PyTuple_SET_ITEM(copy.get(), i, part.release());
    }
    return copy;
  }
  if (PyDict_Check(object)) {
    Object copy = Object::take(PyDict_New());
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (copy && PyDict_Next(object, &at, &key, &value)) {
      Object part = copy_of_containers(value);
      if (!part || PyDict_SetItem(copy.get(), key, part.get()) < 0) return {};
    }
    return copy;
  }
  return Object::borrow(object);
}

bool is_unchanged(PyObject* object, PyObject* copy) {
  if (PyList_CheckExact(object) && PyList_CheckExact(copy)) {
    Py_ssize_t n = PyList_GET_SIZE(object);
    if (n != PyList_GET_SIZE(copy)) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!is_unchanged(PyList_GET_ITEM(object, i), PyList_GET_ITEM(copy, i))) return false;
    }
    return true;
  }
  if (PyTuple_CheckExact(object) && PyTuple_CheckExact(copy)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      if (!is_unchanged(PyTuple_GET_ITEM(object, i), PyTuple_GET_ITEM(copy, i))) return false;
    }
    return true;
  }
  if (PyDict_Check(object) && PyDict_Check(copy)) {
    if (PyDict_GET_SIZE(object) != PyDict_GET_SIZE(copy)) return false;
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(object, &at, &key, &value)) {
      PyObject* before = PyDict_GetItem(copy, key);
      if (!before || !is_unchanged(value, before)) return false;
    }
    return true;
  }
  return object == copy;
}

std::string text_of(PyObject* object, const char* attribute) {
  Object text = Object::take(run_python<PyObject_GetAttrString>(object, attribute));
  const char* utf8 = text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "function";
}

}  // namespace

FunctionObject* tracing_function() { return t_tracing; }

TracingFunction::TracingFunction(FunctionObject* function) : outer_(t_tracing) {
  t_tracing = function;
  ++traces_in_progress;
}

TracingFunction::~TracingFunction() {
  t_tracing = outer_;
  --traces_in_progress;
}

Result<Value> PythonTracer::trace(const engine::FunctionType& type,
                                  std::span<const Value> arguments) {
  HoldGil gil;
  RETURN_IF_ERROR(TypeComparisons::take());
  const TypeComparisons comparisons;  // of the body's own
  TracingFunction tracing(owner_);
  WatchScope watching;
  if (const auto equal = equal_functions_of(type); !equal.empty()) {
    std::vector<Object> functions;
    for (const auto& each : equal) functions.push_back(each->get());
    watching.set_equal_functions(std::move(functions),
                                 owner_->equal->watched(equal.front()->structure()));
    if (!watching.watched()) refuse_trace_for_equals("what it reads has changed");
  }
  for (const engine::Parameter& parameter : type.parameters) {
    if (!keep_objects_of(*parameter.type)) return pending_exception();
  }
  auto* owner = reinterpret_cast<PyObject*>(owner_);
  Object check = Object::take(run_python<PyObject_GetAttrString>(owner, "_check_attributes"));
  Object checked = check ? Object::take(run_python<PyObject_CallNoArgs>(check.get())) : Object();
  if (!checked) return pending_exception();
  engine::Frame::current().locations = &location_source();

  std::vector<Object> positional, copies;
  Object keywords = Object::take(PyDict_New());
  if (owner_->instance) {  // after the instance died the body sees None
    positional.push_back(Object::borrow(PyWeakref_GetObject(owner_->instance)));
  }
  std::vector<Object> objects;
  for (size_t i = 0; i < arguments.size(); ++i) {
    Object object = to_python(arguments[i]);
    if (!object) return pending_exception();
    copies.push_back(copy_of_containers(object.get()));
    if (!copies.back()) return pending_exception();
    objects.push_back(object);
    const engine::Parameter& parameter = type.parameters[i];
    if (parameter.kind == ParameterKind::kKeywordOnly) {
      if (PyDict_SetItemString(keywords.get(), parameter.name.c_str(), object.get()) < 0) {
        return pending_exception();
      }
    } else {
      positional.push_back(std::move(object));
    }
  }
  Object tuple = Object::take(PyTuple_New(static_cast<Py_ssize_t>(positional.size())));
  for (size_t i = 0; i < positional.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), positional[i].release());
  }
  // Python's side converts the function (AutoGraph).
  Object call = Object::take(run_python<PyObject_GetAttrString>(owner, "_call_traced"));
  Object result =
      call ? Object::take(run_python<PyObject_Call>(call.get(), tuple.get(), keywords.get()))
           : Object();
  if (!result) return pending_exception();

  std::string modified;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (is_unchanged(objects[i].get(), copies[i].get())) continue;
    if (!modified.empty()) modified += ", ";
    modified += type.parameters[i].name;
  }
  if (!modified.empty()) {
    return engine::value_error(
        text_of(owner_->python_function, "__qualname__"), type.signature(),
        " should not modify its Python input arguments. Modifications to: ", modified,
        ". Check if it modifies any lists or dicts passed as arguments. Modifying a copy is "
        "allowed.");
  }
  ASSIGN_OR_RETURN(Value value, result_to_value(result.get(), owner_->python_function));
  if (!keep_objects_of(value)) return pending_exception();
  t_watches = watching.finish(owner_->stale);
  if (t_watches) {
    Object slot = t_watches->held().hand_over();
    if (slot && !keep_for_trace(slot.get())) return pending_exception();
  }
  return value;
}

engine::Ref<engine::Watches> PythonTracer::take_watches() { return std::exchange(t_watches, {}); }

}  // namespace graven::python
