#include "graven/python/callable.h"

#include <nanobind/stl/string.h>
#include <structmember.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "graven/base/inline_vector.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/python/bind.h"
#include "graven/python/graph_object.h"
#include "graven/python/tensor_object.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

struct CallableObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  Callable* callable;
  PyObject* name;        // str
  PyObject* parameters;  // tuple of interned str
  PyObject* dict;
  PyObject* weak_references;
};

PyTypeObject* callable_type = nullptr;

CallableObject* self_of(PyObject* object) { return reinterpret_cast<CallableObject*>(object); }

// The position of a parameter, or -1. Names of keywords are interned almost always.
Py_ssize_t find_parameter(PyObject* parameters, PyObject* name) {
  const Py_ssize_t n = PyTuple_GET_SIZE(parameters);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (PyTuple_GET_ITEM(parameters, i) == name) return i;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (PyUnicode_Compare(PyTuple_GET_ITEM(parameters, i), name) == 0) return i;
  }
  return -1;
}

PyObject* vectorcall(PyObject* object, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  CallableObject* self = self_of(object);
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), n = PyTuple_GET_SIZE(self->parameters);
  const auto variadic = self->callable->variadic();
  Py_ssize_t num_positional = nargs;
  Object rest;
  if (variadic) {
    num_positional = std::min(nargs, static_cast<Py_ssize_t>(*variadic));
    rest = Object::take(PyTuple_New(nargs - num_positional));
    if (!rest) return nullptr;
    for (Py_ssize_t i = num_positional; i < nargs; ++i) {
      PyTuple_SET_ITEM(rest.get(), i - num_positional, Py_NewRef(args[i]));
    }
  } else if (nargs > n) {
    return PyErr_Format(PyExc_TypeError,
                        "%U() takes at most %zd positional arguments but %zd were given",
                        self->name, n, nargs);
  }
  engine::InlineVector<PyObject*, 16> bound(static_cast<size_t>(n), nullptr);
  std::copy(args, args + num_positional, bound.begin());
  if (variadic) bound[*variadic] = rest.get();
  const Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    const Py_ssize_t at = find_parameter(self->parameters, name);
    if (at < 0 || (variadic && at == static_cast<Py_ssize_t>(*variadic))) {
      return PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'",
                          self->name, name);
    }
    if (bound[static_cast<size_t>(at)]) {
      return PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", self->name,
                          name);
    }
    bound[static_cast<size_t>(at)] = args[nargs + k];
  }
  for (size_t i = 0; i < self->callable->num_required(); ++i) {
    if (!bound[i]) {
      return PyErr_Format(PyExc_TypeError, "%U() missing required argument: '%U'", self->name,
                          PyTuple_GET_ITEM(self->parameters, static_cast<Py_ssize_t>(i)));
    }
  }
  // C++ code of this project throws nothing here, but the libraries under it may: memory, lengths.
  try {
    return self->callable->call({bound.data(), bound.size()});
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

void dealloc(PyObject* object) {
  CallableObject* self = self_of(object);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->name);
  Py_CLEAR(self->parameters);
  Py_CLEAR(self->dict);
  delete self->callable;
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* get_name(PyObject* object, void*) { return Py_NewRef(self_of(object)->name); }

// (parameter, default): required parameters have no default, which is an empty tuple. The name of a
// variadic one has a star, as in Python.
PyObject* get_defaults(PyObject* object, void*) {
  CallableObject* self = self_of(object);
  Object list = Object::take(PyList_New(0));
  for (Py_ssize_t i = 0; list && i < PyTuple_GET_SIZE(self->parameters); ++i) {
    const auto at = static_cast<size_t>(i);
    const bool is_variadic = self->callable->variadic() == at;
    const bool has_default = at >= self->callable->num_required() && !is_variadic;
    Object value = has_default ? self->callable->default_of(at) : Object::take(PyTuple_New(0));
    Object name = Object::take(
        PyUnicode_FromFormat(is_variadic ? "*%U" : "%U", PyTuple_GET_ITEM(self->parameters, i)));
    Object pair = value && name ? Object::take(PyTuple_Pack(2, name.get(), value.get())) : Object();
    if (!pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* get_record(PyObject* object, void*) {
  return self_of(object)->callable->record().release().ptr();
}

PyObject* from_docs(PyObject* self, const char* function) {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._record_docs"));
  return module ? run_python<PyObject_CallMethod>(module.get(), function, "O", self) : nullptr;
}
PyObject* get_doc(PyObject* self, void*) { return from_docs(self, "docstring"); }
PyObject* get_signature(PyObject* self, void*) { return from_docs(self, "signature"); }

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<function %U of graven>", self_of(self)->name);
}

// The module that it is public in: "graven.nn".
PyObject* get_module(PyObject* object, void*) {
  const std::string& name = self_of(object)->callable->public_name();
  const size_t point = name.rfind('.');
  const std::string module = point == std::string::npos ? "" : "." + name.substr(0, point);
  return PyUnicode_FromFormat("graven%s", module.c_str());
}

// Pickled and copied by its name, as functions are.
PyObject* reduce(PyObject* object, PyObject*) {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._public"));
  Object function = module
                        ? Object::take(run_python<PyObject_GetAttrString>(module.get(), "function"))
                        : Object();
  if (!function) return nullptr;
  const std::string& name = self_of(object)->callable->public_name();
  return Py_BuildValue("O(s)", function.get(), name.c_str());
}

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__module__", get_module, nullptr, nullptr, nullptr},
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_parameters", get_defaults, nullptr, nullptr, nullptr},
    {"_record", get_record, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallableObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(CallableObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CallableObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {
    "graven._engine.PublicFunction", sizeof(CallableObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

PyObject* wrap(std::unique_ptr<Callable> callable) {
  Object object = Object::take(callable_type->tp_alloc(callable_type, 0));
  if (!object) return nullptr;
  CallableObject* self = self_of(object.get());
  self->vectorcall = vectorcall;
  self->callable = callable.release();
  self->name = PyUnicode_FromString(self->callable->name().c_str());
  const auto parameters = self->callable->parameters();
  self->parameters = PyTuple_New(static_cast<Py_ssize_t>(parameters.size()));
  if (!self->name || !self->parameters) return nullptr;
  for (size_t i = 0; i < parameters.size(); ++i) {
    PyObject* text = PyUnicode_InternFromString(parameters[i].c_str());
    if (!text) return nullptr;
    PyTuple_SET_ITEM(self->parameters, static_cast<Py_ssize_t>(i), text);
  }
  return object.release();
}

Object list_of(std::span<engine::Tensor> tensors) {
  Object list = Object::take(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; list && i < tensors.size(); ++i) {
    PyObject* item = tensors[i] ? wrap(std::move(tensors[i])) : Py_NewRef(Py_None);
    if (!item) return {};
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list;
}

Object named_tuple_class(const std::string& name, std::span<const std::string> fields) {
  Object names = Object::take(PyList_New(0));
  for (const std::string& field : fields) {
    Object text = Object::take(PyUnicode_FromString(field.c_str()));
    if (!text || PyList_Append(names.get(), text.get()) < 0) return {};
  }
  Object collections = Object::take(run_python<PyImport_ImportModule>("collections"));
  if (!collections || !names) return {};
  return Object::take(run_python<PyObject_CallMethod>(collections.get(), "namedtuple", "sO",
                                                      name.c_str(), names.get()));
}

size_t count_nodes() {
  engine::Frame& frame = engine::Frame::current();
  return frame.is_graph() ? frame.graph()->nodes().size() : 0;
}

PyObject* operation_or_none(size_t nodes_before) {
  engine::Frame& frame = engine::Frame::current();
  if (!frame.is_graph() || frame.graph()->nodes().size() <= nodes_before) Py_RETURN_NONE;
  // What gives something is an argument that became a tensor.
  if (frame.graph()->nodes().back()->num_outputs() > 0) Py_RETURN_NONE;
  return wrap_operation(frame.graph_builder()->graph_ref(), frame.graph()->nodes().back());
}

nb::list types_to_python(std::span<const engine::TypeConstraint> types) {
  nb::list result;
  for (const engine::TypeConstraint& type : types) {
    nb::list names;
    for (int d = 0; d < engine::kNumDTypes; ++d) {
      const auto dtype = static_cast<engine::DType>(d);
      if (type.allowed.contains(dtype)) names.append(nb::cast(std::string(dtype_name(dtype))));
    }
    result.append(nb::make_tuple(type.name, names));
  }
  return result;
}

void bind_callable(nb::module_& m) {
  callable_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!callable_type) throw nb::python_error();
  m.attr("PublicFunction") = nb::handle(reinterpret_cast<PyObject*>(callable_type));
}

}  // namespace graven::python
