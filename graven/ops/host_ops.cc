#include "graven/ops/host_ops.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/register_ops.h"
#include "graven/tensor/resource_as.h"

namespace graven::engine {
namespace {

bool is_differentiable(DType dtype) { return kDifferentiableTypes.contains(dtype); }

Tensor record_tensor(Ref<HostRecord> record) {
  return Tensor::of_resource(std::move(record), DType::kVariant);
}

// --- Calls.

// Gives the results of the function as the first outputs; returns its record.
Result<Ref<HostRecord>> call_function(KernelContext& c, const HostFunctionToken& function,
                                      const std::vector<DType>& dtypes) {
  ASSIGN_OR_RETURN(HostResults results, function.call(c.inputs()));
  if (results.outputs.size() != dtypes.size()) {
    return invalid_argument(function.text(), " returns ", results.outputs.size(),
                            " values, but expects to see ", dtypes.size(), " values.");
  }
  for (size_t i = 0; i < dtypes.size(); ++i) {
    if (results.outputs[i].is_symbolic()) {
      return invalid_argument(i, "-th value returned by ", function.text(),
                              " is a tensor of a graph, which has no value when the function runs: "
                              "pass it to the function as an argument");
    }
    const DType dtype = results.outputs[i].dtype();
    if (dtype != dtypes[i]) {
      return invalid_argument(i, "-th value returned by ", function.text(), " is ",
                              dtype_name(dtype), ", but expects ", dtype_name(dtypes[i]));
    }
    c.set_output(static_cast<int>(i), std::move(results.outputs[i]));
  }
  return std::move(results.record);
}

Status eager_py_func_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<EagerPyFuncAttrs>();
  ASSIGN_OR_RETURN(Ref<HostRecord> record, call_function(c, attrs.token, attrs.Tout));
  c.set_output(c.num_outputs() - 1, record_tensor(std::move(record)));
  return {};
}

Status py_func_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<PyFuncAttrs>();
  ASSIGN_OR_RETURN(const Ref<HostRecord> record, call_function(c, attrs.token, attrs.Tout));
  return {};
}

Effects stateless_effects(const Op& op, AttrsRef attrs) {
  Effects effects = unordered_effects(op, attrs);
  effects.may_block = true;
  return effects;
}

Status unknown_results_and_record(InferContext& c) {
  const int record = c.num_outputs() - 1;
  for (int i = 0; i < record; ++i) c.set_shape(i, Shape::unknown_rank());
  c.set_shape(record, Shape());
  return {};
}

// --- Gradients: of a call, and of the gradient of a call, both of which end with a record.

// Of the inputs from `first` on, by the results of these dtypes.
void gradient_by_record(GradientContext& c, int first, const std::vector<DType>& results) {
  const auto num_results = static_cast<int>(results.size());
  std::vector<int> from;
  std::vector<Tensor> inputs = {c.y(num_results)};
  HostGradientAttrs attrs;
  for (int i = first; i < c.num_inputs(); ++i) {
    if (!is_differentiable(c.dtype_of_x(i))) continue;
    from.push_back(i);
    inputs.push_back(c.x(i));
    attrs.Tx.push_back(c.dtype_of_x(i));
  }
  for (int i = 0; i < num_results; ++i) {
    const DType dtype = results[static_cast<size_t>(i)];
    if (!is_differentiable(dtype)) continue;
    inputs.push_back(c.dy(i));
    attrs.Tin.push_back(dtype);
  }
  if (attrs.Tx.empty() || attrs.Tin.empty()) return;
  attrs.Tin.insert(attrs.Tin.begin(), attrs.Tx.begin(), attrs.Tx.end());
  const Tensors dx = c.apply(*kHostGradient.op, inputs, attrs);
  for (size_t k = 0; k < from.size() && k < dx.size(); ++k) {
    if (c.wants(from[k])) c.set_dx(from[k], dx[k]);
  }
}

Status host_gradient_shapes(InferContext& c) {
  const auto& attrs = c.attrs<HostGradientAttrs>();
  const size_t num_x = attrs.Tx.size();
  if (attrs.Tin.size() <= num_x ||
      !std::ranges::equal(attrs.Tx, std::span(attrs.Tin).first(num_x))) {
    return invalid_argument("the inputs must be those of the call and gradients of its outputs");
  }
  Dim rows = Dim::unknown();
  for (int i = static_cast<int>(num_x) + 1; i < c.num_inputs() && attrs.for_rows; ++i) {
    if (!c.shape(i).has_rank()) continue;
    if (c.shape(i).rank() == 0) return invalid_argument("gradients of rows must have an axis");
    ASSIGN_OR_RETURN(rows, c.merge(rows, c.shape(i)[0]));
  }
  for (size_t i = 0; i < num_x; ++i) {
    const Shape& x = c.shape(static_cast<int>(i) + 1);
    Shape dx = attrs.for_rows && x.has_rank() ? Shape{rows} : x;
    for (int d = 0; d < x.rank() && attrs.for_rows; ++d) dx.push_back(x[d]);
    c.set_shape(static_cast<int>(i), std::move(dx));
  }
  c.set_shape(static_cast<int>(num_x), Shape());
  return {};
}

// Writes the gradient of an input into its place, zeros where there is none.
Status put_gradient(const Tensor& dx, size_t number, const Tensor& x, std::byte* place) {
  if (!dx) {
    std::memset(place, 0, x.bytes());
    return {};
  }
  if (dx.is_symbolic()) {
    return invalid_argument("the gradient of input ", number,
                            " is a tensor of a graph, which has no value when the gradient is "
                            "computed");
  }
  if (dx.dtype() != x.dtype() || !(dx.shape() == x.shape())) {
    return invalid_argument("the gradient of input ", number, " is a ", dtype_name(dx.dtype()),
                            dx.shape().to_message(), ", but the input is a ", dtype_name(x.dtype()),
                            x.shape().to_message());
  }
  std::memcpy(place, dx.raw_data(), x.bytes());
  return {};
}

// One gradient for each row of dy. Of these there is no record.
Status gradients_of_rows(KernelContext& c, HostRecord& record, std::span<const Tensor> x,
                         std::span<const Tensor> dy) {
  const int64_t num_rows = dy[0].shape().size(0);
  for (size_t i = 0; i < x.size(); ++i) {
    Shape shape{Dim(num_rows)};
    for (int d = 0; d < x[i].rank(); ++d) shape.push_back(x[i].shape()[d]);
    RETURN_IF_ERROR(c.allocate_output(static_cast<int>(i), x[i].dtype(), shape));
  }
  for (int64_t row = 0; row < num_rows; ++row) {
    std::vector<Tensor> dy_of_row;
    for (const Tensor& all : dy) {
      Shape shape;
      for (int d = 1; d < all.rank(); ++d) shape.push_back(all.shape()[d]);
      ASSIGN_OR_RETURN(Tensor one, Tensor::allocate(all.dtype(), shape));
      std::memcpy(one.mutable_raw_data(),
                  static_cast<const std::byte*>(all.raw_data()) + row * one.bytes(), one.bytes());
      dy_of_row.push_back(std::move(one));
    }
    ASSIGN_OR_RETURN(const HostResults results, record.gradient(dy_of_row));
    for (size_t i = 0; i < x.size(); ++i) {
      auto* place = static_cast<std::byte*>(c.output(static_cast<int>(i)).mutable_raw_data());
      RETURN_IF_ERROR(put_gradient(results.outputs[i], i, x[i], place + row * x[i].bytes()));
    }
  }
  c.set_output(static_cast<int>(x.size()), record_tensor(nullptr));
  return {};
}

Status host_gradient_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(HostRecord * record, resource_as<HostRecord>(c.input(0), HostRecord::kName));
  const auto& attrs = c.attrs<HostGradientAttrs>();
  const auto x = c.inputs().subspan(1, attrs.Tx.size());
  const auto dy = c.inputs().subspan(1 + x.size());
  if (record->num_inputs() != x.size()) {
    return invalid_argument("the record is of ", record->num_inputs(), " inputs, not ", x.size());
  }
  if (attrs.for_rows) return gradients_of_rows(c, *record, x, dy);
  ASSIGN_OR_RETURN(HostResults results, record->gradient(dy));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto output = static_cast<int>(i);
    RETURN_IF_ERROR(c.allocate_output(output, x[i].dtype(), x[i].shape()));
    auto* place = static_cast<std::byte*>(c.output(output).mutable_raw_data());
    RETURN_IF_ERROR(put_gradient(results.outputs[i], i, x[i], place));
  }
  c.set_output(static_cast<int>(x.size()), record_tensor(std::move(results.record)));
  return {};
}

void host_gradient_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<HostGradientAttrs>();
  if (attrs.for_rows) {
    return c.fail(unimplemented(
        "there is no gradient of a jacobian through a function of the program (tf.py_function)"));
  }
  gradient_by_record(c, 1, attrs.Tx);
}

// A jacobian: the gradients of one call for many rows of dy.
void batch_host_gradient(BatchContext& c) {
  HostGradientAttrs attrs = c.attrs<HostGradientAttrs>();
  const auto num_x = static_cast<int>(attrs.Tx.size());
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.is_batched(i) && (i <= num_x || attrs.for_rows)) return c.use_loop();
    inputs.push_back(i > num_x && c.any_batched() ? c.repeated(i) : c.x(i));
  }
  if (c.uses_loop()) return;
  attrs.for_rows |= c.any_batched();
  const Tensors outputs = c.apply(*kHostGradient.op, inputs, attrs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    c.set_y(static_cast<int>(i), outputs[i], c.any_batched() && static_cast<int>(i) < num_x);
  }
}

auto define_py_func(OpRegistry& ops, const char* name, const char* summary,
                    EffectsFunction effects) {
  return ops.define<PyFuncAttrs>({
      .name = name,
      .summary = summary,
      .inputs = {"input: Tin"},
      .outputs = {"output: Tout"},
      .infer = unknown_outputs,
      .gradient = not_differentiable,
      .body = kernel(py_func_kernel),
      .allocates_outputs = true,
      .effects = effects,
  });
}

}  // namespace

void define_host_ops(OpRegistry& ops) {
  kEagerPyFunc = ops.define<EagerPyFuncAttrs>({
      .name = "EagerPyFunc",
      .summary = "Calls a function of the program on tensors. The record is for its gradient.",
      .inputs = {"input: Tin"},
      .outputs = {"output: Tout", "record: variant"},
      .infer = unknown_results_and_record,
      .gradient =
          [](GradientContext& c) { gradient_by_record(c, 0, c.attrs<EagerPyFuncAttrs>().Tout); },
      .body = kernel(eager_py_func_kernel),
      .allocates_outputs = true,
      .effects = blocking_effects,
  });
  kPyFunc =
      define_py_func(ops, "PyFunc", "Calls a function of the program on arrays.", blocking_effects);
  kPyFuncStateless = define_py_func(
      ops, "PyFuncStateless", "Calls a function of the program on arrays, if a result is used.",
      stateless_effects);
  kHostGradient = ops.define<HostGradientAttrs>({
      .name = "_HostGradient",
      .summary = "The gradients of what a function of the program computed.",
      .inputs = {"record: variant", "input: Tin"},
      .outputs = {"dx: Tx", "next: variant"},
      .infer = host_gradient_shapes,
      .gradient = host_gradient_gradient,
      .batch = batch_host_gradient,
      .body = kernel(host_gradient_kernel),
      .allocates_outputs = true,
      .effects = stateless_effects,
      .default_node_name = "HostGradient",
  });
}

}  // namespace graven::engine
