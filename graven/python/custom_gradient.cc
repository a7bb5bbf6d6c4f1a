#include "graven/autodiff/custom_gradient.h"

#include <nanobind/nanobind.h>

#include <vector>

#include "graven/ir/call_sizes.h"
#include "graven/ir/frame.h"
#include "graven/python/bind.h"
#include "graven/python/convert.h"
#include "graven/python/custom_gradient.h"
#include "graven/python/errors.h"
#include "graven/python/function_object.h"
#include "graven/python/object.h"
#include "graven/python/slot.h"
#include "graven/python/tape_object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/user_callable.h"
#include "graven/python/variable_object.h"
#include "graven/runtime/eager_builder.h"

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::Gradient;
using engine::Ref;
using engine::Result;
using engine::Tensor;

// A gradient that a Python function computes: from tensors, one an output, to a list with None, a
// tensor, or (values, indices, dense shape or None) for each input.
//
// The function may hold tensors of the graph, or the tape, that owns this. So the Function that is
// traced, or the tapes that record, own it. It in turn owns objects that are made while it runs for
// a graph (that of a backward half, which outlives the trace that asked for it).
class PythonGradient final : public engine::CustomGradient {
 public:
  explicit PythonGradient(PyObject* function) : held_(function) {}
  HeldObject& held() { return held_; }

  static bool keep_for_running(PyObject* object) {
    if (!running || !engine::Frame::current().is_graph()) return true;
    return running->held_.keep(object);
  }

  bool is_same(const engine::CustomGradient& other) const override {
    HoldGil gil;
    const auto* theirs = dynamic_cast<const PythonGradient*>(&other);
    if (!theirs || !held_.get() || !theirs->held_.get()) return false;
    static constinit Imported same_gradient("graven._custom_gradient", "same_gradient");
    PyObject* compare = same_gradient.get();
    Object same = compare ? Object::take(run_python<PyObject_CallFunctionObjArgs>(
                                compare, held_.get(), theirs->held_.get(), nullptr))
                          : Object();
    if (!same) PyErr_Clear();
    return same.get() == Py_True;
  }

  Result<std::vector<Gradient>> gradient(engine::Builder&, std::span<const Tensor>,
                                         std::span<const Tensor> dy) const override {
    HoldGil gil;
    Running scope(this);
    Object function = Object::borrow(held_.get());
    if (!function) {
      return engine::Status(
          engine::Code::kFailedPrecondition,
          "The function of a custom gradient is gone, because the tf.function or the tape that it "
          "was used in is gone: keep that alive for as long as gradients are computed",
          engine::ErrorKind::kRuntimeError);
    }
    Object arguments = Object::take(PyTuple_New(static_cast<Py_ssize_t>(dy.size())));
    if (!arguments) return pending_exception();
    for (size_t i = 0; i < dy.size(); ++i) {
      PyObject* tensor = wrap(dy[i]);
      if (!tensor) return pending_exception();
      PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), tensor);
    }
    Object result = Object::take(run_python<PyObject_CallObject>(function.get(), arguments.get()));
    if (!result) return pending_exception();
    Object list = items_of(result.get(), "gradients must be a list");
    if (!list) return pending_exception();
    std::vector<Gradient> gradients;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i) {
      ASSIGN_OR_RETURN(Gradient dx, to_gradient(PyTuple_GET_ITEM(list.get(), i)));
      gradients.push_back(std::move(dx));
    }
    return gradients;
  }

 private:
  static Result<Gradient> to_gradient(PyObject* object) {
    Gradient gradient;
    if (object == Py_None) return gradient;
    if (!PyTuple_Check(object)) {
      ASSIGN_OR_RETURN(gradient.dense, to_tensor(object));
      return gradient;
    }
    if (PyTuple_GET_SIZE(object) != 3) return engine::type_error("IndexedSlices have three parts");
    ASSIGN_OR_RETURN(gradient.slices.values, to_tensor(PyTuple_GET_ITEM(object, 0)));
    ASSIGN_OR_RETURN(gradient.slices.indices, to_tensor(PyTuple_GET_ITEM(object, 1)));
    PyObject* shape = PyTuple_GET_ITEM(object, 2);
    if (shape != Py_None) {
      ASSIGN_OR_RETURN(gradient.slices.dense_shape, to_tensor(shape));
    }
    return gradient;
  }

  class Running {
   public:
    explicit Running(const PythonGradient* now) : before_(running) { running = now; }
    ~Running() { running = before_; }
    Running(const Running&) = delete;

   private:
    const PythonGradient* before_;
  };
  static constinit thread_local const PythonGradient* running;

  HeldObject held_;
};

constinit thread_local const PythonGradient* PythonGradient::running = nullptr;

std::vector<Tensor> tensors_of(nb::sequence objects) {
  std::vector<Tensor> tensors;
  for (nb::handle object : objects) {
    bool is_handle = is_variable(object.ptr());
    tensors.push_back(is_handle ? variable_of(object.ptr())->handle : tensor_of(object.ptr()));
  }
  return tensors;
}

}  // namespace

bool keep_for_gradient(PyObject* object) { return PythonGradient::keep_for_running(object); }

void bind_custom_gradient(nb::module_& m) {
  m.def(
      "apply_custom_gradient",
      [](nb::sequence inputs, nb::sequence outputs, nb::object function) {
        auto gradient = engine::make_ref<PythonGradient>(function.ptr());
        Object slot = gradient->held().hand_over();
        if (!slot && PyErr_Occurred()) throw nb::python_error();
        if (slot) {
          keep_for_tapes(slot.get());
          keep_for_callable(slot.get());  // vectorized_map differentiates what it has traced
          if (!keep_for_trace(slot.get()) || !keep_for_gradient(slot.get())) {
            throw nb::python_error();
          }
        }
        // The gradient's function may run after the trace, and ask for any size.
        engine::CallSizes::read_all();
        auto results = engine::apply_custom_gradient(engine::current_builder(), tensors_of(inputs),
                                                     tensors_of(outputs),
                                                     Ref<engine::CustomGradient>(gradient));
        if (!results.ok()) {
          raise(results.status());
          throw nb::python_error();
        }
        nb::list list;
        for (const Tensor& result : *results) {
          PyObject* tensor = wrap(result);
          if (!tensor) throw nb::python_error();
          list.append(nb::steal(tensor));
        }
        return list;
      },
      "Gives what a function computed from tensors and variables a gradient of its own: returns "
      "new tensors, equal to the outputs.");
}

}  // namespace graven::python
