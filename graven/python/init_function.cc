#include <memory>
#include <utility>

#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/function_object.h"
#include "graven/python/location.h"
#include "graven/python/slot.h"
#include "graven/python/tracer.h"
#include "graven/python/value.h"

namespace graven::python {
namespace {

using engine::ParameterKind;
using engine::Result;

// Null with an exception set if a parameter is not what init_function says.
std::unique_ptr<Signature> signature_of(FunctionObject* self, PyObject* parameters) {
  auto signature = std::make_unique<Signature>();
  Object list = Object::take(run_python<PySequence_Fast>(parameters, "parameters"));
  if (!list) return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject *parameter_name, *default_value, *constraint;
    int kind, has_default;
    if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(list.get(), i), "UipOO", &parameter_name, &kind,
                          &has_default, &default_value, &constraint)) {
      return nullptr;
    }
    Signature::Parameter parameter;
    Py_INCREF(parameter_name);
    PyUnicode_InternInPlace(&parameter_name);
    parameter.name = Object::take(parameter_name);
    parameter.kind = static_cast<ParameterKind>(kind);
    if (has_default) parameter.default_value = Object::borrow(default_value);
    if (constraint != Py_None) {
      auto value = to_value(constraint, /*allow_specs=*/true);
      engine::TypingContext context;
      auto type = value.ok() ? engine::type_of(*value, context)
                             : Result<engine::TraceTypeRef>(value.status());
      if (!type.ok()) {
        raise(type.status());
        return nullptr;
      }
      parameter.constraint = std::move(*type);
      signature->has_constraints = true;
      TracingFunction own(self);
      if (!keep_objects_of(*parameter.constraint)) return nullptr;
    }
    if (parameter.kind == ParameterKind::kVarPositional) {
      signature->var_positional = static_cast<int>(i);
    }
    if (parameter.kind == ParameterKind::kVarKeyword) signature->var_keyword = static_cast<int>(i);
    signature->is_positional &= parameter.kind == ParameterKind::kPositionalOnly ||
                                parameter.kind == ParameterKind::kPositionalOrKeyword;
    signature->parameters.push_back(std::move(parameter));
  }
  return signature;
}

}  // namespace

int init_function(PyObject* object, PyObject* args, PyObject* keywords) {
  auto* self = reinterpret_cast<FunctionObject*>(object);
  if (self->function) {
    PyErr_SetString(PyExc_RuntimeError, "The function is initialised already");
    return -1;
  }
  static const char* names[] = {"python_function",
                                "name",
                                "parameters",
                                "reduce_retracing",
                                "literals_equal_as_numbers",
                                "automatic_control_dependencies",
                                "instance",
                                "is_pure",
                                "max_traces",
                                "max_bytes",
                                "stale",
                                "qualified_name",
                                "shown_name",
                                "shares_functions",
                                nullptr};
  PyObject *python_function, *parameters, *instance = Py_None;
  const char *name, *qualified_name = "", *shown_name = "";
  PyObject* reduce_retracing;
  int as_numbers, control_dependencies, is_pure = 0, stale = 0, shares_functions = 0;
  long long max_traces = 0, max_bytes = 0;
  if (!PyArg_ParseTupleAndKeywords(
          args, keywords, "OsOOpp|OpLLissp", const_cast<char**>(names), &python_function, &name,
          &parameters, &reduce_retracing, &as_numbers, &control_dependencies, &instance, &is_pure,
          &max_traces, &max_bytes, &stale, &qualified_name, &shown_name, &shares_functions)) {
    return -1;
  }
  std::unique_ptr<Signature> signature = signature_of(self, parameters);
  if (!signature) return -1;
  self->signature = std::move(signature);
  self->python_function = Py_NewRef(python_function);
  self->instance = instance == Py_None ? nullptr : Py_NewRef(instance);
  self->is_pure = is_pure;
  self->stale = static_cast<Stale>(stale);
  engine::FunctionOptions options;
  options.name = name;
  options.qualified_name = qualified_name;
  options.shown_name = shown_name;
  options.language = engine::Language::kPython;
  options.locations = &location_source();
  options.may_capture = !is_pure;
  options.reduce_retracing.reset();
  if (reduce_retracing != Py_None) options.reduce_retracing = reduce_retracing == Py_True;
  options.literals_equal_as_numbers = as_numbers;
  options.automatic_control_dependencies = control_dependencies;
  // A trace that holds for other functions watches all that it reads.
  if (shares_functions && self->stale == Stale::kRetrace && reduce_retracing != Py_True &&
      !as_numbers && !is_pure && !self->instance) {
    self->equal = std::make_unique<EqualFunctions>();
  }
  if (max_traces > 0) options.budget.max_traces = max_traces;
  if (max_bytes > 0) options.budget.max_bytes = max_bytes;
  self->function =
      engine::make_ref<engine::Function>(options, std::make_unique<PythonTracer>(self));
  return 0;
}

}  // namespace graven::python
