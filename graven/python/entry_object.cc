#include "graven/python/entry_object.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "graven/base/strings.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph.h"
#include "graven/ir/text.h"
#include "graven/python/bind.h"
#include "graven/python/cast.h"
#include "graven/python/convert.h"
#include "graven/python/errors.h"
#include "graven/python/graph_object.h"
#include "graven/python/object.h"
#include "graven/python/results.h"
#include "graven/python/slot.h"
#include "graven/python/tensor_object.h"
#include "graven/python/trace_types.h"
#include "graven/python/value.h"
#include "graven/python/variable_object.h"
#include "graven/python/watch.h"
#include "graven/runtime/program.h"
#include "graven/runtime/variable.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::Entry;
using engine::Ref;
using engine::Result;
using engine::Status;
using engine::Tensor;
using engine::TraceTypeRef;

constexpr const char* kDeletedVariables =
    "Called a function referencing variables which have been deleted. This likely means that "
    "function-local variables were created and not referenced elsewhere in the program. This is "
    "generally a mistake; consider storing variables in an object attribute on first call.";

struct EntryView {
  Ref<Entry> entry;
};

nb::list wrap_all(std::span<const Tensor> tensors) {
  nb::list list;
  for (const Tensor& tensor : tensors) list.append(steal(wrap(tensor)));
  return list;
}

// Calls `visit` with each captured tensor that is a variable of the program.
template <typename Visit>
void for_each_variable(const Entry& entry, Visit&& visit) {
  for (const Tensor& captured : entry.captured_inputs()) {
    if (captured.dtype() != engine::DType::kResource || captured.is_symbolic()) continue;
    if (dynamic_cast<const engine::Variable*>(captured.resource().get())) visit(captured);
  }
}

// A closure that gives the tensor for a capture. The ConcreteFunction's list of Python objects owns
// the slot.
class PythonDeferredCapture final : public engine::DeferredCapture {
 public:
  PythonDeferredCapture(PyObject* closure, engine::TraceTypeRef type)
      : held_(closure), type_(std::move(type)) {}
  HeldObject& held() { return held_; }

  Result<Tensor> value() const override {
    HoldGil gil;
    Object closure = Object::borrow(held_.get());
    if (!closure) {
      return Status(engine::Code::kFailedPrecondition,
                    "The function of a deferred capture is gone, because the ConcreteFunction that "
                    "it was given to is gone: keep that alive",
                    engine::ErrorKind::kRuntimeError);
    }
    Object value = Object::take(run_python<PyObject_CallNoArgs>(closure.get()));
    if (!value) return pending_exception();
    ASSIGN_OR_RETURN(Object cast, cast_to(*type_, value.get(), /*allow_specs=*/false));
    note_object(cast.get());
    return tensor_of(cast.get());
  }

 private:
  HeldObject held_;
  engine::TraceTypeRef type_;
};

nb::object run_and_pack(Entry& entry, std::span<const Tensor> tensors, bool checked) {
  if (!check_variables(entry)) throw nb::python_error();
  if (entry.watches() && !note_concrete_call(entry)) throw nb::python_error();
  engine::Tensors outputs;
  Status status;
  if (entry.is_long()) {
    ReleaseGil release;
    status = checked ? entry.run_checked(tensors, outputs) : entry.run(tensors, outputs);
  } else {
    status = checked ? entry.run_checked(tensors, outputs) : entry.run(tensors, outputs);
  }
  if (!status.ok()) throw_status(status);
  size_t next = 0;
  Object result = to_python(entry.structured_outputs(), outputs, next);
  return steal(result.release());
}

// Tensors of the arguments, one object for each parameter in order, cast to their types.
Result<std::vector<Tensor>> flatten(const Entry& entry, nb::tuple arguments) {
  std::vector<Tensor> tensors;
  const auto& parameters = entry.type().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    nb::object argument = arguments[i];
    ASSIGN_OR_RETURN(Object cast, cast_to(*parameters[i].type, argument.ptr(), false));
    ASSIGN_OR_RETURN(engine::Value value, to_value(cast.get(), false));
    RETURN_IF_ERROR(parameters[i].type->to_tensors(value, tensors));
  }
  return tensors;
}

}  // namespace

bool check_variables(const Entry& entry) {
  if (entry.captures().empty()) return true;
  engine::Frame& frame = engine::Frame::current();
  if (!frame.is_graph() && frame.listeners.empty()) return true;
  bool all_live = true;
  for_each_variable(entry, [&](const Tensor& captured) { all_live &= !is_deleted(captured); });
  if (!all_live) PyErr_SetString(PyExc_AssertionError, kDeletedVariables);
  return all_live;
}

Entry* entry_of(PyObject* object) {
  EntryView* view = nullptr;
  return nb::try_cast(nb::handle(object), view) ? view->entry.get() : nullptr;
}

PyObject* wrap_entry(const Ref<Entry>& entry) { return nb::cast(EntryView{entry}).release().ptr(); }

void bind_entry(nb::module_& m) {
  nb::class_<EntryView>(m, "Entry", "One trace, as the engine holds it.")
      .def_prop_ro(
          "address",
          [](const EntryView& self) { return reinterpret_cast<uintptr_t>(self.entry.get()); })
      .def_prop_ro("name", [](const EntryView& self) { return self.entry->name(); })
      .def("signature_text",
           [](const EntryView& self, bool verbose) { return self.entry->signature_text(verbose); })
      .def_prop_ro("hits", [](const EntryView& self) { return self.entry->hits(); })
      .def_prop_ro("trace_ms",
                   [](const EntryView& self) { return self.entry->trace_milliseconds(); })
      .def_prop_ro("bytes", [](const EntryView& self) { return self.entry->bytes(); })
      .def_prop_ro("num_arguments",
                   [](const EntryView& self) { return self.entry->num_arguments(); })
      .def_prop_ro("parameters",
                   [](const EntryView& self) {
                     nb::list list;
                     for (const auto& p : self.entry->type().parameters) {
                       list.append(nb::make_tuple(p.name, static_cast<int>(p.kind), p.optional,
                                                  steal(type_to_python(p.type).release())));
                     }
                     return list;
                   })
      .def_prop_ro("captures",
                   [](const EntryView& self) {
                     nb::list list;
                     for (const auto& [key, type] : self.entry->type().captures) {
                       list.append(nb::make_tuple(key, steal(type_to_python(type).release())));
                     }
                     return list;
                   })
      .def_prop_ro("output_type",
                   [](const EntryView& self) {
                     return steal(type_to_python(self.entry->type().output).release());
                   })
      .def_prop_ro("structured_outputs",
                   [](const EntryView& self) {
                     return steal(to_python(self.entry->structured_outputs()).release());
                   })
      .def("graph_text",
           [](const EntryView& self, bool optimized) -> std::string {
             if (!optimized) return engine::print_graph(*self.entry->graph());
             const Result<Ref<engine::Program>> program = engine::program_of(self.entry->body());
             if (!program.ok()) {
               raise(program.status());
               throw nb::python_error();
             }
             return engine::str_cat(engine::print_graph((*program)->graph()), "\n",
                                    (*program)->to_text(/*with_costs=*/true));
           })
      .def_prop_ro("graph", [](const EntryView& self) { return steal(wrap(self.entry->graph())); })
      .def_prop_ro("inputs",
                   [](const EntryView& self) {
                     std::vector<Tensor> tensors;
                     for (engine::Node* node : self.entry->graph()->inputs()) {
                       tensors.push_back(engine::symbolic_tensor(self.entry->graph(), {node, 0}));
                     }
                     return wrap_all(tensors);
                   })
      .def_prop_ro("outputs",
                   [](const EntryView& self) {
                     std::vector<Tensor> tensors;
                     for (engine::OutputRef output : self.entry->graph()->outputs()) {
                       tensors.push_back(engine::symbolic_tensor(self.entry->graph(), output));
                     }
                     return wrap_all(tensors);
                   })
      .def_prop_ro("captured_inputs",
                   [](const EntryView& self) {
                     nb::list list;
                     auto captured = self.entry->current_captured_inputs();
                     if (!captured.ok()) throw_status(captured.status());
                     for (const Tensor& tensor : *captured) list.append(steal(wrap_same(tensor)));
                     return list;
                   })
      .def("set_captured_inputs",
           [](const EntryView& self, nb::sequence values) {
             std::vector<Tensor> tensors;
             for (nb::handle value : values) {
               auto tensor = to_tensor(value.ptr());
               if (!tensor.ok()) throw_status(tensor.status());
               if (is_tensor(value.ptr())) note_object(value.ptr());
               tensors.push_back(std::move(*tensor));
             }
             Status status = self.entry->set_captured_inputs(std::move(tensors));
             if (!status.ok()) throw_status(status);
           })
      // Feeds the result of a Python function without arguments for a captured tensor, at each
      // call.
      .def("defer_capture",
           [](const EntryView& self, nb::object tensor, nb::object closure, nb::object spec) {
             TraceTypeRef type = trace_type_of_object(spec.ptr());
             if (!type || type->kind() != engine::TraceType::Kind::kTensor) {
               throw_status(engine::type_error("A deferred capture needs a tf.TensorSpec"));
             }
             const auto& tensor_type = static_cast<const engine::TensorType&>(*type);
             auto deferred = engine::make_ref<PythonDeferredCapture>(closure.ptr(), type);
             Object slot = deferred->held().hand_over();
             if (!slot && PyErr_Occurred()) throw nb::python_error();
             Status status = self.entry->defer_capture(tensor_of(tensor.ptr()), tensor_type,
                                                       std::move(deferred));
             if (!status.ok()) throw_status(status);
             return slot ? nb::steal(slot.release()) : nb::none();
           })
      // Variables that the trace reads or writes, in order of first use; an AssertionError if one
      // is gone.
      .def_prop_ro("variables",
                   [](const EntryView& self) {
                     nb::list list;
                     for_each_variable(*self.entry, [&](const Tensor& captured) {
                       if (is_deleted(captured)) {
                         PyErr_SetString(PyExc_AssertionError, kDeletedVariables);
                         throw nb::python_error();
                       }
                       PyObject* variable = variable_object(captured);
                       if (!variable) throw nb::python_error();
                       list.append(nb::steal(variable));
                     });
                     return list;
                   })
      // The structured convention, in two steps: tensors of one object for each parameter, in
      // order, cast to their types; then the run, whose errors are no binding errors.
      .def("flatten",
           [](const EntryView& self, nb::tuple arguments) {
             auto tensors = flatten(*self.entry, arguments);
             if (!tensors.ok()) throw_status(tensors.status());
             return wrap_all(*tensors);
           })
      .def("run",
           [](const EntryView& self, nb::sequence arguments) {
             std::vector<Tensor> tensors;
             for (nb::handle argument : arguments) tensors.push_back(tensor_of(argument.ptr()));
             return run_and_pack(*self.entry, tensors, false);
           })
      // The flat convention: tensors only.
      .def("run_flat", [](const EntryView& self, nb::sequence arguments) {
        std::vector<Tensor> tensors;
        for (nb::handle argument : arguments) {
          if (is_variable(argument.ptr())) {
            tensors.push_back(variable_of(argument.ptr())->handle);
          } else {
            tensors.push_back(tensor_of(argument.ptr()));
          }
        }
        return run_and_pack(*self.entry, tensors, true);
      });
}

}  // namespace graven::python
