#include "graven/python/cpp_function.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graven/api/location.h"
#include "graven/api/watched.h"
#include "graven/base/inline_vector.h"
#include "graven/base/strings.h"
#include "graven/python/bind.h"
#include "graven/python/cache_info.h"
#include "graven/python/entry_object.h"
#include "graven/python/errors.h"
#include "graven/python/location.h"
#include "graven/python/object.h"
#include "graven/python/value.h"
#include "graven/python/watch.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::Entry;
using internal::OfferedFunction;
using Purpose = engine::Function::Purpose;

// Weak references to the objects that live, by their Functions. The GIL guards it.
std::unordered_map<const engine::Function*, Object>& objects() {
  static auto* map = new std::unordered_map<const engine::Function*, Object>();
  return *map;
}

struct CppFunction {
  explicit CppFunction(std::unique_ptr<OfferedFunction> offered) : offered(std::move(offered)) {}
  CppFunction(CppFunction&&) = default;
  ~CppFunction() {
    if (!offered) return;
    // Unless there is a younger object of it by now.
    auto at = objects().find(&function());
    if (at != objects().end() && PyWeakref_GetObject(at->second.get()) == Py_None) {
      objects().erase(at);
    }
  }
  engine::Function& function() const { return *offered->base().engine_function(); }
  const std::string& name() const { return offered->base().name(); }

  std::unique_ptr<OfferedFunction> offered;
};

// Runs what may throw; the exception becomes Python's.
template <typename Work>
nb::object guarded(Work&& work) {
  Object result = Object::take(python_guard(std::forward<Work>(work)));
  if (!result) throw nb::python_error();
  return nb::steal(result.release());
}

// "step(x, rate)".
std::string call_text(const CppFunction& self) {
  std::string text = self.name() + "(";
  for (const engine::Parameter& parameter : self.offered->type().parameters) {
    if (text.back() != '(') text += ", ";
    text += parameter.name;
  }
  return text + ")";
}

// The arguments of a call, one for each parameter, borrowed. Throws a TypeError if they do not fit.
class Bound {
 public:
  Bound(const CppFunction& self, PyObject* args, PyObject* keywords) {
    const auto& parameters = self.offered->type().parameters;
    const auto fail = [&](const auto&... why) {
      throw_error(engine::type_error(call_text(self), " ", why...), {});
    };
    const auto given = static_cast<size_t>(PyTuple_GET_SIZE(args));
    if (given > parameters.size()) {
      fail("takes ", parameters.size(), parameters.size() == 1 ? " argument" : " arguments", ", ",
           given, given == 1 ? " was given" : " were given");
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      values_.push_back(i < given ? PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)) : nullptr);
    }
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(keywords, &at, &key, &value)) {
      const char* utf8 = PyUnicode_AsUTF8(key);
      if (!utf8) throw_python_exception({});
      const std::string name = utf8;
      size_t i = 0;
      while (i < parameters.size() && parameters[i].name != name) ++i;
      if (i == parameters.size()) fail("got an unexpected keyword argument '", name, "'");
      if (values_[i]) fail("got two values for '", name, "'");
      values_[i] = value;
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!values_[i]) fail("is missing the argument '", parameters[i].name, "'");
    }
  }
  PyObject* const* data() const { return values_.data(); }

 private:
  engine::InlineVector<PyObject*, 8> values_;
};

// The news of what a trace watches, and what a run of it is.
engine::Status run(const CppFunction& self, Entry& entry, const KeyWriter& key,
                   engine::Tensors& outputs) {
  if (entry.watches()) {
    internal::note_watches(*entry.watches(), self.name(), {});
    note_watches_of_part(*entry.watches());
  }
  return entry.run(key.tensors(), outputs);
}

PyObject* pack(const CppFunction& self, const Entry& entry, const engine::Tensors& outputs) {
  if (self.offered->returns_nothing()) Py_RETURN_NONE;
  size_t next = 0;
  return to_python(entry.structured_outputs(), outputs, next).release();
}

PyObject* call(const CppFunction& self, PyObject* args, PyObject* keywords) {
  const Bound bound(self, args, keywords);
  KeyWriter key(/*equal_as_numbers=*/false);
  self.offered->write_key(bound.data(), /*allow_specs=*/false, key);
  engine::Tensors outputs;
  if (engine::EntryInUse entry = self.function().find(key.row())) {
    if (entry->is_long()) {
      ReleaseGil release;
      throw_if_error(run(self, *entry, key, outputs), {});
    } else {
      throw_if_error(run(self, *entry, key, outputs), {});
    }
    return pack(self, *entry, outputs);
  }
  const std::vector<engine::Value> values = self.offered->values(bound.data(), false);
  Object result;
  {
    ReleaseGil release;  // for the body
    internal::ForeignLines lines(location_source());
    self.offered->with_trace(values, Purpose::kCall, key, [&](Entry& entry) {
      throw_if_error(run(self, entry, key, outputs), {});
      HoldGil gil;
      result = Object::take(pack(self, entry, outputs));
    });
  }
  return result.release();
}

// The trace for values or specs given as (args, kwargs), as an Entry object.
PyObject* resolve(const CppFunction& self, PyObject* args, PyObject* keywords) {
  const Bound bound(self, args, keywords);
  KeyWriter key(/*equal_as_numbers=*/false);
  self.offered->write_key(bound.data(), /*allow_specs=*/true, key);
  const std::vector<engine::Value> values = self.offered->values(bound.data(), true);
  Object result;
  {
    ReleaseGil release;
    internal::ForeignLines lines(location_source());
    self.offered->with_trace(values, Purpose::kLookUp, key, [&](Entry& entry) {
      HoldGil gil;
      result = Object::take(wrap_entry(engine::Ref<Entry>(&entry)));
    });
  }
  return result.release();
}

PyObject* explain(const CppFunction& self, PyObject* args, PyObject* keywords) {
  const Bound bound(self, args, keywords);
  KeyWriter key(/*equal_as_numbers=*/false);
  self.offered->write_key(bound.data(), /*allow_specs=*/true, key);
  const std::vector<engine::Value> values = self.offered->values(bound.data(), true);
  auto explained = [&] {
    ReleaseGil release;
    return self.offered->explain(values, key);
  }();
  return nb::cast(std::move(explained)).release().ptr();
}

}  // namespace

PyObject* find_cpp_function(const engine::Function& function) {
  auto at = objects().find(&function);
  PyObject* object = at == objects().end() ? Py_None : PyWeakref_GetObject(at->second.get());
  return object == Py_None ? nullptr : Py_NewRef(object);
}

PyObject* make_cpp_function(std::unique_ptr<OfferedFunction> function) {
  static constinit Imported methods("graven._cpp_function", "METHODS");
  if (!methods.get()) return nullptr;
  const FunctionBase* made_of = &function->base();
  const engine::Function* key = made_of->engine_function().get();
  Object made = Object::take(nb::cast(CppFunction(std::move(function))).release().ptr());
  Object reference = made ? Object::take(PyWeakref_NewRef(made.get(), nullptr)) : Object();
  if (!reference) return nullptr;
  // A class cannot give its objects a __name__.
  Object name = Object::take(PyUnicode_FromString(made_of->name().c_str()));
  if (!name || run_python<PyObject_SetAttrString>(made.get(), "__name__", name.get()) < 0) {
    return nullptr;
  }
  objects()[key] = std::move(reference);
  return made.release();
}

OfferedFunction* offered_function_of(PyObject* object) {
  CppFunction* self = nullptr;  // and of None
  return nb::try_cast(nb::handle(object), self) && self ? self->offered.get() : nullptr;
}

void bind_cpp_function(nb::module_& m) {
  nb::class_<CppFunction>(m, "CppFunction", nb::is_weak_referenceable(), nb::dynamic_attr(),
                          "A function that was made in C++, traced once per type.")
      .def("__call__",
           [](const CppFunction& self, nb::args args, nb::kwargs keywords) {
             return guarded([&] { return call(self, args.ptr(), keywords.ptr()); });
           })
      .def("_resolve",
           [](const CppFunction& self, nb::tuple args, nb::dict keywords) {
             return guarded([&] { return resolve(self, args.ptr(), keywords.ptr()); });
           })
      .def("_explain",
           [](const CppFunction& self, nb::tuple args, nb::dict keywords) {
             return guarded([&] { return explain(self, args.ptr(), keywords.ptr()); });
           })
      .def("_explain",
           [](const CppFunction& self) {
             ReleaseGil release;
             return self.offered->base().explain();
           })
      .def("_cache_info",
           [](const CppFunction& self) {
             return guarded([&] { return to_python(self.function().cache_info()); });
           })
      .def("_clear_cache", [](const CppFunction& self) { self.function().clear_cache(); })
      .def("_entries",
           [](const CppFunction& self) {
             nb::list list;
             for (const auto& entry : self.function().entries()) {
               list.append(nb::steal(wrap_entry(entry)));
             }
             return list;
           })
      .def_prop_ro("_parameters",
                   [](const CppFunction& self) {
                     nb::list names;
                     for (const auto& p : self.offered->type().parameters) {
                       names.append(p.name.c_str());
                     }
                     return names;
                   })
      .def_prop_ro("_budget",
                   [](const CppFunction& self) {
                     const auto& budget = self.function().options().budget;
                     const auto number = [](const std::optional<int64_t>& n) {
                       return n ? nb::object(nb::int_(*n)) : nb::none();
                     };
                     return nb::make_tuple(number(budget.max_traces), number(budget.max_bytes));
                   })
      .def(
          "experimental_get_tracing_count",
          [](const CppFunction& self) { return self.function().tracing_count(); },
          "Returns the number of traces that were ever made.")
      .def_prop_ro("name", &CppFunction::name, "The name that it was made with.")
      .def("__repr__", [](const CppFunction& self) {
        return engine::str_cat("<graven Function ", call_text(self), " of C++>");
      });
}

}  // namespace graven::python
