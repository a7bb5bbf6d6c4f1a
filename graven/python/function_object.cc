#include "graven/python/function_object.h"

#include <structmember.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <string>

#include "graven/ir/frame.h"
#include "graven/python/bind.h"
#include "graven/python/cache_info.h"
#include "graven/python/convert.h"
#include "graven/python/entry_object.h"
#include "graven/python/errors.h"
#include "graven/python/function_arguments.h"
#include "graven/python/function_resolve.h"
#include "graven/python/opaque.h"
#include "graven/python/pure_arguments.h"
#include "graven/python/slot.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/tracer.h"
#include "graven/python/value.h"

namespace graven::python {

PyTypeObject* function_type = nullptr;

namespace {

using engine::Entry;
using engine::ParameterKind;
using engine::Ref;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::Value;

// tf.config.run_functions_eagerly.
std::atomic<bool> g_run_eagerly{false};

FunctionObject* self_of(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

// Null with an exception set for an object that only __new__ has made.
FunctionObject* initialised(PyObject* object) {
  FunctionObject* self = self_of(object);
  if (self->function) return self;
  PyErr_SetString(PyExc_RuntimeError, "The function was not initialised: call Function.__init__");
  return nullptr;
}

// Lets a Function own an object that its traces need.
bool keep(FunctionObject* function, PyObject* object) {
  PyObject* kept = function->kept;
  if (kept == object) return true;
  Py_ssize_t n = PyList_GET_SIZE(kept);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (PyList_GET_ITEM(kept, i) == object) return true;
  }
  // Slots of traces that failed or went are dropped each time the list has doubled.
  if (n >= 16 && std::has_single_bit(static_cast<size_t>(n))) {
    Object living = Object::take(PyList_New(0));
    for (Py_ssize_t i = 0; living && i < n; ++i) {
      PyObject* item = PyList_GET_ITEM(kept, i);
      if (!is_empty_slot(item) && PyList_Append(living.get(), item) < 0) return false;
    }
    if (!living || PyList_SetSlice(kept, 0, n, living.get()) < 0) return false;
  }
  return PyList_Append(kept, object) == 0;
}

// Runs an entry and packs its result.
PyObject* run(FunctionObject* self, Entry& entry, std::span<const Tensor> tensors) {
  engine::Tensors outputs;
  if (self->kept && PyList_GET_SIZE(self->kept) > 0 && !keep_for_trace(self->kept)) return nullptr;
  if (!check_variables(entry)) return nullptr;
  if (entry.watches() && !note_watches(entry, self->function->shown_name())) return nullptr;
  Status status;
  if (entry.is_long()) {
    ReleaseGil release;
    status = entry.run(tensors, outputs);
  } else {
    status = entry.run(tensors, outputs);
  }
  if (!status.ok()) return raise(status);
  size_t next = 0;
  return to_python(entry.structured_outputs(), outputs, next).release();
}

// Calls a function of graven._function with the Function, the arguments as tuple and dict, and one
// object more if there is one.
PyObject* call_helper(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                      PyObject* const* keyword_values, PyObject* keyword_names,
                      PyObject* more = nullptr) {
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._function"));
  Object helper =
      module ? Object::take(run_python<PyObject_GetAttrString>(module.get(), name)) : Object();
  Object tuple = Object::take(PyTuple_New(nargs)), keywords = Object::take(PyDict_New());
  if (!helper || !tuple || !keywords) return nullptr;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    Py_INCREF(args[i]);
    PyTuple_SET_ITEM(tuple.get(), i, args[i]);
  }
  Py_ssize_t n = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(keyword_names, i), keyword_values[i]) < 0) {
      return nullptr;
    }
  }
  return run_python<PyObject_CallFunctionObjArgs>(helper.get(), self, tuple.get(), keywords.get(),
                                                  more, nullptr);
}

// The hits of several Functions together. Counted with the GIL.
struct HitTotal {
  std::shared_ptr<int64_t> hits = std::make_shared<int64_t>(0);
};

// Errors that binding and casting cause are told as such; those of the user's code are not.
bool is_binding_error(const Status& status) {
  return status.kind() == engine::ErrorKind::kTypeError &&
         status.message().rfind("Can not cast", 0) == 0;
}

// Raises the error of resolve: a casting error by graven._function, with the arguments.
PyObject* raise_resolving(const Status& status, PyObject* object, PyObject* const* args,
                          Py_ssize_t nargs, PyObject* const* keyword_values,
                          PyObject* keyword_names) {
  if (!is_binding_error(status)) return raise(status);
  raise(status);
  PyErr_Clear();
  Object cause = Object::take(PyUnicode_FromString(status.message().c_str()));
  if (!cause) return nullptr;
  return call_helper("raise_casting_error", object, args, nargs, keyword_values, keyword_names,
                     cause.get());
}

// The result of a call with unusual binding, computed by graven._function.
PyObject* call_unbound(Bound bound, PyObject* object, PyObject* const* args, Py_ssize_t nargs,
                       PyObject* keyword_names) {
  const char* helper = bound == Bound::kNo ? "raise_binding_error" : "call_with_sanitized_keywords";
  return call_helper(helper, object, args, nargs, args + nargs, keyword_names);
}

// Runs the entry that the row of the arguments leads to. False if there is none. A function of its
// own, as are its likes below, so that a trace does not keep their rows and arguments on the stack.
__attribute__((noinline)) bool call_found(PyObject* object, PyObject* const* args, Py_ssize_t nargs,
                                          PyObject* keyword_names, PyObject*& result) {
  FunctionObject* self = self_of(object);
  Arguments arguments;
  const Bound bound =
      bind(*self->signature, args, nargs, args + nargs, keyword_names, false, arguments);
  if (bound != Bound::kYes) {
    result = call_unbound(bound, object, args, nargs, keyword_names);
    return true;
  }
  ArgumentRow row(self->function->options().literals_equal_as_numbers, /*has_specs=*/false,
                  self->equal.get(), /*is_for_trace=*/false);
  if (!row.write(*self->signature, arguments)) return false;
  if (!row.functions().empty() &&
      !(row.may_be_equal() && self->equal->are_proven(row.structure()))) {
    return false;
  }
  engine::EntryInUse entry = self->function->find(row.words());
  if (!entry) return false;
  ++*self->hits;
  note_use(self, row, *entry);
  result = run(self, *entry, row.key().key().tensors());
  return true;
}

// After the first run of a trace, with the only reference to it: traces over the budgets go. An
// exception of the run may be pending, and is afterwards; false if a new one is.
__attribute__((noinline)) bool settle(FunctionObject* self, Ref<Entry> traced) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const std::optional<std::string> report = self->function->settle(std::move(traced));
  if (report) {
    Object text = Object::take(PyUnicode_FromString(report->c_str()));
    auto* object = reinterpret_cast<PyObject*>(self);
    Object done =
        text ? Object::take(call_helper("report", object, nullptr, 0, nullptr, nullptr, text.get()))
             : Object();
    if (!done && !type) return false;
  }
  PyErr_Restore(type, value, traceback);  // instead of one that the log raised
  return true;
}

// Finds the entry by the types of the arguments, or traces, and runs it.
__attribute__((noinline)) PyObject* call_by_types(PyObject* object, PyObject* const* args,
                                                  Py_ssize_t nargs, PyObject* keyword_names) {
  FunctionObject* self = self_of(object);
  auto arguments = std::make_unique<Arguments>();
  PyObject* const* keyword_values = args + nargs;
  // Code of the user's has run since they were bound the first time.
  const Bound bound =
      bind(*self->signature, args, nargs, keyword_values, keyword_names, false, *arguments);
  if (bound != Bound::kYes) return call_unbound(bound, object, args, nargs, keyword_names);
  auto resolved = resolve(self, *arguments, Purpose::kCall);
  if (!resolved.ok()) {
    return raise_resolving(resolved.status(), object, args, nargs, keyword_values, keyword_names);
  }
  *self->hits += !resolved->has_traced;
  Object result = Object::take(run(self, *resolved->entry, resolved->tensors));
  if (resolved->has_traced && !settle(self, std::move(resolved->entry))) return nullptr;
  if (result && resolved->has_traced && !engine::Frame::inside_function()) {
    Object noted = Object::take(call_helper("note_trace", object, nullptr, 0, nullptr, nullptr));
    if (!noted) return nullptr;
  }
  return result.release();
}

// Leaves frames of graven's own out of the traceback of the pending exception, as
// tf.debugging.enable_traceback_filtering says. Returns null.
__attribute__((noinline, cold)) PyObject* filter_traceback() {
  if (engine::Frame::inside_function()) return nullptr;  // the outermost call does it for all
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (traceback) {
    static constinit Imported filtered("graven._tracebacks", "filtered");
    Object left = filtered.get() ? Object::take(run_python<PyObject_CallFunctionObjArgs>(
                                       filtered.get(), traceback, nullptr))
                                 : Object();
    PyErr_Clear();  // then it stays as it was
    if (left) {
      drop(traceback);
      traceback = left.get() == Py_None ? nullptr : left.release();
    }
  }
  PyErr_Restore(type, value, traceback);
  return nullptr;
}

PyObject* call(PyObject* object, PyObject* const* args, size_t nargsf, PyObject* keyword_names) {
  FunctionObject* self = initialised(object);
  if (!self) return nullptr;
  Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  PureArguments pure;
  if (self->is_pure) {
    Py_ssize_t num_keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
    if (!pure.convert(args, nargs + num_keywords)) return nullptr;
    args = pure.data();
  }
  if (g_run_eagerly.load(std::memory_order_relaxed)) {
    PyObject* result =
        call_helper("call_eagerly", object, args, nargs, args + nargs, keyword_names);
    return result ? result : filter_traceback();
  }
  PyObject* result = nullptr;
  if (!call_found(object, args, nargs, keyword_names, result)) {
    result = call_by_types(object, args, nargs, keyword_names);
  }
  return result ? result : filter_traceback();
}

// --- The type's slots.

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  auto* self = reinterpret_cast<FunctionObject*>(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  new (&self->function) Ref<engine::Function>();
  new (&self->signature) std::unique_ptr<Signature>();
  new (&self->bindings) std::unique_ptr<Bindings>();
  new (&self->equal) std::unique_ptr<EqualFunctions>();
  new (&self->hits) std::shared_ptr<int64_t>(std::make_shared<int64_t>(0));
  self->vectorcall = call;
  self->kept = PyList_New(0);
  if (!self->kept) {
    Py_DECREF(reinterpret_cast<PyObject*>(self));
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(self);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  FunctionObject* self = self_of(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->python_function);
  Py_VISIT(self->instance);
  Py_VISIT(self->dict);
  Py_VISIT(self->kept);
  if (self->signature) {
    for (const auto& p : self->signature->parameters) Py_VISIT(p.default_value.get());
  }
  return 0;
}

int clear(PyObject* object) {
  FunctionObject* self = self_of(object);
  Py_CLEAR(self->python_function);
  Py_CLEAR(self->instance);
  Py_CLEAR(self->dict);
  Py_CLEAR(self->kept);
  if (self->signature) {
    for (auto& parameter : self->signature->parameters) parameter.default_value = Object();
  }
  return 0;
}

void dealloc(PyObject* object) {
  FunctionObject* self = self_of(object);
  PyObject_GC_UnTrack(object);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  clear(object);
  self->function.~Ref<engine::Function>();
  self->signature.~unique_ptr<Signature>();
  self->bindings.~unique_ptr<Bindings>();
  self->equal.~unique_ptr<EqualFunctions>();
  self->hits.~shared_ptr<int64_t>();
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

// The Function of an instance, borrowed; null if one of the two is gone.
PyObject* living(const Bindings::Binding& binding) {
  if (!binding.instance->is_alive()) return nullptr;
  PyObject* function = PyWeakref_GetObject(binding.function.get());
  return function == Py_None ? nullptr : function;
}

// A Function that was bound to an instance is found by address, without Python code.
// graven._function.bind_to_instance makes a new one, and also shares among equal instances.
PyObject* descr_get(PyObject* self, PyObject* instance, PyObject* owner) {
  if (!instance || instance == Py_None) return Py_NewRef(self);
  FunctionObject* function = self_of(self);
  if (!function->bindings) function->bindings = std::make_unique<Bindings>();
  auto& map = function->bindings->by_instance;
  if (auto at = map.find(instance); at != map.end()) {
    if (PyObject* bound = living(at->second)) return Py_NewRef(bound);
    map.erase(at);
  }
  // A composite tensor is an argument like others, so all share the Function of the class.
  auto is_composite = is_composite_tensor(instance);
  if (!is_composite.ok()) return raise(is_composite.status());
  if (*is_composite) return PyMethod_New(self, instance);
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._function"));
  Object helper =
      module ? Object::take(run_python<PyObject_GetAttrString>(module.get(), "bind_to_instance"))
             : Object();
  if (!helper) return nullptr;
  Object bound = Object::take(run_python<PyObject_CallFunctionObjArgs>(
      helper.get(), self, instance, owner ? owner : Py_None, nullptr));
  if (!bound) return nullptr;
  auto guard = guard_life(instance);
  if (!guard.ok()) return raise(guard.status());
  Object reference = Object::take(PyWeakref_NewRef(bound.get(), nullptr));
  if (!reference) return nullptr;
  if (map.size() >= function->bindings->sweep_at) {
    std::erase_if(map, [](const auto& item) { return !living(item.second); });
    function->bindings->sweep_at = std::max<size_t>(16, 2 * map.size());
  }
  map[instance] = {std::move(*guard), std::move(reference)};
  return bound.release();
}

// --- Methods that need the engine; the rest is in Python.

// Arguments that a method was given as (args, kwargs), bound to the parameters.
class Given {
 public:
  // False with an exception set if they cannot be bound.
  bool bind_to(PyObject* object, PyObject* args) {
    PyObject* keywords;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &positional_, &PyDict_Type, &keywords)) {
      return false;
    }
    FunctionObject* self = initialised(object);
    if (!self) return false;
    const Py_ssize_t n = PyDict_GET_SIZE(keywords);
    names_ = Object::take(PyTuple_New(n));
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(keywords, &at, &key, &value)) {
      Py_INCREF(key);
      PyTuple_SET_ITEM(names_.get(), static_cast<Py_ssize_t>(values_.size()), key);
      values_.push_back(value);
    }
    const bool is_empty = size() == 0 && n == 0;
    items_ = &PyTuple_GET_ITEM(positional_, 0);
    if (self->is_pure) {
      if (!pure_.convert(items_, size()) || !pure_keywords_.convert(values_.data(), n))
        return false;
      items_ = pure_.data();
      values_.assign(pure_keywords_.data(), pure_keywords_.data() + n);
    }
    const Bound outcome = bind(*self->signature, items_, size(), values_.data(), names_.get(),
                               is_empty && self->signature->has_constraints, bound_);
    if (outcome != Bound::kNo) return true;
    Object none = Object::take(
        call_helper("raise_binding_error", object, items_, size(), values_.data(), names_.get()));
    return false;
  }
  const Arguments& bound() const { return bound_; }
  PyObject* raise(const Status& status, PyObject* object) const {
    return raise_resolving(status, object, items_, size(), values_.data(), names_.get());
  }

 private:
  Py_ssize_t size() const { return PyTuple_GET_SIZE(positional_); }
  PyObject* positional_ = nullptr;  // borrowed
  Object names_;
  std::vector<PyObject*> values_;
  PureArguments pure_, pure_keywords_;
  PyObject* const* items_ = nullptr;
  Arguments bound_;
};

// The entry for values or specs given as (args, kwargs), as an Entry object.
PyObject* resolve_for(Purpose purpose, PyObject* object, PyObject* args) {
  Given given;
  if (!given.bind_to(object, args)) return nullptr;
  FunctionObject* self = self_of(object);
  auto resolved = resolve(self, given.bound(), purpose);
  if (!resolved.ok()) return given.raise(resolved.status(), object);
  Object wrapped = Object::take(wrap_entry(resolved->entry));
  if (resolved->has_traced && !settle(self, std::move(resolved->entry))) return nullptr;
  return wrapped.release();
}

// _explain(): the traces. _explain(args, kwargs): also what a call with these would do.
PyObject* method_explain(PyObject* object, PyObject* args) {
  FunctionObject* self = initialised(object);
  if (!self) return nullptr;
  std::optional<engine::ExplainedCall> call;
  if (PyTuple_GET_SIZE(args) > 0) {
    Given given;
    if (!given.bind_to(object, args)) return nullptr;
    const TypeComparisons comparisons;
    auto described = describe(self, given.bound(), /*allow_specs=*/true);
    if (!described.ok()) return given.raise(described.status(), object);
    auto explained = [&] {
      ReleaseGil release;
      return self->function->explain_call(described->type, described->values, described->row);
    }();
    if (!explained.ok()) return given.raise(explained.status(), object);
    if (Status failed = TypeComparisons::take(); !failed.ok()) return raise(failed);
    call = std::move(*explained);
  }
  engine::Explanation explanation;
  {
    ReleaseGil release;
    explanation.functions.push_back(engine::explain(self->function->cache()));
  }
  explanation.functions.front().call = std::move(call);
  return nanobind::cast(std::move(explanation)).release().ptr();
}

PyObject* method_resolve(PyObject* object, PyObject* args) {
  return resolve_for(Purpose::kConcreteFunction, object, args);
}

// _initialization(args, kwargs), as a program may ask for it before the first call.
PyObject* method_initialization(PyObject* object, PyObject* args) {
  return resolve_for(Purpose::kInitialization, object, args);
}

PyObject* method_entries(PyObject* object, PyObject*) {
  FunctionObject* self = initialised(object);
  if (!self) return nullptr;
  Object list = Object::take(PyList_New(0));
  for (const Ref<Entry>& entry : self->function->entries()) {
    Object item = Object::take(wrap_entry(entry));
    if (!item || PyList_Append(list.get(), item.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* method_cache_info(PyObject* object, PyObject*) {
  FunctionObject* self = initialised(object);
  return self ? to_python(self->function->cache_info()) : nullptr;
}

PyObject* method_clear_cache(PyObject* object, PyObject*) {
  FunctionObject* self = initialised(object);
  if (!self) return nullptr;
  self->function->clear_cache();
  Py_RETURN_NONE;
}

// _drop(entry): lets a trace go; False if it is not there any more.
PyObject* method_drop(PyObject* object, PyObject* entry) {
  FunctionObject* self = initialised(object);
  if (!self) return nullptr;
  Entry* dropped = entry_of(entry);
  if (!dropped) {
    PyErr_SetString(PyExc_TypeError, "an Entry is needed");
    return nullptr;
  }
  return PyBool_FromLong(self->function->drop(*dropped));
}

// _count_hits_in(total): lets a HitTotal count the hits from now on, and those so far.
PyObject* method_count_hits_in(PyObject* object, PyObject* total) {
  FunctionObject* self = initialised(object);
  HitTotal* shared = nullptr;
  if (!self || !nanobind::try_cast(nanobind::handle(total), shared)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a HitTotal is needed");
    return nullptr;
  }
  if (self->hits != shared->hits) {
    *shared->hits += *self->hits;
    self->hits = shared->hits;
  }
  Py_RETURN_NONE;
}

PyObject* method_tracing_count(PyObject* object, PyObject*) {
  FunctionObject* self = initialised(object);
  return self ? PyLong_FromLongLong(self->function->tracing_count()) : nullptr;
}

PyObject* get_python_function(PyObject* object, void*) {
  FunctionObject* self = initialised(object);
  return self ? Py_NewRef(self->python_function) : nullptr;
}

PyObject* get_kept(PyObject* object, void*) { return Py_NewRef(self_of(object)->kept); }

PyMethodDef methods[] = {{"_resolve", method_resolve, METH_VARARGS, nullptr},
                         {"_initialization", method_initialization, METH_VARARGS, nullptr},
                         {"_entries", method_entries, METH_NOARGS, nullptr},
                         {"_explain", method_explain, METH_VARARGS, nullptr},
                         {"_cache_info", method_cache_info, METH_NOARGS, nullptr},
                         {"_clear_cache", method_clear_cache, METH_NOARGS, nullptr},
                         {"_drop", method_drop, METH_O, nullptr},
                         {"_count_hits_in", method_count_hits_in, METH_O, nullptr},
                         {"experimental_get_tracing_count", method_tracing_count, METH_NOARGS,
                          "Returns the number of traces that were ever made."},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {
    {"python_function", get_python_function, nullptr, "The Python function that is traced.",
     nullptr},
    {"_kept", get_kept, nullptr, "What the traces need of Python: a list.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};
constexpr char kFunctionDoc[] = R"(What tf.function makes: a Python function, traced once per type.

Source: what tf.function returns.)";

PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kFunctionDoc)},
                       {Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_init, reinterpret_cast<void*>(init_function)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(descr_get)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"graven._engine.Function", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

bool keep_for_trace(PyObject* object) {
  FunctionObject* function = tracing_function();
  return !function || keep(function, object);
}

void bind_function(nanobind::module_& module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!function_type || !make_slot_type()) throw nanobind::python_error();
  module.attr("Function") = nanobind::handle(reinterpret_cast<PyObject*>(function_type));
  nanobind::class_<HitTotal>(module, "HitTotal", "The hits of several Functions together.")
      .def(nanobind::init<>())
      .def_prop_ro("value", [](const HitTotal& self) { return *self.hits; });
  module.def(
      "keep_for_trace",
      [](nanobind::handle object) {
        if (!keep_for_trace(object.ptr())) throw nanobind::python_error();
      },
      "Lets the Function that is being traced, if any, own an object.");
  module.def("set_run_functions_eagerly", [](bool on) { g_run_eagerly = on; });
  module.def("functions_run_eagerly", [] { return g_run_eagerly.load(); });
}

}  // namespace graven::python
