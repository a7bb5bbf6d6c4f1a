#include "graven/python_api.h"

#include <dlfcn.h>

#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graven/function/trace_type.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/cpp_function.h"
#include "graven/python/errors.h"
#include "graven/python/function_object.h"
#include "graven/python/literal.h"
#include "graven/python/object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"

namespace nb = nanobind;

// The door of extension modules to _engine: what graven/python_api.h finds in the capsule.

namespace graven::python {
namespace {

using engine::Result;
using engine::Value;

// The file of the libgraven.so that this process runs on.
const char* library_file() {
  Dl_info info{};
  return ::dladdr(internal::address_in_libgraven(), &info) ? info.dli_fname : "libgraven.so";
}

PyObject* to_object(const Value& value) {
  if (!value.is_spec) return to_python(value).release();
  const auto* type = dynamic_cast<const engine::TraceType*>(value.type.get());
  return type_to_python(engine::TraceTypeRef(type)).release();
}

Object to_tuple(std::span<const Value> values) {
  Object tuple = Object::take(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; tuple && i < values.size(); ++i) {
    PyObject* object = to_object(values[i]);
    if (!object) return {};
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), object);
  }
  return tuple;
}

std::optional<TensorSpec> to_spec(PyObject* object) {
  engine::TraceTypeRef type = trace_type_of_object(object);
  const auto* tensor = dynamic_cast<const engine::TensorType*>(type.get());
  if (!tensor) return std::nullopt;
  return TensorSpec{tensor->shape(), tensor->dtype(), tensor->name()};
}

engine::Ref<engine::Function> function_of(PyObject* object) {
  if (!PyObject_TypeCheck(object, function_type)) return nullptr;
  return reinterpret_cast<FunctionObject*>(object)->function;  // null if it is not initialised
}

PyObject* call(PyObject* function, std::span<const Value> arguments) {
  Object tuple = to_tuple(arguments);
  return tuple ? run_python<PyObject_CallObject>(function, tuple.get()) : nullptr;
}

Result<Explanation> explain(PyObject* function, std::span<const Value> arguments) {
  Object tuple = to_tuple(arguments), none = Object::take(PyDict_New());
  Object method = Object::take(run_python<PyObject_GetAttrString>(function, "_explain"));
  Object made = tuple && none && method ? Object::take(run_python<PyObject_CallFunctionObjArgs>(
                                              method.get(), tuple.get(), none.get(), nullptr))
                                        : Object();
  Explanation* explanation = nullptr;
  if (!made || !nb::try_cast(nb::handle(made.get()), explanation) || !explanation) {
    return pending_error();
  }
  return std::move(*explanation);
}

// The objects that C++ holds beyond a call. The GIL guards them.
struct Held {
  PyObject* object;
};
std::unordered_set<Held*>& all_held() {
  static auto* set = new std::unordered_set<Held*>();
  return *set;
}

void* hold(PyObject* object) {
  auto* made = new Held{Py_NewRef(object)};
  all_held().insert(made);
  return made;
}

PyObject* held(void* handle) {
  if (PyObject* object = static_cast<Held*>(handle)->object) return Py_NewRef(object);
  PyErr_SetString(PyExc_RuntimeError, "Python ends, and with it the functions that it has made");
  return nullptr;
}

void give_back(void* handle) {
  std::unique_ptr<Held> held(static_cast<Held*>(handle));
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  all_held().erase(held.get());
  drop(held->object);
}

// A function of Python's that a function of C++ calls is in a cycle if it is global: its globals
// hold both. So Python could never clear that module.
void take_all_away() {
  std::vector<PyObject*> objects;
  for (Held* each : all_held()) objects.push_back(std::exchange(each->object, nullptr));
  for (PyObject* object : objects) drop(object);
}

constexpr auto to_eager_or_symbolic = [](PyObject* object) -> Result<engine::Tensor> {
  if (is_tensor(object)) return operand_of(object);
  Result<engine::Tensor> made = to_tensor(object);
  // Users' code that converts may have raised: what C++ hears of it has its class.
  if (made.ok() || made.status().kind() != engine::ErrorKind::kUserException) return made;
  raise(made.status());
  return pending_error();
};

const internal::PythonApi& python_api() {
  static const internal::PythonApi api = {
      .version = internal::kPythonApiVersion,
      .library = internal::address_in_libgraven(),
      .library_file = library_file(),
      .to_python = to_object,
      .variable_to_python = [](const engine::Tensor& handle) { return variable_object(handle); },
      .offer = make_cpp_function,
      .find_offered = find_cpp_function,
      .is_tensor = [](PyObject* object) { return is_tensor(object); },
      .to_tensor = to_eager_or_symbolic,
      .variable_handle = [](PyObject* object) -> std::optional<engine::Tensor> {
        if (!is_variable(object) || !variable_of(object)->handle) return std::nullopt;
        return variable_of(object)->handle;
      },
      .to_spec = to_spec,
      .offered = offered_function_of,
      .function = function_of,
      .call = call,
      .explain = explain,
      .take_exception = pending_error,
      .set_exception = [](std::exception_ptr exception) { raise(std::move(exception)); },
      .take_gil = []() -> void* { return Py_IsInitialized() ? new HoldGil() : nullptr; },
      .give_gil = [](void* taken) { delete static_cast<HoldGil*>(taken); },
      .hold = hold,
      .held = held,
      .give_back = give_back,
  };
  return api;
}

}  // namespace

void bind_python_api(nb::module_& m) {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(take_all_away));
  m.def("library_file", library_file, "The libgraven.so that this process runs on.");
  m.attr("__python_api__") = nb::capsule(&python_api(), internal::kPythonApiCapsule);
}

}  // namespace graven::python
