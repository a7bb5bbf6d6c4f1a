#include "graven/python/errors.h"

#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graven/api/error.h"
#include "graven/function/trace_lock.h"
#include "graven/ir/host_function.h"
#include "graven/ir/location.h"
#include "graven/python/host_error.h"
#include "graven/python/object.h"
#include "graven/python/opaque.h"
#include "graven/runtime/host_execution_error.h"
#include "graven/runtime/program.h"

namespace graven::python {
namespace {

using engine::Code;
using engine::ErrorKind;
using engine::ExecutionError;
using engine::HostError;
using engine::HostExecutionError;
using engine::Ref;
using engine::Status;

// The exception of the user's code, with its traceback, on its way through the engine.
class PythonException final : public engine::Payload {
 public:
  PythonException(PyObject* type, PyObject* value, PyObject* traceback)
      : type_(type), value_(value), traceback_(traceback) {}
  ~PythonException() override {
    if (!Py_IsInitialized()) return;
    HoldGil gil;
    for (PyObject* part : {type_, value_, traceback_}) drop(part);
  }
  PyObject* value() const { return value_; }
  void restore() const {
    Py_XINCREF(type_);
    Py_XINCREF(value_);
    Py_XINCREF(traceback_);
    PyErr_Restore(type_, value_, traceback_);
  }

  void drop_frames() {
    if (traceback_) note_lines();
    Py_CLEAR(traceback_);
    PyException_SetTraceback(value_, Py_None);
    clear_tracebacks_behind(value_);
  }

 private:
  void note_lines() const {
    static constinit Imported format_lines("traceback", "format_tb");
    PyObject* format = format_lines.get();
    Object lines =
        format ? Object::take(run_python<PyObject_CallOneArg>(format, traceback_)) : Object();
    Object nothing = lines ? Object::take(PyUnicode_FromString("")) : Object();
    Object text = nothing ? Object::take(PyUnicode_Join(nothing.get(), lines.get())) : Object();
    if (text) text = Object::take(PyUnicode_FromFormat("It was raised earlier:\n%U", text.get()));
    if (text) Object::take(run_python<PyObject_CallMethod>(value_, "add_note", "O", text.get()));
    PyErr_Clear();  // the exception is told without its lines then
  }
  // Of those that led to an exception, each once: a cause is most often the context, too.
  static void clear_tracebacks_behind(PyObject* exception) {
    std::vector<Object> left{Object::borrow(exception)};
    while (!left.empty()) {
      const Object next = std::move(left.back());
      left.pop_back();
      for (auto get : {PyException_GetContext, PyException_GetCause}) {
        Object behind = Object::take(get(next.get()));
        if (!behind) continue;
        const Object lines = Object::take(PyException_GetTraceback(behind.get()));
        if (!lines || lines.get() == Py_None) continue;  // never raised, or met before
        PyException_SetTraceback(behind.get(), Py_None);
        left.push_back(std::move(behind));
      }
    }
  }

  PyObject *type_, *value_, *traceback_;  // owned
};

// The class of the language itself, or null for classes of graven.errors.
PyObject* builtin_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValueError:
      return PyExc_ValueError;
    case ErrorKind::kTypeError:
      return PyExc_TypeError;
    case ErrorKind::kIndexError:
      return PyExc_IndexError;
    case ErrorKind::kKeyError:
      return PyExc_KeyError;
    case ErrorKind::kAttributeError:
      return PyExc_AttributeError;
    case ErrorKind::kLookupError:
      return PyExc_LookupError;
    case ErrorKind::kRuntimeError:
    case ErrorKind::kUserException:  // of a front end that is not Python
      return PyExc_RuntimeError;
    case ErrorKind::kNotImplementedError:
      return PyExc_NotImplementedError;
    case ErrorKind::kAssertionError:
      return PyExc_AssertionError;
    case ErrorKind::kOverflowError:
      return PyExc_OverflowError;
    case ErrorKind::kKeyboardInterrupt:
      return PyExc_KeyboardInterrupt;
    case ErrorKind::kRecursionError:
      return PyExc_RecursionError;
    case ErrorKind::kOpError:
    case ErrorKind::kOperatorNotAllowedInGraphError:
    case ErrorKind::kInaccessibleTensorError:
      return nullptr;
  }
  return PyExc_RuntimeError;
}

Object from_errors_module(const char* name) {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven.errors"));
  return module ? Object::take(run_python<PyObject_GetAttrString>(module.get(), name)) : module;
}

// An OpError's class: that of the code, or of a refusal by a trace lock.
Object class_of(const Status& status) {
  if (dynamic_cast<const engine::TraceLockRefusal*>(status.payload().get())) {
    return from_errors_module("TraceLockError");
  }
  Object by_code = from_errors_module("_class_of_code");
  if (!by_code) return by_code;
  return Object::take(
      run_python<PyObject_CallFunction>(by_code.get(), "i", static_cast<int>(status.code())));
}

void set_op_error(const Status& status, PyObject* message) {
  Object klass = class_of(status);
  if (!klass) return;
  Object error = Object::take(
      run_python<PyObject_CallFunctionObjArgs>(klass.get(), Py_None, Py_None, message, nullptr));
  if (error) PyErr_SetObject(klass.get(), error.get());
}

// Where the node was made: "Detected at node ..." and the user's lines.
std::string place_of(const ExecutionError& error) {
  std::string text = engine::str_cat("Detected at node ", error.node_name,
                                     " defined at (most recent call last):\n");
  if (error.location) {
    for (const engine::SourceFrame& frame : error.location->frames()) {
      text += engine::str_cat("  File \"", frame.file, "\", line ", frame.line, ", in ",
                              frame.function, "\n");
      if (!frame.text.empty()) text += engine::str_cat("\n    ", frame.text, "\n\n");
    }
  }
  return text;
}

// All of a str, NUL characters too; none, maybe with an exception set, if it is no str or has no
// UTF-8.
std::optional<std::string> utf8_of(const Object& text) {
  Py_ssize_t size = 0;
  const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
  return utf8 ? std::optional(std::string(utf8, static_cast<size_t>(size))) : std::nullopt;
}

// The message of a Function that is called <lambda> comes first, as it was.
std::string execution_message(const ExecutionError& error, const std::string& message) {
  if (error.function.find("<lambda>") == std::string::npos) {
    return engine::str_cat("Graph execution error:\n\n", place_of(error), "\n", message);
  }
  return engine::str_cat("{{function_node ", error.function, "}} ", message, "\n\t [[{{node ",
                         error.node_name, "}}]] [Op:", error.function, "]\n\n", place_of(error));
}

// The exception behind the error, or null.
const PythonException* cause_of(const engine::Payload* payload) {
  const engine::Payload* cause = nullptr;
  if (const auto* error = dynamic_cast<const HostError*>(payload)) cause = error->cause().get();
  if (const auto* error = dynamic_cast<const HostExecutionError*>(payload)) {
    cause = error->cause().get();
  }
  return dynamic_cast<const PythonException*>(cause);
}

// Makes it the cause of the exception that is set.
void set_cause(PyObject* cause) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  run_python<PyErr_NormalizeException>(&type, &value, &traceback);
  Py_INCREF(cause);
  PyException_SetCause(value, cause);
  PyErr_Restore(type, value, traceback);
}

}  // namespace

bool is_trace_lock_error(PyObject* type) {
  static constinit Imported klass("graven.errors", "TraceLockError");
  if (!klass.get()) PyErr_Clear();
  return klass.get() && PyErr_GivenExceptionMatches(type, klass.get());
}

PyObject* raise(const Status& status) {
  if (const auto* exception = dynamic_cast<const PythonException*>(status.payload().get())) {
    exception->restore();
    return nullptr;
  }
  std::string text = status.message();
  if (const auto* error = dynamic_cast<const ExecutionError*>(status.payload().get())) {
    text = execution_message(*error, text);
  }
  // A string of the user's in the message may be anything.
  Object message = Object::take(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  if (!message) return nullptr;
  if (PyObject* klass = builtin_class(status.kind())) {
    PyErr_SetObject(klass, message.get());
  } else if (status.kind() == ErrorKind::kOpError) {
    set_op_error(status, message.get());
  } else {
    bool is_operator = status.kind() == ErrorKind::kOperatorNotAllowedInGraphError;
    Object klass = from_errors_module(is_operator ? "OperatorNotAllowedInGraphError"
                                                  : "InaccessibleTensorError");
    if (klass) PyErr_SetObject(klass.get(), message.get());
  }
  const PythonException* cause = cause_of(status.payload().get());
  if (cause && PyErr_Occurred()) set_cause(cause->value());
  return nullptr;
}

Status pending_exception() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (!type) return engine::internal_error("A Python function failed without an exception");
  run_python<PyErr_NormalizeException>(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  std::string message;
  {
    Object text = Object::take(run_python<PyObject_Str>(value));
    if (auto utf8 = utf8_of(text)) message = std::move(*utf8);
    PyErr_Clear();
  }
  // Says to code that might try again that it must not: interrupts, refusals by a trace lock, and
  // too little of the stack.
  const bool is_interrupt = !PyErr_GivenExceptionMatches(type, PyExc_Exception);
  const Code code = is_interrupt || is_trace_lock_error(type) ? Code::kCancelled
                    : PyErr_GivenExceptionMatches(type, PyExc_RecursionError)
                        ? Code::kResourceExhausted
                        : Code::kUnknown;
  Ref<engine::Payload> exception(new PythonException(type, value, traceback));
  return Status(code, std::move(message), ErrorKind::kUserException)
      .with_payload(std::move(exception));
}

namespace {

// TensorFlow's code for an exception of a function that a graph calls.
Code code_of_host_error(PyObject* error) {
  const std::pair<PyObject*, Code> codes[] = {{PyExc_ValueError, Code::kInvalidArgument},
                                              {PyExc_TypeError, Code::kInvalidArgument},
                                              {PyExc_StopIteration, Code::kOutOfRange},
                                              {PyExc_MemoryError, Code::kResourceExhausted},
                                              {PyExc_NotImplementedError, Code::kUnimplemented}};
  for (const auto& [klass, code] : codes) {
    if (PyErr_GivenExceptionMatches(error, klass)) return code;
  }
  return Code::kUnknown;
}

// "TypeError: the message", then the traceback.
std::string text_of_host_error(PyObject* error) {
  static constinit Imported describe("graven._host_functions", "describe");
  PyObject* function = describe.get();
  Object text =
      function ? Object::take(run_python<PyObject_CallOneArg>(function, error)) : Object();
  std::optional<std::string> utf8 = utf8_of(text);
  std::string described = utf8 ? std::move(*utf8) : full_class_name(error);
  PyErr_Clear();
  return described;
}

}  // namespace

Status without_frames(const Status& status) {
  if (auto* exception = dynamic_cast<PythonException*>(status.payload().get())) {
    HoldGil gil;
    exception->drop_frames();
  }
  return status;
}

Status pending_host_error() {
  const Status status = pending_exception();
  const auto* exception = dynamic_cast<const PythonException*>(status.payload().get());
  if (!exception || !PyErr_GivenExceptionMatches(exception->value(), PyExc_Exception)) {
    return status;
  }
  return Status(code_of_host_error(exception->value()), text_of_host_error(exception->value()))
      .with_payload(engine::make_ref<HostError>(status.payload()));
}

namespace {

struct Class {
  ErrorKind kind;
  Code code;
};

bool is_of(PyObject* error, const char* name) {
  Object klass = from_errors_module(name);
  const bool is = klass && PyErr_GivenExceptionMatches(error, klass.get());
  PyErr_Clear();
  return is;
}

// What C++ calls the class of a Python exception; none for a class of the user's.
std::optional<Class> class_of(PyObject* error) {
  if (is_of(error, "OpError")) {
    Object code = Object::take(run_python<PyObject_GetAttrString>(error, "error_code"));
    const long number = code && PyLong_Check(code.get()) ? PyLong_AsLong(code.get()) : -1;
    PyErr_Clear();
    const bool is_known = number > 0 && number <= static_cast<long>(Code::kUnauthenticated);
    return Class{ErrorKind::kOpError, is_known ? static_cast<Code>(number) : Code::kUnknown};
  }
  if (is_of(error, "OperatorNotAllowedInGraphError")) {
    return Class{ErrorKind::kOperatorNotAllowedInGraphError, Code::kInvalidArgument};
  }
  if (is_of(error, "InaccessibleTensorError")) {
    return Class{ErrorKind::kInaccessibleTensorError, Code::kInvalidArgument};
  }
  struct Builtin {
    PyObject* klass;
    Class as;
  };
  const Builtin builtins[] = {
      // derived classes first
      {PyExc_KeyboardInterrupt, {ErrorKind::kKeyboardInterrupt, Code::kCancelled}},
      {PyExc_IndexError, {ErrorKind::kIndexError, Code::kOutOfRange}},
      {PyExc_KeyError, {ErrorKind::kKeyError, Code::kNotFound}},
      {PyExc_LookupError, {ErrorKind::kLookupError, Code::kNotFound}},
      {PyExc_OverflowError, {ErrorKind::kOverflowError, Code::kInvalidArgument}},
      {PyExc_RecursionError, {ErrorKind::kRecursionError, Code::kResourceExhausted}},
      {PyExc_NotImplementedError, {ErrorKind::kNotImplementedError, Code::kUnimplemented}},
      {PyExc_RuntimeError, {ErrorKind::kRuntimeError, Code::kUnknown}},
      {PyExc_AttributeError, {ErrorKind::kAttributeError, Code::kNotFound}},
      {PyExc_AssertionError, {ErrorKind::kAssertionError, Code::kInternal}},
      {PyExc_TypeError, {ErrorKind::kTypeError, Code::kInvalidArgument}},
      {PyExc_ValueError, {ErrorKind::kValueError, Code::kInvalidArgument}}};
  for (const Builtin& builtin : builtins) {
    if (PyErr_GivenExceptionMatches(error, builtin.klass)) return builtin.as;
  }
  return std::nullopt;
}

// An Error's status with its line of C++ in front, which no traceback of Python's shows. The text
// of an error of a run has its lines already.
Status with_line(const Error& error) {
  const auto* payload = error.status().payload().get();
  const std::source_location& where = error.where();
  if (where.line() == 0 || dynamic_cast<const ExecutionError*>(payload)) return error.status();
  return error.status().with_prefix(
      engine::str_cat(where.file_name(), ":", where.line(), ": in ", where.function_name(), ": "));
}

}  // namespace

Status pending_error() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (!type) return pending_exception();
  run_python<PyErr_NormalizeException>(&type, &value, &traceback);
  const std::optional<Class> known = class_of(value);
  const bool is_refusal = is_of(value, "TraceLockError");
  const std::string name = full_class_name(value);
  PyErr_Restore(type, value, traceback);
  Status status = pending_exception();
  if (status.message().empty()) {  // a KeyboardInterrupt in general
    status = status.with_prefix(name);
  } else if (!known) {
    status = status.with_prefix(engine::str_cat(name, ": "));
  }
  if (!known) return status;
  const Status made(known->code, status.message(), known->kind);
  // The refusal is known by its payload, and made anew in Python.
  if (is_refusal) return made.with_payload(engine::make_ref<engine::TraceLockRefusal>());
  return made.with_payload(status.payload());
}

namespace {

// The texts of C++ exceptions may be in any encoding.
void set_exception(PyObject* type, const char* text) {
  const auto size = static_cast<Py_ssize_t>(std::strlen(text));
  Object message = Object::take(PyUnicode_DecodeUTF8(text, size, "replace"));
  if (message) PyErr_SetObject(type, message.get());
}

}  // namespace

void raise(std::exception_ptr exception) {
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const Error& error) {
    raise(with_line(error));
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::out_of_range& error) {
    set_exception(PyExc_IndexError, error.what());
  } catch (const std::overflow_error& error) {
    set_exception(PyExc_OverflowError, error.what());
  } catch (const std::logic_error& error) {  // invalid_argument, domain_error, length_error
    set_exception(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    set_exception(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an exception of C++ that is no std::exception");
  }
}

}  // namespace graven::python
