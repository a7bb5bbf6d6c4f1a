#pragma once
#include <Python.h>
#include <cxxabi.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "graven/graven.h"

// Tensors, variables and functions of C++ as the objects that Python programs have of them, and
// back: for extension modules, written with Python's own interface, pybind11 or nanobind. All are
// the same on both sides: a function has one cache, a variable one value, and tapes of either
// language record what the other one does. docs/extension-modules.md has a module from end to end.
//
//   static PyObject* scaled(PyObject*, PyObject* argument) {
//     return graven::python_guard([&] {
//       auto x = graven::from_python<graven::Tensor>(argument);
//       return graven::to_python(2 * x);
//     });
//   }
//
//   PyMODINIT_FUNC PyInit_scaling() {
//     if (!graven::import_graven()) return nullptr;
//     return PyModule_Create(&scaling);
//   }
//
// All that is declared here is called by threads that hold the GIL. The Functions, Tensors and
// Variables that from_python gives may be used, copied and dropped by any thread, with the GIL or
// without.
namespace graven {

// Imports the Python package graven, in the initialisation of an extension module. False with an
// ImportError set if it is not there, is of another version than this header, or runs on another
// libgraven.so than the module. What follows here imports it itself when it is first used.
inline bool import_graven();

// --- To Python: a new reference, or, as from Python's own functions, null with an exception set.

// A tensor, number or text, and vectors, maps, tuples, optionals and structs of these: whatever a
// graven::Function may return (graven/api/convert.h). No tensor is None.
template <typename T>
PyObject* to_python(const T& value);
// The tf.Variable that shares its value; for a variable that Python made, the very object.
inline PyObject* to_python(const Variable& variable);
// What tf.function makes: it can be called, differentiated and explained, and has the traces that
// calls from C++ have made. Arguments are converted as from_python does, by the function's
// parameter types. One object for all copies of a function, as long as it lives; for a function
// that Python made, the very object.
template <typename R, typename... Args>
PyObject* to_python(const Function<R(Args...)>& function);

// --- From Python. An object that does not fit is a graven::Error, in general a TypeError. Null is
// the exception that Python has set, or a TypeError.

// T is one of:
//
//   Tensor       from all that tf.convert_to_tensor takes; None is no tensor
//   Variable     from a tf.Variable, whose Python object the handle owns
//   Function<..> from what tf.function or to_python has made. A function of C++ is that one again.
//                The handle of a Python function owns its object; a call of it takes the GIL, and
//                a result of another type than the signature's is an Error
//   numbers, bool, std::string; optionals, vectors, arrays, tuples, maps with names as keys, and
//                structs with members() of all these: from numbers, texts, lists, tuples, dicts. A
//                number is no tensor: as an argument it is a constant of the trace
template <typename T>
T from_python(PyObject* object);

// --- Errors cross with their class and message, an exception of Python's as the very object.

// Runs a function that returns a new reference. What it throws becomes Python's exception, and the
// result null.
template <typename F>
PyObject* python_guard(F&& function);
// The same for translators of exceptions of pybind11 and nanobind. A graven::Error gets the class
// of its kind() or code(), and its line of C++ before the message; other exceptions RuntimeError or
// what fits better.
inline void set_python_exception(std::exception_ptr exception);
// Throws the exception that a call of Python's has set, as an Error of its class.
[[noreturn]] inline void throw_python_exception(
    std::source_location location = std::source_location::current());

// --- Internals.

namespace internal {

// Both sides of the door have the same layouts and libgraven.so, so they must be of one version.
inline constexpr char kPythonApiVersion[] = "0.1.0";
inline constexpr char kPythonApiCapsule[] = "graven._engine.__python_api__";

// A Function of C++ as _engine calls it. What it throws is an Error, or the exception of a body.
class OfferedFunction {
 public:
  virtual ~OfferedFunction() = default;
  virtual const FunctionBase& base() const = 0;
  virtual const engine::FunctionType& type() const = 0;  // with the names of the parameters
  virtual const std::type_info& signature() const = 0;
  virtual bool returns_nothing() const = 0;
  // The arguments as C++ has them, one object for each parameter: as the row of a call, and as
  // values. Specs may stand for tensors where no call is made.
  virtual void write_key(PyObject* const* arguments, bool allow_specs, KeyWriter& key) const = 0;
  virtual std::vector<engine::Value> values(PyObject* const* arguments, bool allow_specs) const = 0;
  // Gives a trace for the values, made now if there is none, to `use`. Called without the GIL.
  virtual void with_trace(std::span<const engine::Value> values, engine::Function::Purpose purpose,
                          const KeyWriter& key,
                          engine::FunctionRef<void(engine::Entry&)> use) const = 0;
  virtual Explanation explain(std::span<const engine::Value> values,
                              const KeyWriter& key) const = 0;
};

// What _engine does for this header. A null PyObject* comes with an exception set.
struct PythonApi {
  const char* version;
  const void* library;  // an address in the libgraven.so that _engine runs on
  const char* library_file;

  PyObject* (*to_python)(const engine::Value& value);
  PyObject* (*variable_to_python)(const engine::Tensor& handle);
  PyObject* (*offer)(std::unique_ptr<OfferedFunction> function);
  // The object that was offered for a function and still lives; null without an exception.
  PyObject* (*find_offered)(const engine::Function& function);

  bool (*is_tensor)(PyObject* object);
  engine::Result<engine::Tensor> (*to_tensor)(PyObject* object);
  std::optional<engine::Tensor> (*variable_handle)(PyObject* object);
  std::optional<TensorSpec> (*to_spec)(PyObject* object);
  OfferedFunction* (*offered)(PyObject* object);  // null for another object
  // Of what tf.function makes; null for another object.
  engine::Ref<engine::Function> (*function)(PyObject* object);
  PyObject* (*call)(PyObject* function, std::span<const engine::Value> arguments);
  engine::Result<Explanation> (*explain)(PyObject* function,
                                         std::span<const engine::Value> arguments);

  engine::Status (*take_exception)();
  void (*set_exception)(std::exception_ptr exception);
  void* (*take_gil)();  // null where Python has ended
  void (*give_gil)(void* taken);
  // A reference to an object beyond the call, as a handle that any thread may give back. Python's
  // end takes all of these objects away, as its cycle collector cannot know what C++ holds; then
  // `held` is null with a RuntimeError set, else a new reference.
  void* (*hold)(PyObject* object);
  PyObject* (*held)(void* handle);
  void (*give_back)(void* handle);
};

inline const void* address_in_libgraven() { return reinterpret_cast<const void*>(&throw_error); }

// Null with an ImportError set. A failed import is tried again.
inline const PythonApi* import_python_api() {
  static const PythonApi* imported = nullptr;  // guarded by the GIL
  if (imported) return imported;
  PyObject* package = PyImport_ImportModule("graven");
  if (!package) return nullptr;
  Py_DECREF(package);
  const auto* api = static_cast<const PythonApi*>(PyCapsule_Import(kPythonApiCapsule, 0));
  if (!api) {
    PyErr_Format(PyExc_ImportError,
                 "this extension module was built with Graven %s, and the Python package graven "
                 "that is imported has no %s: it is older, or not built",
                 kPythonApiVersion, kPythonApiCapsule);
  } else if (std::string_view(api->version) != kPythonApiVersion) {
    PyErr_Format(PyExc_ImportError,
                 "this extension module was built with Graven %s, and the Python package graven "
                 "that is imported is version %s: build the module again",
                 kPythonApiVersion, api->version);
  } else if (api->library != address_in_libgraven()) {
    PyErr_Format(PyExc_ImportError,
                 "this extension module runs on another libgraven.so than the Python package "
                 "graven, which has %s: link the module to Graven::python "
                 "(docs/extension-modules.md)",
                 api->library_file);
  } else {
    imported = api;
  }
  return imported;
}

// The same, but throws.
inline const PythonApi& python_api() {
  if (const PythonApi* api = import_python_api()) return *api;
  PyErr_Clear();
  throw_error(engine::Status(engine::Code::kFailedPrecondition,
                             "the Python package graven cannot be used: call "
                             "graven::import_graven() for the reason"),
              {});
}

[[noreturn]] inline void throw_misfit(const char* wanted, PyObject* object) {
  throw_error(engine::type_error(" must be ", wanted, ", not ", Py_TYPE(object)->tp_name), {});
}

// Runs a conversion of a part, whose place ("[1]", "x") is put before the message of an error.
template <typename Convert, typename Place>
auto convert_part(Convert&& convert, Place&& place) {
  try {
    return convert();
  } catch (const Error& error) {
    throw_error(error.status().with_prefix(place()), error.where());
  }
}

// An owned reference of a thread that holds the GIL; may be null.
class PythonReference {
 public:
  explicit PythonReference(PyObject* object) : object_(object) {}
  ~PythonReference() { Py_XDECREF(object_); }
  PythonReference(const PythonReference&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* const object_;
};

class PythonGil {
 public:
  // Throws where there is no Python any more, as in destructors of static objects.
  explicit PythonGil(const PythonApi& api) : api_(api), taken_(api.take_gil()) {
    if (taken_) return;
    throw_error(engine::Status(engine::Code::kFailedPrecondition,
                               "Python has ended, and with it the functions that it has made",
                               engine::ErrorKind::kRuntimeError),
                {});
  }
  ~PythonGil() { api_.give_gil(taken_); }
  PythonGil(const PythonGil&) = delete;

 private:
  const PythonApi& api_;
  void* const taken_;
};

// The conversions of from_python. Messages begin with " must be ..." or ": ...".
template <typename T>
struct FromPython;

template <>
struct FromPython<Tensor> {
  static Tensor convert(PyObject* object) {
    if (object == Py_None) return Tensor();
    auto made = python_api().to_tensor(object);
    if (!made.ok()) throw_error(made.status().with_prefix(": "), {});
    return Tensor(std::move(*made));
  }
};

template <>
struct FromPython<Variable> {
  static Variable convert(PyObject* object) {
    const PythonApi& api = python_api();
    auto handle = api.variable_handle(object);
    if (!handle) throw_misfit("a tf.Variable", object);
    std::shared_ptr<const void> owner(api.hold(object), api.give_back);
    return Variable::of_handle(std::move(*handle), std::move(owner));
  }
};

template <>
struct FromPython<bool> {
  static bool convert(PyObject* object) {
    if (!PyBool_Check(object)) throw_misfit("a bool", object);
    return object == Py_True;
  }
};

// Of these it is the value that would become a number, which a trace and a tape do not see.
inline bool is_tensor_or_variable(PyObject* object) {
  return python_api().is_tensor(object) || python_api().variable_handle(object);
}

template <std::integral T>
struct FromPython<T> {
  static T convert(PyObject* object) {
    if (!PyIndex_Check(object) || PyBool_Check(object) || is_tensor_or_variable(object)) {
      throw_misfit("an int", object);
    }
    PythonReference number(PyNumber_Index(object));
    if (!number.get()) throw_python_exception();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    if (overflow != 0 || !std::in_range<T>(value)) {
      throw_error(
          engine::Status(engine::Code::kInvalidArgument,
                         engine::str_cat(" must be an int from ",
                                         std::to_string(std::numeric_limits<T>::min()), " to ",
                                         std::to_string(std::numeric_limits<T>::max())),
                         engine::ErrorKind::kOverflowError),
          {});
    }
    return static_cast<T>(value);
  }
};

template <std::floating_point T>
struct FromPython<T> {
  static T convert(PyObject* object) {
    const PyNumberMethods* numbers = Py_TYPE(object)->tp_as_number;
    const bool is_number = numbers && (numbers->nb_float || numbers->nb_index);
    if (!is_number || PyBool_Check(object) || is_tensor_or_variable(object)) {
      throw_misfit("a number", object);
    }
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) {
      // Code of the user's has not run: an error of ours says where the number stands.
      if (!PyLong_Check(object)) throw_python_exception();
      PyErr_Clear();
      throw_error(engine::Status(engine::Code::kInvalidArgument,
                                 engine::str_cat(" must be a number of at most ",
                                                 std::numeric_limits<T>::max(),
                                                 ", not an int beyond the range of floats"),
                                 engine::ErrorKind::kOverflowError),
                  {});
    }
    const T number = static_cast<T>(value);
    if (std::isinf(number) && !std::isinf(value)) {
      throw_error(engine::Status(engine::Code::kInvalidArgument,
                                 engine::str_cat(" must be a number of at most ",
                                                 std::numeric_limits<T>::max(), ", not ", value),
                                 engine::ErrorKind::kOverflowError),
                  {});
    }
    return number;
  }
};

template <>
struct FromPython<std::string> {
  static std::string convert(PyObject* object) {
    if (PyBytes_Check(object)) {
      return {PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object))};
    }
    if (!PyUnicode_Check(object)) throw_misfit("a str", object);
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (!text) {
      PyErr_Clear();
      throw_error(engine::value_error(" must be a str that UTF-8 can hold: it has a surrogate"),
                  {});
    }
    return {text, static_cast<size_t>(size)};
  }
};

template <typename T>
struct FromPython<std::optional<T>> {
  static std::optional<T> convert(PyObject* object) {
    if (object == Py_None) return std::nullopt;
    return FromPython<T>::convert(object);
  }
};

// The items of a list or tuple.
class PythonItems {
 public:
  PythonItems(PyObject* object, const char* wanted)
      : tuple_(PyList_Check(object) || PyTuple_Check(object) ? PySequence_Tuple(object) : nullptr) {
    if (tuple_.get()) return;
    if (PyErr_Occurred()) throw_python_exception();
    throw_misfit(wanted, object);
  }
  size_t size() const { return static_cast<size_t>(PyTuple_GET_SIZE(tuple_.get())); }
  template <typename T>
  T get(size_t i) const {
    PyObject* item = PyTuple_GET_ITEM(tuple_.get(), static_cast<Py_ssize_t>(i));
    return convert_part([&] { return FromPython<T>::convert(item); },
                        [&] { return "[" + std::to_string(i) + "]"; });
  }

 private:
  PythonReference tuple_;
};

template <typename T>
struct FromPython<std::vector<T>> {
  static std::vector<T> convert(PyObject* object) {
    PythonItems items(object, "a list or a tuple");
    std::vector<T> made;
    for (size_t i = 0; i < items.size(); ++i) made.push_back(items.get<T>(i));
    return made;
  }
};

template <typename T>
struct FromPython<std::map<std::string, T>> {
  static std::map<std::string, T> convert(PyObject* object) {
    if (!PyDict_Check(object)) throw_misfit("a dict", object);
    PythonReference copy(PyDict_Copy(object));  // conversions may run any code
    if (!copy.get()) throw_python_exception();
    std::map<std::string, T> made;
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(copy.get(), &at, &key, &value)) {
      std::string name = convert_part([&] { return FromPython<std::string>::convert(key); },
                                      [] { return ": a key"; });
      T item = convert_part([&] { return FromPython<T>::convert(value); },
                            [&] { return "['" + name + "']"; });
      made.emplace(std::move(name), std::move(item));
    }
    return made;
  }
};

// Tuples, pairs, arrays, and the members of structs, in order.
template <typename Parts, size_t... i>
void fill_from_python(Parts&& parts, PyObject* object, std::index_sequence<i...>) {
  PythonItems items(object, "a tuple or a list");
  if (items.size() != sizeof...(i)) {
    throw_error(engine::type_error(" must have ", sizeof...(i), " items, not ", items.size()), {});
  }
  ((std::get<i>(parts) = items.get<std::remove_cvref_t<decltype(std::get<i>(parts))>>(i)), ...);
}

template <typename Tuple>
struct PartsFromPython {
  static Tuple convert(PyObject* object) {
    Tuple made;
    fill_from_python(made, object, std::make_index_sequence<std::tuple_size_v<Tuple>>());
    return made;
  }
};
template <typename... T>
struct FromPython<std::tuple<T...>> : PartsFromPython<std::tuple<T...>> {};
template <typename A, typename B>
struct FromPython<std::pair<A, B>> : PartsFromPython<std::pair<A, B>> {};
template <typename T, size_t n>
struct FromPython<std::array<T, n>> : PartsFromPython<std::array<T, n>> {};
template <HasMembers T>
struct FromPython<T> {
  static T convert(PyObject* object) {
    T made;
    auto parts = made.members();
    fill_from_python(parts, object, std::make_index_sequence<std::tuple_size_v<decltype(parts)>>());
    return made;
  }
};

// A Function of C++ with its parameter types, for _engine.
template <typename R, typename... Args>
class Offered final : public OfferedFunction {
 public:
  explicit Offered(const Function<R(Args...)>& function) : function_(function) {}
  const Function<R(Args...)>& function() const { return function_; }

  const FunctionBase& base() const override { return function_; }
  const engine::FunctionType& type() const override { return function_.type(); }
  const std::type_info& signature() const override { return typeid(R(Args...)); }
  bool returns_nothing() const override { return std::is_void_v<R>; }

  void write_key(PyObject* const* arguments, bool allow_specs, KeyWriter& key) const override {
    for_each_argument(arguments, allow_specs, [&](const auto& argument) {
      Convert<std::remove_cvref_t<decltype(argument)>>::write_key(key, argument);
    });
  }
  std::vector<engine::Value> values(PyObject* const* arguments, bool allow_specs) const override {
    std::vector<engine::Value> values;
    for_each_argument(arguments, allow_specs, [&](const auto& argument) {
      values.push_back(Convert<std::remove_cvref_t<decltype(argument)>>::to_value(argument));
    });
    return values;
  }
  void with_trace(std::span<const engine::Value> values, engine::Function::Purpose purpose,
                  const KeyWriter& key,
                  engine::FunctionRef<void(engine::Entry&)> use) const override {
    typename Open::NewTrace new_trace(*function_.engine_function());  // before the references
    engine::EntryInUse entry(function_.resolve(values, purpose, key, {}, new_trace));
    use(*entry);
  }
  Explanation explain(std::span<const engine::Value> values, const KeyWriter& key) const override {
    return function_.explain_call(values, key);
  }

 private:
  // The parts of a Function that its own calls use.
  struct Open : Function<R(Args...)> {
    explicit Open(const Function<R(Args...)>& function) : Function<R(Args...)>(function) {}
    using FunctionBase::explain_call;
    using FunctionBase::resolve;
    using FunctionBase::type;
    using typename FunctionBase::NewTrace;
  };

  template <typename Use>
  void for_each_argument(PyObject* const* arguments, bool allow_specs, Use&& use) const {
    [&]<size_t... i>(std::index_sequence<i...>) {
      (use_argument<std::remove_cvref_t<Args>>(i, arguments[i], allow_specs, use), ...);
    }
    (std::index_sequence_for<Args...>());
  }
  template <typename T, typename Use>
  void use_argument(size_t i, PyObject* object, bool allow_specs, Use& use) const {
    if constexpr (std::is_same_v<T, Tensor>) {
      if (auto spec = allow_specs ? python_api().to_spec(object) : std::nullopt) return use(*spec);
    }
    const T argument = convert_part([&] { return FromPython<T>::convert(object); },
                                    [&] {
                                      return engine::str_cat(function_.name(), "(): argument ",
                                                             type().parameters[i].name);
                                    });
    use(argument);
  }

  const Open function_;
};

// A function of Python's, for a Function of C++ that stands for it.
template <typename R>
class PythonFunction final : public ForeignFunction<R> {
 public:
  PythonFunction(const PythonApi& api, PyObject* object, engine::Ref<engine::Function> function)
      : api_(api), function_(std::move(function)), object_(api.hold(object)) {}
  ~PythonFunction() override { api_.give_back(object_); }

  const engine::Ref<engine::Function>& function() const override { return function_; }
  void* object() const override { return api_.held(object_); }

  R call(std::span<const engine::Value> arguments,
         const std::source_location& location) const override {
    PythonGil gil(api_);
    PythonReference function(api_.held(object_));
    PythonReference result(function.get() ? api_.call(function.get(), arguments) : nullptr);
    if (!result.get()) throw_error(api_.take_exception(), location);
    if constexpr (!std::is_void_v<R>) {
      try {
        return FromPython<R>::convert(result.get());
      } catch (const Error& error) {
        throw_error(error.status().with_prefix("The result of " + function_->options().name),
                    location);
      }
    }
  }

  Explanation explain(std::span<const engine::Value> arguments) const override {
    PythonGil gil(api_);
    PythonReference function(api_.held(object_));
    if (!function.get()) throw_error(api_.take_exception(), {});
    return value_or_throw(api_.explain(function.get(), arguments), {});
  }

 private:
  const PythonApi& api_;
  const engine::Ref<engine::Function> function_;
  void* const object_;
};

template <typename R, typename... Args>
struct FromPython<Function<R(Args...)>> {
  static Function<R(Args...)> convert(PyObject* object) {
    const PythonApi& api = python_api();
    if (const OfferedFunction* offered = api.offered(object)) {
      if (offered->signature() == typeid(R(Args...))) {
        return static_cast<const Offered<R, Args...>*>(offered)->function();
      }
      return stand_for(api, object, offered->base().engine_function());
    }
    if (auto function = api.function(object)) return stand_for(api, object, std::move(function));
    throw_misfit("what tf.function makes", object);
  }
  static Function<R(Args...)> stand_for(const PythonApi& api, PyObject* object,
                                        engine::Ref<engine::Function> function) {
    return Function<R(Args...)>(
        std::make_shared<const PythonFunction<R>>(api, object, std::move(function)));
  }
};

}  // namespace internal

inline bool import_graven() { return internal::import_python_api() != nullptr; }

template <typename T>
PyObject* to_python(const T& value) {
  const internal::PythonApi* api = internal::import_python_api();
  return api ? api->to_python(Convert<T>::to_value(value)) : nullptr;
}

inline PyObject* to_python(const Variable& variable) {
  if (variable.is_none()) return Py_NewRef(Py_None);
  const internal::PythonApi* api = internal::import_python_api();
  return api ? api->variable_to_python(variable.handle()) : nullptr;
}

template <typename R, typename... Args>
PyObject* to_python(const Function<R(Args...)>& function) {
  const internal::PythonApi* api = internal::import_python_api();
  if (!api) return nullptr;
  if (function.foreign()) return static_cast<PyObject*>(function.foreign()->object());
  if (PyObject* known = api->find_offered(*function.engine_function())) return known;
  return api->offer(std::make_unique<internal::Offered<R, Args...>>(function));
}

template <typename T>
T from_python(PyObject* object) {
  if (!object) {
    if (PyErr_Occurred()) throw_python_exception();
    throw_error(engine::type_error("There is no Python object: it is null"), {});
  }
  return internal::convert_part([&] { return internal::FromPython<T>::convert(object); },
                                [] { return "The object"; });
}

template <typename F>
PyObject* python_guard(F&& function) {
  try {
    return std::forward<F>(function)();
  } catch (abi::__forced_unwind&) {  // Python ends, and with it the thread of a daemon
    throw;
  } catch (...) {
    set_python_exception(std::current_exception());
    return nullptr;
  }
}

inline void set_python_exception(std::exception_ptr exception) {
  if (const internal::PythonApi* api = internal::import_python_api()) {
    api->set_exception(std::move(exception));
  }
}

[[noreturn]] inline void throw_python_exception(std::source_location location) {
  throw_error(internal::python_api().take_exception(), location);
}

}  // namespace graven
