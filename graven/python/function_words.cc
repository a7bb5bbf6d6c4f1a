#include "graven/python/function_words.h"

#include <cmath>
#include <utility>

#include "graven/base/strings.h"
#include "graven/python/tensor_object.h"

namespace graven::python {
namespace {

using engine::KeyTag;
using engine::KeyWriter;

// The words of a structure, between addresses.
enum Mark : uint64_t { kData = 1, kFunction, kMethod, kOther };

constexpr int kMaxDepth = 4;  // of functions captured by functions, and of tuples in tuples
constexpr Py_ssize_t kMaxItems = 64;
constexpr int kNotPlain = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;

constinit Imported variable_class("graven._variable", "Variable");
constinit Imported dtype_class("graven._dtypes", "DType");

uint64_t word(const void* address) { return reinterpret_cast<uintptr_t>(address); }

bool is_empty_dict(PyObject* dict) {
  return !dict || dict == Py_None || (PyDict_Check(dict) && PyDict_GET_SIZE(dict) == 0);
}

// What compares by identity and is data all the same.
bool is_data_object(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == eager_tensor_type) return true;
  auto* object = reinterpret_cast<PyObject*>(type);
  return object == variable_class.get() || object == dtype_class.get();
}

// The module whose names these are, borrowed; null if there is none.
PyObject* module_of(PyObject* globals) {
  PyObject* name = PyDict_GetItemString(globals, "__name__");
  PyObject* modules = PyImport_GetModuleDict();
  if (!name || !PyUnicode_CheckExact(name) || !modules || !PyDict_CheckExact(modules)) {
    return nullptr;
  }
  PyObject* module = PyDict_GetItemWithError(modules, name);
  if (!module) PyErr_Clear();
  const bool is_its = module && PyModule_CheckExact(module) && PyModule_GetDict(module) == globals;
  return is_its ? module : nullptr;
}

}  // namespace

PyObject* function_within(PyObject* callable) {
  if (PyMethod_Check(callable)) callable = PyMethod_GET_FUNCTION(callable);
  return PyFunction_Check(callable) ? callable : nullptr;
}

PyObject* code_of(PyObject* callable) {
  PyObject* function = function_within(callable);
  return function ? function_of(function)->func_code : nullptr;
}

bool is_bare(PyObject* object) {
  const PyFunctionObject* function = function_of(object);
  const auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  return !(code->co_flags & kNotPlain) && is_empty_dict(function->func_dict) &&
         is_empty_dict(function->func_kwdefaults);
}

bool add_plain(PyObject* value, KeyWriter* key, int depth) {
  PyTypeObject* type = Py_TYPE(value);
  if (value == Py_None) {
    if (key) key->add_none();
  } else if (type == &PyBool_Type) {
    if (key) key->add_bool(value == Py_True);
  } else if (type == &PyLong_Type) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) return false;
    if (key) key->add_integer(number);
  } else if (type == &PyFloat_Type) {
    if (std::isnan(PyFloat_AS_DOUBLE(value))) return false;
    if (key) key->add_float(PyFloat_AS_DOUBLE(value));
  } else if (type == &PyComplex_Type) {
    const Py_complex z = PyComplex_AsCComplex(value);
    if (std::isnan(z.real) || std::isnan(z.imag)) return false;
    // Not add_complex, for which zeros of both signs are one.
    if (key) key->begin(KeyTag::kArguments, 2);
    if (key) key->add_float(z.real);
    if (key) key->add_float(z.imag);
  } else if (type == &PyUnicode_Type) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size);
    if (!utf8) PyErr_Clear();
    if (!utf8) return false;
    if (key) key->add_text({utf8, static_cast<size_t>(size)});
  } else if (type == &PyBytes_Type) {
    if (key) {
      key->add_bytes({PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value))});
    }
  } else if (type == &PyTuple_Type) {
    const Py_ssize_t size = PyTuple_GET_SIZE(value);
    if (depth >= kMaxDepth || size > kMaxItems) return false;
    if (key) key->begin(KeyTag::kTuple, static_cast<size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!add_plain(PyTuple_GET_ITEM(value, i), key, depth + 1)) return false;
    }
  } else {
    return false;
  }
  return true;
}

bool FunctionWords::fail(std::string why) {
  why_ = std::move(why);
  return false;
}

// Words begin with a tag that no other argument's do, so that a tuple is not taken for a function.
bool FunctionWords::add(PyObject* callable) {
  return PyMethod_Check(callable) ? add_method(callable) : add_function(callable, 0);
}

bool FunctionWords::add_method(PyObject* method) {
  PyObject* function = PyMethod_GET_FUNCTION(method);
  PyObject* self = PyMethod_GET_SELF(method);
  if (!PyFunction_Check(function)) return fail("it is a method of something else than a function");
  if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(self))) return fail("its object may not be weakly held");
  key_.begin(KeyTag::kKeywords, kMethod);
  key_.add_address(function);
  key_.add_address(self);
  for (uint64_t each : {uint64_t{kMethod}, word(function), word(self)}) structure_.push_back(each);
  note(function);
  note(self);
  return true;
}

bool FunctionWords::add_function(PyObject* object, int depth) {
  const PyFunctionObject* function = function_of(object);
  if (depth > kMaxDepth) return fail("functions that it has captured capture functions in turn");
  if (!is_bare(object)) {
    return fail("it has attributes or keyword-only defaults, or is a wrapper or a generator");
  }
  PyObject* defaults = function->func_defaults;
  PyObject* cells = function->func_closure;
  const Py_ssize_t num_defaults = defaults ? PyTuple_GET_SIZE(defaults) : 0;
  const Py_ssize_t num_cells = cells ? PyTuple_GET_SIZE(cells) : 0;
  key_.begin(KeyTag::kKeywords, kFunction);
  key_.add_address(function->func_code);
  key_.add_address(function->func_globals);
  for (uint64_t each :
       {uint64_t{kFunction}, word(function->func_code), word(function->func_globals),
        word(function->func_builtins), static_cast<uint64_t>(num_defaults)}) {
    structure_.push_back(each);
  }
  key_.begin(KeyTag::kArguments, static_cast<size_t>(num_defaults));
  if (objects_) {
    PyObject* module = module_of(function->func_globals);
    if (!module) return fail("its globals are no module's");
    note(function->func_code);
    note(module);
  }
  for (Py_ssize_t i = 0; i < num_defaults; ++i) {
    if (!add_captured(PyTuple_GET_ITEM(defaults, i), depth)) return false;
  }
  for (Py_ssize_t i = 0; i < num_cells; ++i) {
    PyObject* content = PyCell_GET(PyTuple_GET_ITEM(cells, i));
    if (!content) return fail("it has captured a variable that has no value");
    if (!add_captured(content, depth)) return false;
  }
  return true;
}

bool FunctionWords::add_captured(PyObject* value, int depth) {
  if (PyFunction_Check(value)) return add_function(value, depth + 1);
  if (add_plain(value, &key_)) {
    structure_.push_back(kData);
    return true;
  }
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyFloat_Type || type == &PyComplex_Type || type == &PyTuple_Type ||
      type == &PyLong_Type || type == &PyUnicode_Type) {
    return fail("it has captured a number or tuple that is not compared by value");
  }
  return add_object(value);
}

bool FunctionWords::add_object(PyObject* object) {
  if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(object))) {
    return fail(engine::str_cat("it has captured a `", Py_TYPE(object)->tp_name, "`"));
  }
  key_.add_address(object);
  note(object);
  if (is_data_object(object)) {
    structure_.push_back(kData);
  } else {
    structure_.push_back(kOther);
    structure_.push_back(word(object));
  }
  return true;
}

}  // namespace graven::python
