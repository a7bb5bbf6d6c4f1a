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
#include "graven/python/cast.h"
#include "graven/python/convert.h"
#include "graven/python/entry_object.h"
#include "graven/python/errors.h"
#include "graven/python/function_opaque.h"
#include "graven/python/key.h"
#include "graven/python/opaque.h"
#include "graven/python/pure_arguments.h"
#include "graven/python/slot.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/tracer.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"

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

// The arguments of one call, bound to parameters. All borrowed.
struct Arguments {
  engine::InlineVector<PyObject*, 32> values;  // one a parameter; null for *args and **kwargs
  engine::InlineVector<PyObject*, 8> extra;    // the values of *args
  struct Keyword {
    PyObject *name, *value;
  };
  engine::InlineVector<Keyword, 8> keywords;  // the values of **kwargs, sorted by name
};

FunctionObject* self_of(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

// Null with an exception set for an object that only __new__ has made.
FunctionObject* initialised(PyObject* object) {
  FunctionObject* self = self_of(object);
  if (self->function) return self;
  PyErr_SetString(PyExc_RuntimeError, "The function was not initialised: call Function.__init__");
  return nullptr;
}

int find_parameter(const Signature& signature, PyObject* name) {
  const auto& parameters = signature.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name.get() == name) return static_cast<int>(i);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (PyUnicode_Compare(parameters[i].name.get(), name) == 0) return static_cast<int>(i);
  }
  return -1;
}

// True if a keyword of **kwargs needs no sanitising.
bool is_clean_name(PyObject* name) {
  Py_ssize_t n = PyUnicode_GET_LENGTH(name);
  for (Py_ssize_t i = 0; i < n; ++i) {
    Py_UCS4 c = PyUnicode_READ_CHAR(name, i);
    if (i == 0 ? !Py_UNICODE_ISALPHA(c) : !(Py_UNICODE_ISALNUM(c) || c == '_')) return false;
  }
  return n > 0;
}

enum class Bound { kYes, kNo, kNeedsSanitizing };

// Binds as Python does. missing_is_none: parameters without argument stay null instead of failing,
// for get_concrete_function with an input_signature.
Bound bind(const Signature& signature, PyObject* const* args, Py_ssize_t nargs,
           PyObject* const* keyword_values, PyObject* keyword_names, bool allow_missing,
           Arguments& bound) {
  size_t n = signature.parameters.size();
  for (size_t i = 0; i < n; ++i) bound.values.push_back(nullptr);
  Py_ssize_t next = 0;
  for (size_t i = 0; i < n && next < nargs; ++i) {
    ParameterKind kind = signature.parameters[i].kind;
    if (kind == ParameterKind::kPositionalOnly || kind == ParameterKind::kPositionalOrKeyword) {
      bound.values[i] = args[next++];
    }
  }
  if (next < nargs && signature.var_positional < 0) return Bound::kNo;
  for (; next < nargs; ++next) bound.extra.push_back(args[next]);
  Py_ssize_t num_keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keyword_names, k);
    int at = find_parameter(signature, name);
    ParameterKind kind = at < 0 ? ParameterKind::kVarKeyword : signature.parameters[at].kind;
    if (kind == ParameterKind::kPositionalOrKeyword || kind == ParameterKind::kKeywordOnly) {
      if (bound.values[at]) return Bound::kNo;
      bound.values[at] = keyword_values[k];
      continue;
    }
    if (signature.var_keyword < 0) return Bound::kNo;
    if (!is_clean_name(name)) return Bound::kNeedsSanitizing;
    bound.keywords.push_back({name, keyword_values[k]});
  }
  std::sort(bound.keywords.begin(), bound.keywords.end(),
            [](const Arguments::Keyword& a, const Arguments::Keyword& b) {
              return PyUnicode_Compare(a.name, b.name) < 0;
            });
  for (size_t i = 0; i < n; ++i) {
    if (bound.values[i] || static_cast<int>(i) == signature.var_positional ||
        static_cast<int>(i) == signature.var_keyword) {
      continue;
    }
    bound.values[i] = signature.parameters[i].default_value.get();
    if (!bound.values[i] && !allow_missing) return Bound::kNo;
  }
  return Bound::kYes;
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

bool write_row(const Signature& signature, const Arguments& bound, KeyBuilder& key) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    key.set_parameter(i);
    if (static_cast<int>(i) == signature.var_positional) {
      key.begin(engine::KeyTag::kArguments, bound.extra.size());
      key.set_variadic(true);
      for (PyObject* extra : bound.extra) {
        if (!key.add(extra)) return false;
      }
      key.set_variadic(false);
    } else if (static_cast<int>(i) == signature.var_keyword) {
      key.begin(engine::KeyTag::kKeywords, bound.keywords.size());
      key.set_variadic(true);
      for (const auto& keyword : bound.keywords) {
        if (!key.add_text(keyword.name) || !key.add(keyword.value)) return false;
      }
      key.set_variadic(false);
    } else if (PyObject* value = bound.values[i]) {
      if (!key.add(value)) return false;
    } else if (!key.add_spec(*signature.parameters[i].constraint)) {
      return false;
    }
  }
  return true;
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

std::string utf8(PyObject* text) {
  const char* data = PyUnicode_AsUTF8(text);
  if (!data) PyErr_Clear();
  return data ? data : "";
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

// The result of resolve: the entry, and the flat tensors of the arguments.
struct Resolved {
  Ref<Entry> entry;
  std::vector<Tensor> tensors;
  bool has_traced = false;
};

// The hits of several Functions together. Counted with the GIL.
struct HitTotal {
  std::shared_ptr<int64_t> hits = std::make_shared<int64_t>(0);
};

// The use that an entry is resolved for.
enum class Purpose { kCall, kConcreteFunction, kInitialization };

// The arguments of a call as the engine takes them.
struct Described {
  // Not on the stack, which holds one for each trace that goes on inside another.
  std::unique_ptr<KeyBuilder> key;
  engine::CallRow row;  // of the key
  engine::FunctionType type;
  std::vector<Value> values;
};

// The functions among the arguments by the names of their parameters; empty if memory is gone.
Object functions_by_name(FunctionObject* self, const Arguments& bound) {
  Object found = Object::take(PyDict_New());
  for (size_t i = 0; found && i < bound.values.size(); ++i) {
    PyObject* value = bound.values[i];
    if (!value || !FunctionWords::takes(Py_TYPE(value))) continue;
    if (PyDict_SetItem(found.get(), self->signature->parameters[i].name.get(), value) < 0)
      return {};
  }
  return found;
}

// From now on the functions among the arguments are known by identity.
void refuse_functions(FunctionObject* self, const Arguments& bound, const std::string& why) {
  for (PyObject* value : bound.values) {
    if (value && FunctionWords::takes(Py_TYPE(value))) self->equal->refuse(value, why);
  }
}

// The row of a call. False if words cannot describe the arguments.
bool write_new_row(FunctionObject* self, const Arguments& bound, bool allow_specs,
                   const EqualFunctions* equal, Described& call) {
  call.key = std::make_unique<KeyBuilder>(self->function->options().literals_equal_as_numbers,
                                          allow_specs, equal, /*is_for_trace=*/true);
  return write_row(*self->signature, bound, *call.key);
}

// The same; functions are in it by code and captures if it is proven that they may be.
bool write_row_for_trace(FunctionObject* self, const Arguments& bound, bool allow_specs,
                         Described& call) {
  EqualFunctions* equal = self->equal.get();
  bool is_written = write_new_row(self, bound, allow_specs, equal, call);
  if (call.key->functions().empty()) return is_written;
  std::string why = call.key->why_not_equal();
  if (!is_written) why = "another argument is an object";
  if (is_written && call.key->may_be_equal()) {
    if (equal->may_be_traced(call.key->structure())) return true;
    const Object functions = functions_by_name(self, bound);
    std::optional<std::string> none = "memory is gone";
    if (functions) {
      none = equal->prove(reinterpret_cast<PyObject*>(self), functions.get(), call.key->structure(),
                          call.key->objects());
    }
    PyErr_Clear();
    why = none.value_or("what it reads has changed while its code was read");
    if (!none) {
      is_written = write_new_row(self, bound, allow_specs, equal, call);
      if (is_written && call.key->may_be_equal() && !call.key->functions().empty() &&
          equal->may_be_traced(call.key->structure())) {
        return true;
      }
    }
  }
  refuse_functions(self, bound, why);
  return write_new_row(self, bound, allow_specs, nullptr, call);
}

// Lets the functions among the values be compared as they are in the row.
Status compare_functions(const FunctionObject* self, Described& call) {
  if (!self->equal) return {};
  const auto added = call.key->functions();
  auto set = [&](size_t value, Ref<engine::Opaque> object) {
    call.values[value].object = std::move(object);
  };
  size_t next = 0;
  for (size_t i = 0; i < call.values.size(); ++i) {
    if (call.values[i].kind != Value::Kind::kObject) continue;
    const Object object = object_of(*call.values[i].object);
    PyObject* function = object.get();
    if (!function || !FunctionWords::takes(Py_TYPE(function))) continue;
    if (call.row.is_known && next < added.size() && added[next].object == function) {
      const auto words =
          call.row.words.subspan(added[next].begin, added[next].end - added[next].begin);
      ++next;
      const auto structure = call.key->structure();
      ASSIGN_OR_RETURN(auto opaque, EqualFunctionOpaque::create(
                                        function, {words.begin(), words.end()},
                                        {structure.begin(), structure.end()}, call.row.guards));
      set(i, opaque);
    } else if (const std::string* why = self->equal->why_refused(function)) {
      ASSIGN_OR_RETURN(auto opaque, RefusedFunctionOpaque::create(function, *why));
      set(i, opaque);
    }
  }
  return {};
}

// Makes values and types of the arguments. An exception of Python's may be pending when it fails.
Result<Described> describe(FunctionObject* self, const Arguments& bound, bool allow_specs) {
  const Signature& signature = *self->signature;
  Described call;
  if (write_row_for_trace(self, bound, allow_specs, call)) {
    call.row = engine::CallRow::of(call.key->key());
    call.row.is_known = call.key->may_be_remembered();
    // Before user code runs, which may drop the last reference to a container's item.
    for (const Object& object : call.key->objects()) {
      ASSIGN_OR_RETURN(auto guard, guard_life(object.get(), self->function->life_listener()));
      call.row.guards.push_back(std::move(guard));
    }
  }
  bool has_star = signature.var_positional >= 0;
  auto add = [&](std::string name, ParameterKind kind, const engine::TraceTypeRef& constraint,
                 PyObject* object) -> Status {
    engine::TraceTypeRef own;
    if (!object) {  // get_concrete_function() of a constrained parameter
      own = constraint;
      call.values.push_back(Value::of_type(constraint));
    } else if (constraint) {
      ASSIGN_OR_RETURN(Object cast, cast_to(*constraint, object, allow_specs));
      call.row.is_known &= cast.get() == object;
      ASSIGN_OR_RETURN(Value value, to_value(cast.get(), allow_specs));
      call.values.push_back(std::move(value));
      own = constraint;
    } else {
      ASSIGN_OR_RETURN(Value value, to_value(object, allow_specs));
      call.values.push_back(std::move(value));
    }
    call.type.parameters.push_back({std::move(name), kind, false, std::move(own)});
    return {};
  };
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Signature::Parameter& parameter = signature.parameters[i];
    std::string name = utf8(parameter.name.get());
    if (static_cast<int>(i) == signature.var_positional) {
      for (size_t j = 0; j < bound.extra.size(); ++j) {
        RETURN_IF_ERROR(add(engine::str_cat(name, "_", j), ParameterKind::kPositionalOnly, nullptr,
                            bound.extra[j]));
      }
    } else if (static_cast<int>(i) == signature.var_keyword) {
      for (const auto& keyword : bound.keywords) {
        RETURN_IF_ERROR(
            add(utf8(keyword.name), ParameterKind::kKeywordOnly, nullptr, keyword.value));
      }
    } else {
      ParameterKind kind = parameter.kind;
      if (has_star && kind == ParameterKind::kPositionalOrKeyword) {
        kind = ParameterKind::kPositionalOnly;
      }
      RETURN_IF_ERROR(add(name, kind, parameter.constraint, bound.values[i]));
    }
  }
  RETURN_IF_ERROR(compare_functions(self, call));
  return call;
}

// After a trace for functions that are known by their code: true if it is what the row says. It is
// not if another thread has changed what they have captured, or if it reads what is not watched.
bool is_for_equal_functions(FunctionObject* self, const Arguments& bound, const Described& call,
                            std::span<const uint64_t> words) {
  std::string why = take_refusal_for_equals();
  if (why.empty()) {
    Described again;
    const bool is_written =
        write_new_row(self, bound, /*allow_specs=*/true, self->equal.get(), again);
    if (is_written && again.key->may_be_equal() &&
        std::ranges::equal(again.key->key().row(), words) &&
        self->equal->may_be_traced(call.key->structure())) {
      return true;
    }
    why = "what it reads has changed while it was traced";
  }
  for (const KeyBuilder::AddedFunction& each : call.key->functions()) {
    self->equal->refuse(each.object, why);
  }
  return false;
}

// After the trace for a function failed: the one that the function has run before with arguments of
// these types, if it is there. TensorFlow would run it: the function is the same, and only what it
// has captured or reads is not. Null for fresh functions, and if the error is not of the code.
Ref<Entry> trace_before(FunctionObject* self, const Described& call, const Status& error) {
  // Of several functions it is not known which have run together.
  if (call.key->functions().size() != 1) return nullptr;
  PyObject* function = call.key->functions().front().object;
  const int64_t number = self->equal->last_trace_of(function);
  if (number == 0) return nullptr;
  raise(error);
  const bool is_ordinary = PyErr_ExceptionMatches(PyExc_Exception);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const bool is_of_lock = type && is_trace_lock_error(type);
  for (PyObject* each : {type, value, traceback}) drop(each);
  if (!is_ordinary || is_of_lock) return nullptr;
  for (const Ref<Entry>& entry : self->function->entries()) {
    const auto& parameters = entry->type().parameters;
    if (entry->number() != number || parameters.size() != call.values.size()) continue;
    engine::TypingContext context{/*equal_as_numbers=*/false, {}};
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Value& value = call.values[i];
      if (value.kind == Value::Kind::kObject) continue;  // a function
      auto now = engine::type_of(value, context);
      if (!now.ok() || !(*now)->is_subtype_of(*parameters[i].type)) return nullptr;
    }
    const std::string text = engine::str_cat(
        "What a function among the arguments of ", self->function->shown_name(),
        " has captured or reads has changed. The trace that this asks for failed (",
        error.message().substr(0, 300),
        "), so calls with this function go on with the trace of the old value, as TensorFlow's "
        "would. See docs/cache.md");
    Object module = Object::take(run_python<PyImport_ImportModule>("graven._logging"));
    Object told = module ? Object::take(run_python<PyObject_CallMethod>(
                               module.get(), "warn_once", "ss", text.c_str(), text.c_str()))
                         : Object();
    PyErr_Clear();
    return entry;
  }
  return nullptr;
}

bool has_foreign_part(const Value& value) {
  return value.kind == Value::Kind::kTyped || std::ranges::any_of(value.items, has_foreign_part);
}

// What to_tensors of users' types gave must fit the placeholders that placeholder_value made.
Status check_fed(const Entry& entry, std::span<const Tensor> tensors) {
  const auto inputs = entry.graph()->inputs().first(static_cast<size_t>(entry.num_arguments()));
  if (inputs.size() != tensors.size()) {
    return engine::type_error(
        "to_tensors of the arguments' TraceTypes must give a tensor for each "
        "placeholder that placeholder_value made: there are ",
        inputs.size(), " placeholders in all, and ", tensors.size(), " tensors");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const engine::OutputType& made = inputs[i]->output(0);
    if (tensors[i].dtype() == made.dtype &&
        engine::are_compatible(tensors[i].shape(), made.shape)) {
      continue;
    }
    return engine::type_error("to_tensors of an argument's TraceType gave ",
                              engine::dtype_name(tensors[i].dtype()), " of shape ",
                              tensors[i].shape().to_text(), " for the placeholder ",
                              inputs[i]->name(), ", which placeholder_value made of ",
                              engine::dtype_name(made.dtype), " and shape ", made.shape.to_text());
  }
  return {};
}

// Notes which trace functions have run that are in the row by their code.
void note_use(FunctionObject* self, const KeyBuilder& key, const Entry& entry) {
  for (const KeyBuilder::AddedFunction& each : key.functions()) {
    self->equal->note_use(each.object, entry.number());
  }
}

// Makes values and types of the arguments, and finds or traces the entry. An exception of Python's
// may be pending when it fails with it.
Result<Resolved> resolve(FunctionObject* self, const Arguments& bound, Purpose purpose) {
  const bool allow_specs = purpose != Purpose::kCall;
  Resolved resolved;
  const TypeComparisons comparisons;
  if (self->equal && purpose != Purpose::kCall) {
    refuse_functions(self, bound, "one of its code was given to get_concrete_function");
  }
  ASSIGN_OR_RETURN(Described call, describe(self, bound, allow_specs));
  const std::vector<Value>& values = call.values;
  const bool has_equal = self->equal && !call.key->functions().empty();
  std::vector<uint64_t> words;
  Ref<engine::LifeGuard> guard;
  if (has_equal) {
    take_refusal_for_equals();  // of a trace that failed
    words.assign(call.row.words.begin(), call.row.words.end());
    guard = engine::make_ref<engine::LifeGuard>(self->function->life_listener());
    call.row.guards.push_back(guard);
  }
  {
    ReleaseGil release;
    if (purpose == Purpose::kInitialization) {
      ASSIGN_OR_RETURN(resolved.entry, self->function->initialization(call.type, values));
      return resolved;
    }
    auto engine_purpose = purpose == Purpose::kCall ? engine::Function::Purpose::kCall
                                                    : engine::Function::Purpose::kLookUp;
    auto found = self->function->resolve(call.type, values, engine_purpose, std::move(call.row));
    if (!found.ok() && has_equal) {
      HoldGil gil;
      if (Ref<Entry> before = trace_before(self, call, found.status())) {
        found = engine::Function::Resolved{std::move(before), false};
      }
    }
    RETURN_IF_ERROR(found.status());
    resolved.entry = std::move(found->entry);
    resolved.has_traced = found->has_traced;
  }
  if (has_equal) note_use(self, *call.key, *resolved.entry);
  if (has_equal && resolved.has_traced) {
    if (!is_for_equal_functions(self, bound, call, words)) {
      ReleaseGil release;
      self->function->drop(*resolved.entry);
    }
    self->equal->add_trace(call.key->functions().front().object, std::move(guard));
  }
  RETURN_IF_ERROR(TypeComparisons::take());
  bool has_specs =
      std::any_of(values.begin(), values.end(), [](const Value& v) { return v.is_spec; });
  if (has_specs || allow_specs) return resolved;
  const auto& parameters = resolved.entry->type().parameters;
  for (size_t i = 0; i < values.size(); ++i) {
    RETURN_IF_ERROR(parameters[i].type->to_tensors(values[i], resolved.tensors));
  }
  if (std::ranges::any_of(values, has_foreign_part)) {
    RETURN_IF_ERROR(check_fed(*resolved.entry, resolved.tensors));
  }
  return resolved;
}

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
  KeyBuilder key(self->function->options().literals_equal_as_numbers, /*has_specs=*/false,
                 self->equal.get());
  if (!write_row(*self->signature, arguments, key)) return false;
  if (!key.functions().empty() &&
      !(key.may_be_equal() && self->equal->are_proven(key.structure()))) {
    return false;
  }
  engine::EntryInUse entry = self->function->find(key.key().row());
  if (!entry) return false;
  ++*self->hits;
  note_use(self, key, *entry);
  result = run(self, *entry, key.key().tensors());
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
