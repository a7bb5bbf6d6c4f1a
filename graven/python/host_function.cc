#include "graven/python/host_function.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

#include "graven/base/strings.h"
#include "graven/function/host_call.h"
#include "graven/ir/frame.h"
#include "graven/ir/graph_builder.h"
#include "graven/ir/host_function.h"
#include "graven/library/host_functions.h"
#include "graven/python/apply.h"
#include "graven/python/convert.h"
#include "graven/python/custom_gradient.h"
#include "graven/python/errors.h"
#include "graven/python/function_object.h"
#include "graven/python/graph_object.h"
#include "graven/python/host_error.h"
#include "graven/python/object.h"
#include "graven/python/slot.h"
#include "graven/python/tape_object.h"
#include "graven/python/tensor_object.h"
#include "graven/python/user_callable.h"

// tf.py_function and tf.numpy_function, whose Python side is graven._host_functions.

namespace nb = nanobind;

namespace graven::python {
namespace {

using engine::DType;
using engine::HostCall;
using engine::HostResults;
using engine::Result;
using engine::Status;
using engine::Tensor;

// A Python function from tensors to a list of tensors. A graph that calls it owns this, and the
// Function whose trace made the graph owns the Python function: see HeldObject.
class PythonHostFunction final : public engine::HostFunction {
 public:
  PythonHostFunction(PyObject* function, bool has_gradient)
      : held_(function), has_gradient_(has_gradient) {}
  HeldObject& held() { return held_; }

  Result<HostResults> call(std::span<const Tensor> inputs) const override {
    if (!Py_IsInitialized()) {
      return Status(engine::Code::kFailedPrecondition,
                    "Python has ended, and with it the function of the program");
    }
    return engine::call_host_function(inputs, has_gradient_ ? make_host_tape() : nullptr,
                                      [this](auto own) { return call_python(own); });
  }

  bool is_same(const HostFunction& other) const override {
    HoldGil gil;
    const auto* theirs = dynamic_cast<const PythonHostFunction*>(&other);
    if (!theirs || !held_.get() || !theirs->held_.get()) return false;
    static constinit Imported same_function("graven._host_functions", "same_function");
    PyObject* compare = same_function.get();
    const Object same = compare ? Object::take(run_python<PyObject_CallFunctionObjArgs>(
                                      compare, held_.get(), theirs->held_.get(), nullptr))
                                : Object();
    if (!same) PyErr_Clear();
    return same.get() == Py_True;
  }

 private:
  Result<std::vector<Tensor>> call_python(std::span<const Tensor> inputs) const {
    HoldGil gil;
    const Object function = Object::borrow(held_.get());
    if (!function) {
      return Status(engine::Code::kFailedPrecondition,
                    "The function of the program is gone, because the tf.function whose trace "
                    "calls it is gone: keep that alive for as long as its graphs run");
    }
    const Object arguments = Object::take(PyTuple_New(static_cast<Py_ssize_t>(inputs.size())));
    if (!arguments) return pending_exception();
    for (size_t i = 0; i < inputs.size(); ++i) {
      PyObject* tensor = wrap(inputs[i]);
      if (!tensor) return pending_exception();
      PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i), tensor);
    }
    const Object list =
        Object::take(run_python<PyObject_CallObject>(function.get(), arguments.get()));
    if (!list) return pending_host_error();
    std::vector<Tensor> outputs;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
      outputs.push_back(tensor_of(PyList_GET_ITEM(list.get(), i)));
    }
    return outputs;
  }

  HeldObject held_;
  const bool has_gradient_;
};

[[noreturn]] void fail(const Status& status) {
  raise(status);
  throw nb::python_error();
}

// The error for an input that is no tensor: where a graph is built, a TypeError as in TensorFlow.
Status no_operand(const Status& status, const std::string& op) {
  const bool is_kept = status.kind() == engine::ErrorKind::kUserException;
  if (is_kept || !engine::Frame::current().is_graph()) return status;
  return status
      .with_prefix(engine::str_cat("Tensors in list passed to 'input' of '", op,
                                   "' Op have types that are invalid: "))
      .as_kind(engine::ErrorKind::kTypeError);
}

// A node of the graph that is being built calls the function.
void keep(PyObject* slot) {
  keep_for_callable(slot);  // vectorized_map runs what it has traced
  if (!keep_for_trace(slot) || !keep_for_gradient(slot)) throw nb::python_error();
}

nb::object call(HostCall kind, nb::handle function, nb::sequence inputs, nb::sequence dtypes,
                const std::string& name) {
  const std::string op(engine::name_of(kind));
  const NodeScope scope(name.empty() ? op : name);
  std::vector<Tensor> operands;
  for (nb::handle input : inputs) {
    if (is_tensor(input.ptr())) {
      operands.push_back(operand_of(input.ptr()));
      continue;
    }
    auto tensor = to_tensor(input.ptr(), std::nullopt, engine::str_cat("input_", operands.size()));
    if (!tensor.ok()) fail(no_operand(tensor.status(), op));
    operands.push_back(std::move(*tensor));
  }
  std::vector<DType> results;
  for (nb::handle dtype : dtypes) {
    auto known = to_dtype(dtype.ptr());
    if (!known.ok()) fail(known.status());
    results.push_back(*known);
  }
  auto held = std::make_shared<PythonHostFunction>(function.ptr(), kind == HostCall::kWithGradient);
  auto made = engine::apply_host_function(kind, held, operands, results, scope.name());
  // Eagerly too: from here on the function is the slot's, which goes at once if nothing keeps it.
  const Object slot = held->held().hand_over();
  if (!slot && PyErr_Occurred()) throw nb::python_error();
  if (!made.ok()) fail(made.status());
  engine::GraphBuilder* const builder = engine::Frame::current().graph_builder();
  if (slot && builder) keep(slot.get());
  if (builder && results.empty()) {
    return nb::steal(wrap_operation(builder->graph_ref(), builder->graph()->nodes().back()));
  }
  nb::list list;
  for (Tensor& result : *made) {
    PyObject* object = wrap(std::move(result));
    if (!object) throw nb::python_error();
    list.append(nb::steal(object));
  }
  return list;
}

}  // namespace

void bind_host_function(nb::module_& m) {
  m.def(
      "call_py_function",
      [](nb::handle function, nb::sequence inputs, nb::sequence dtypes, const std::string& name) {
        return call(HostCall::kWithGradient, function, inputs, dtypes, name);
      },
      "Calls a function from tensors to a list of tensors of these dtypes, now or whenever the "
      "graph runs that is being built. Returns the list; the Operation, if a graph's is empty.");
  m.def(
      "call_numpy_function",
      [](nb::handle function, nb::sequence inputs, nb::sequence dtypes, bool is_stateful,
         const std::string& name) {
        const auto kind = is_stateful ? HostCall::kWithoutGradient : HostCall::kWithoutEffects;
        return call(kind, function, inputs, dtypes, name);
      },
      "The same without a gradient, and not at all if it is stateless and no result is used.");
}

}  // namespace graven::python
