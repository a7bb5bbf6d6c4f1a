#include "graven/python/tape_object.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <vector>

#include "graven/autodiff/forward_accumulator.h"
#include "graven/autodiff/graph_gradients.h"
#include "graven/autodiff/tape.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/python/bind.h"
#include "graven/python/errors.h"
#include "graven/python/object.h"
#include "graven/python/results.h"
#include "graven/python/tensor_object.h"
#include "graven/python/variable_object.h"
#include "graven/runtime/eager_builder.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::Tensor;

// The engine's tape, with the Python objects that its steps need.
struct Tape : engine::Tape {
  using engine::Tape::Tape;
  std::vector<Object> kept;
};

// An error as it is held for a tangent that may never be asked for. What Ctrl-C has raised comes
// again, as if it were pressed now.
engine::Status to_hold(const engine::Status& error) {
  HoldGil gil;
  engine::Status held = without_frames(error);
  raise(held);
  const bool is_interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  PyErr_Clear();
  if (is_interrupt) PyErr_SetInterrupt();
  return held;
}

// The engine's accumulator. It owns no Python object but exceptions of the program, which are told
// when tangents are asked for, and are without frames: the accumulator is in one.
struct Accumulator {
  engine::ForwardAccumulator forward{engine::eager_builder(), to_hold};
};

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (!nb::inst_ready(object)) return 0;
  for (const Object& kept : nb::inst_ptr<Tape>(object)->kept) Py_VISIT(kept.get());
  return 0;
}

int clear(PyObject* object) {
  std::vector<Object> dropped;
  dropped.swap(nb::inst_ptr<Tape>(object)->kept);
  return 0;
}

PyType_Slot collector_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                 {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                 {0, nullptr}};

// A tensor, or the handle of a variable.
Tensor tensor_or_handle(nb::handle object) {
  return is_variable(object.ptr()) ? variable_of(object.ptr())->handle : tensor_of(object.ptr());
}

// Tensors of a list whose items are tensors, variables (their handles) or None.
std::vector<Tensor> tensors_of(nb::sequence objects) {
  std::vector<Tensor> tensors;
  for (nb::handle object : objects) {
    if (object.is_none()) {
      tensors.emplace_back();
    } else if (is_variable(object.ptr())) {
      tensors.push_back(variable_of(object.ptr())->handle);
    } else if (is_tensor(object.ptr())) {
      tensors.push_back(tensor_of(object.ptr()));
    } else {
      throw nb::type_error(engine::str_cat("Gradients are between tensors and variables, not of a ",
                                           Py_TYPE(object.ptr())->tp_name)
                               .c_str());
    }
  }
  return tensors;
}

// None, a tensor, or (values, indices, dense shape or None).
nb::object gradient_to_python(const engine::Gradient& gradient) {
  if (gradient.is_none()) return nb::none();
  if (!gradient.is_slices()) return steal(wrap(gradient.dense));
  const engine::IndexedSlices& slices = gradient.slices;
  nb::object shape = slices.dense_shape ? steal(wrap(slices.dense_shape)) : nb::none();
  return nb::make_tuple(steal(wrap(slices.values)), steal(wrap(slices.indices)), shape);
}

void bind_accumulator(nb::module_& m) {
  nb::class_<Accumulator>(m, "Accumulator",
                          "The engine's forward accumulator, behind autodiff.ForwardAccumulator.")
      .def(nb::init<>())
      .def("start", [](Accumulator& self) { self.forward.start(); })
      .def("stop", [](Accumulator& self) { self.forward.stop(); })
      .def_prop_ro("is_recording", [](Accumulator& self) { return self.forward.is_recording(); })
      .def("watch",
           [](Accumulator& self, nb::handle primal, nb::handle tangent) {
             return value_or_raise(
                 self.forward.watch(tensor_or_handle(primal), tensor_of(tangent.ptr())));
           })
      .def("tangent", [](Accumulator& self, nb::handle primal) -> nb::object {
        const engine::Result<Tensor> found = self.forward.tangent(tensor_or_handle(primal));
        if (!found.ok()) {
          self.forward.forget(found.status());
          throw_status(found.status());
        }
        return *found ? steal(wrap(*found)) : nb::none();
      });
}

}  // namespace

void keep_for_tapes(PyObject* object) {
  for (engine::Listener* listener : engine::Frame::current().listeners) {
    if (auto* tape = dynamic_cast<Tape*>(listener)) tape->kept.push_back(Object::borrow(object));
  }
}

std::shared_ptr<engine::Tape> make_host_tape() {
  auto* made = new Tape(/*persistent=*/true, /*watch_accessed_variables=*/false);
  return std::shared_ptr<engine::Tape>(made, [](Tape* tape) {
    if (tape->kept.empty()) {
      delete tape;
    } else if (Py_IsInitialized()) {
      HoldGil gil;
      delete tape;
    }
  });
}

void bind_tape(nb::module_& m) {
  m.def(
      "graph_gradients",
      [](nb::sequence targets, nb::sequence sources, nb::sequence seeds, nb::sequence stop) {
        engine::GraphBuilder* graph = engine::Frame::current().graph_builder();
        if (!graph) {
          PyErr_SetString(PyExc_RuntimeError,
                          "tf.gradients is not supported when eager execution is enabled. Use "
                          "tf.GradientTape instead.");
          throw nb::python_error();
        }
        auto gradients =
            engine::graph_gradients(graph->graph_ref(), tensors_of(targets), tensors_of(sources),
                                    tensors_of(seeds), tensors_of(stop), engine::current_builder());
        if (!gradients.ok()) {
          raise(gradients.status());
          throw nb::python_error();
        }
        nb::list list;
        for (const engine::Gradient& gradient : *gradients) {
          list.append(gradient_to_python(gradient));
        }
        return list;
      },
      "Gradients in the graph that is being built, without a tape.");
  nb::class_<Tape>(m, "Tape", nb::type_slots(collector_slots),
                   "The engine's tape, behind GradientTape.")
      .def(nb::init<bool, bool>(), nb::arg("persistent"), nb::arg("watch_accessed_variables"))
      .def("start", [](Tape& self) { self.start(); })
      .def("stop", [](Tape& self) { self.stop(); })
      .def("reset",
           [](Tape& self) {
             self.reset();
             self.kept.clear();
           })
      .def_prop_ro("is_recording", [](Tape& self) { return self.is_recording(); })
      .def("watch",
           [](Tape& self, nb::handle object) {
             return self.watch(is_variable(object.ptr()) ? variable_of(object.ptr())->handle
                                                         : tensor_of(object.ptr()));
           })
      .def("watched_variables",
           [](Tape& self) {
             nb::list list;
             for (const Tensor& handle : self.watched_variables()) {
               if (is_deleted(handle)) continue;
               PyObject* variable = variable_object(handle);
               if (!variable) throw nb::python_error();
               list.append(nb::steal(variable));
             }
             return list;
           })
      .def(
          "gradient",
          [](Tape& self, nb::sequence targets, nb::sequence sources,
             std::optional<nb::sequence> output_gradients, bool keep) {
            std::vector<Tensor> dy;
            if (output_gradients) dy = tensors_of(*output_gradients);
            auto gradients = self.gradient(tensors_of(targets), tensors_of(sources), dy,
                                           engine::current_builder(), keep);
            if (!gradients.ok()) {
              raise(gradients.status());
              throw nb::python_error();
            }
            nb::list list;
            for (const engine::Gradient& gradient : *gradients) {
              list.append(gradient_to_python(gradient));
            }
            return list;
          },
          nb::arg("targets"), nb::arg("sources"), nb::arg("output_gradients").none(),
          nb::arg("keep"));
  bind_accumulator(m);
}

}  // namespace graven::python
