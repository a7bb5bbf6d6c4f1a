#include "graven/python/function_resolve.h"

#include <algorithm>
#include <optional>
#include <string>

#include "graven/base/strings.h"
#include "graven/python/cast.h"
#include "graven/python/errors.h"
#include "graven/python/function_opaque.h"
#include "graven/python/function_words.h"
#include "graven/python/literal.h"
#include "graven/python/opaque.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"

namespace graven::python {
namespace {

using engine::Entry;
using engine::ParameterKind;
using engine::Ref;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::Value;

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

std::unique_ptr<ArgumentRow> new_row(FunctionObject* self, bool allow_specs,
                                     const EqualFunctions* equal) {
  return std::make_unique<ArgumentRow>(self->function->options().literals_equal_as_numbers,
                                       allow_specs, equal, /*is_for_trace=*/true);
}

// The row of a call, in which functions are by code and captures if it is proven that they may be.
// Null if words cannot describe the arguments.
std::unique_ptr<ArgumentRow> row_for_trace(FunctionObject* self, const Arguments& bound,
                                           bool allow_specs) {
  EqualFunctions* equal = self->equal.get();
  auto row = new_row(self, allow_specs, equal);
  bool is_written = row->write(*self->signature, bound);
  if (row->functions().empty()) return is_written ? std::move(row) : nullptr;
  std::string why = is_written ? row->why_not_equal() : "another argument is an object";
  if (is_written && row->may_be_equal()) {
    if (equal->may_be_traced(row->structure())) return row;
    const Object functions = functions_by_name(self, bound);
    std::optional<std::string> none = "memory is gone";
    if (functions) {
      none = equal->prove(reinterpret_cast<PyObject*>(self), functions.get(), row->structure(),
                          row->key().objects());
    }
    PyErr_Clear();
    why = none.value_or("what it reads has changed while its code was read");
    if (!none) {
      row = new_row(self, allow_specs, equal);
      is_written = row->write(*self->signature, bound);
      if (is_written && !row->functions().empty() && row->may_be_equal() &&
          equal->may_be_traced(row->structure())) {
        return row;
      }
    }
  }
  refuse_functions(self, bound, why);
  row = new_row(self, allow_specs, nullptr);
  return row->write(*self->signature, bound) ? std::move(row) : nullptr;
}

// Lets the functions among the values be compared as they are in the row.
Status compare_functions(const FunctionObject* self, Described& call) {
  if (!self->equal) return {};
  const auto added = call.functions();
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
      const auto structure = call.arguments->structure();
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

}  // namespace

Result<Described> describe(FunctionObject* self, const Arguments& bound, bool allow_specs) {
  const Signature& signature = *self->signature;
  Described call;
  call.arguments = row_for_trace(self, bound, allow_specs);
  if (call.arguments) {
    const KeyBuilder& key = call.arguments->key();
    call.row = engine::CallRow::of(key.key());
    call.row.is_known = key.may_be_remembered();
    // Before user code runs, which may drop the last reference to a container's item.
    for (const Object& object : key.objects()) {
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

namespace {

// After a trace for functions that are known by their code: true if it is what the row says. It is
// not if another thread has changed what they have captured, or if it reads what is not watched.
bool is_for_equal_functions(FunctionObject* self, const Arguments& bound, const Described& call,
                            std::span<const uint64_t> words) {
  std::string why = take_refusal_for_equals();
  if (why.empty()) {
    const auto again = new_row(self, /*allow_specs=*/true, self->equal.get());
    if (again->write(*self->signature, bound) && again->may_be_equal() &&
        std::ranges::equal(again->words(), words) &&
        self->equal->may_be_traced(call.arguments->structure())) {
      return true;
    }
    why = "what it reads has changed while it was traced";
  }
  for (const FunctionsInRow::Added& each : call.functions()) {
    self->equal->refuse(each.object, why);
  }
  return false;
}

// Whether code of the program may have raised the error: no interrupt, nor a lock of traces.
bool is_of_code(const Status& error) {
  raise(error);
  const bool is_ordinary = PyErr_ExceptionMatches(PyExc_Exception);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const bool is_of_lock = type && is_trace_lock_error(type);
  for (PyObject* each : {type, value, traceback}) drop(each);
  return is_ordinary && !is_of_lock;
}

// Whether the values, functions apart, are of the types of an entry.
bool takes(const Entry& entry, std::span<const Value> values) {
  const auto& parameters = entry.type().parameters;
  if (parameters.size() != values.size()) return false;
  engine::TypingContext context{/*equal_as_numbers=*/false, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind == Value::Kind::kObject) continue;  // a function
    auto type = engine::type_of(values[i], context);
    if (!type.ok() || !(*type)->is_subtype_of(*parameters[i].type)) return false;
  }
  return true;
}

void warn_of_old_trace(FunctionObject* self, const Status& error) {
  const std::string text = engine::str_cat(
      "What a function among the arguments of ", self->function->shown_name(),
      " has captured or reads has changed. The trace that this asks for failed (",
      error.message().substr(0, 300),
      "), so calls with this function go on with the trace of the old value, as TensorFlow's "
      "would. See docs/cache.md");
  Object module = Object::take(run_python<PyImport_ImportModule>("graven._logging"));
  Object told = module ? Object::take(run_python<PyObject_CallMethod>(module.get(), "warn_once",
                                                                      "s", text.c_str()))
                       : Object();
  PyErr_Clear();
}

// After the trace for a function failed: the one that the function has run before with arguments of
// these types, if it is there. TensorFlow would run it: the function is the same, and only what it
// has captured or reads is not. Null for fresh functions, and if the error is not of the code.
Ref<Entry> trace_before(FunctionObject* self, const Described& call, const Status& error) {
  // Of several functions it is not known which have run together.
  if (call.functions().size() != 1) return nullptr;
  const int64_t number = self->equal->last_trace_of(call.functions().front().object);
  if (number == 0 || !is_of_code(error)) return nullptr;
  for (const Ref<Entry>& entry : self->function->entries()) {
    if (entry->number() != number || !takes(*entry, call.values)) continue;
    warn_of_old_trace(self, error);
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

}  // namespace

void note_use(FunctionObject* self, const ArgumentRow& row, const Entry& entry) {
  for (const FunctionsInRow::Added& each : row.functions()) {
    self->equal->note_use(each.object, entry.number());
  }
}

Result<Resolved> resolve(FunctionObject* self, const Arguments& bound, Purpose purpose) {
  const bool allow_specs = purpose != Purpose::kCall;
  Resolved resolved;
  const TypeComparisons comparisons;
  if (self->equal && purpose != Purpose::kCall) {
    refuse_functions(self, bound, "one of its code was given to get_concrete_function");
  }
  ASSIGN_OR_RETURN(Described call, describe(self, bound, allow_specs));
  const std::vector<Value>& values = call.values;
  const bool has_equal = !call.functions().empty();
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
  if (has_equal) note_use(self, *call.arguments, *resolved.entry);
  if (has_equal && resolved.has_traced) {
    if (!is_for_equal_functions(self, bound, call, words)) {
      ReleaseGil release;
      self->function->drop(*resolved.entry);
    }
    self->equal->add_trace(call.functions().front().object, std::move(guard));
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

}  // namespace graven::python
