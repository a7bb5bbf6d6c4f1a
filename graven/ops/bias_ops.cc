#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/runtime/run_op.h"

namespace graven::engine {
namespace {

bool has_channels_second(AttrsRef attrs) { return attrs.as<BiasAddAttrs>().data_format == "NCHW"; }

// The axis of channels of a value of known rank.
Result<int> channel_axis(const Shape& value, AttrsRef attrs) {
  const bool is_v1 = attrs.type().fields.empty();
  if (!is_v1) {
    const std::string& format = attrs.as<BiasAddAttrs>().data_format;
    if (format != "NHWC" && format != "NCHW") {
      return invalid_argument("data_format must be \"NHWC\" or \"NCHW\", got \"", format, "\"");
    }
  }
  if (value.has_rank() && value.rank() < 2) {
    return invalid_argument("Input tensor must be at least 2D: ", value.to_message());
  }
  return !is_v1 && has_channels_second(attrs) ? 1 : value.rank() - 1;
}

Status bias_add_shape(InferContext& c) {
  Shape value = c.shape(0);
  const Shape& bias = c.shape(1);
  ASSIGN_OR_RETURN(int axis, channel_axis(value, c.raw_attrs()));
  if (bias.has_rank() && bias.rank() != 1) {
    return invalid_argument("Biases must be 1D: ", bias.to_message());
  }
  if (value.has_rank() && bias.has_rank()) {
    auto channels = c.merge(value[axis], bias[0]);
    if (!channels.ok()) {
      return invalid_argument("Must provide as many biases as the ",
                              axis == value.rank() - 1 ? "last" : "channel",
                              " dimension of the input tensor: ", bias.to_message(), " vs. ",
                              value.to_message(), ". ", channels.status().message());
    }
    value.set(axis, *channels);
  }
  c.set_shape(0, std::move(value));
  return {};
}

// With channels second: a sum with the bias as a column.
Status bias_add_kernel(KernelContext& c) {
  Shape column = {c.input(1).shape()[0]};
  for (int i = 2; i < c.input(0).rank(); ++i) column.push_back(1);
  Tensor inputs[] = {c.input(0), c.input(1).with_shape(column)};
  Tensors sum;
  RETURN_IF_ERROR(run_op(*kAddV2, {}, inputs, /*reusable=*/0, /*state=*/nullptr, sum,
                         c.queue().device().name()));
  c.set_output(0, std::move(sum[0]));
  return {};
}

// Biases of their own for each row are added as tensors that broadcast.
void batch_bias_add(BatchContext& c) {
  const auto rank = c.rank(0);
  if (!rank) return c.use_loop();
  const bool is_second = &c.op() == kBiasAdd.op && has_channels_second(c.raw_attrs());
  if (!c.is_batched(1) && !is_second) {
    const Tensor inputs[] = {c.x(0), c.x(1)};
    return apply_to_rows(c, inputs);
  }
  Tensor bias = c.x(1);
  const int axis = is_second ? 1 : *rank - 1;
  for (int d = 0; d < axis && c.is_batched(1); ++d) {
    bias = c(kExpandDims, {bias, c.constant(Tensor::scalar<int32_t>(1))});
  }
  for (int d = axis + 1; d < *rank; ++d) {
    bias = c(kExpandDims, {bias, c.constant(Tensor::scalar<int32_t>(-1))});
  }
  c.set_y(0, c(kAddV2, {c.x(0), bias}));
}

void define_bias_add_and_bias_add_v1(OpRegistry& ops) {
  ops.define(kBiasAdd,
             {
                 .name = "BiasAdd",
                 .summary = "The value plus a vector along its channels: the last axis, or with "
                            "data_format NCHW the second.",
                 .inputs = {"value: T", "bias: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kNumberTypes}},
                 .infer = bias_add_shape,
                 .gradient =
                     [](GradientContext& c) {
                       Tensor dy = c.dy();
                       if (c.wants(0)) c.set_dx(0, dy);
                       if (c.wants(1)) c.set_dx(1, c(kBiasAddGrad, {dy}, c.attrs<BiasAddAttrs>()));
                     },
                 .batch = batch_bias_add,
                 .body = elementwise([](auto x, auto bias) {
                           return x + bias;
                         }).with_kernel_when(has_channels_second, bias_add_kernel),
                 .allocates_outputs = true,
             });
  ops.define(kBiasAddV1, {
                             .name = "BiasAddV1",
                             .summary = "The value plus a vector along its last axis.",
                             .inputs = {"value: T", "bias: T"},
                             .outputs = {"output: T"},
                             .types = {{"T", kNumberTypes}},
                             .infer = bias_add_shape,
                             .gradient =
                                 [](GradientContext& c) {
                                   Tensor dy = c.dy();
                                   if (c.wants(0)) c.set_dx(0, dy);
                                   if (c.wants(1)) c.set_dx(1, c(kBiasAddGrad, {dy}));
                                 },
                             .batch = batch_bias_add,
                             .body = elementwise([](auto x, auto bias) { return x + bias; }),
                         });
}

Status bias_add_grad_shape(InferContext& c) {
  const Shape& dy = c.shape(0);
  ASSIGN_OR_RETURN(int axis, channel_axis(dy, c.raw_attrs()));
  c.set_shape(0, {dy.has_rank() ? dy[axis] : Dim::unknown()});
  return {};
}

void bias_add_grad(CompositeContext& c) {
  const Shape& shape = c.x(0).shape();
  // Of a rank that inference has not seen, as when a call is expanded, the op refuses it itself.
  if (!shape.has_rank() || shape.rank() < 2) return c.stay_whole();
  const bool is_second = has_channels_second(AttrsRef(c.attrs<BiasAddAttrs>()));
  const int channels = is_second ? 1 : shape.rank() - 1;
  std::vector<int32_t> others;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis != channels) others.push_back(axis);
  }
  c.set_output(c(kSum, {c.x(0), int32_vector(c, others)}));
}

void bias_add_grad_gradient(GradientContext& c) {
  Formula dz(c, c.dy());
  if (!dz.tensor()) return;
  const auto& attrs = c.attrs<BiasAddAttrs>();
  if (attrs.data_format == "NHWC") {
    c.set_dx(0, c(kBroadcastTo, {dz, c.shape_of_x(0)}));
  } else {
    c.set_dx(0, c(kBiasAdd, {c(kFill, {c.shape_of_x(0), constant_like(dz, 0)}), dz}, attrs));
  }
}

void define_bias_add_grad(OpRegistry& ops) {
  ops.define(kBiasAddGrad,
             {
                 .name = "BiasAddGrad",
                 .summary = "The sum over all axes but that of the channels: the gradient of a "
                            "bias.",
                 .inputs = {"out_backprop: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kNumberTypes}},
                 .infer = bias_add_grad_shape,
                 .gradient = bias_add_grad_gradient,
                 .body = composite(bias_add_grad),
             });
}

}  // namespace

void define_bias_ops(OpRegistry& ops) {
  define_bias_add_and_bias_add_v1(ops);
  define_bias_add_grad(ops);
}

}  // namespace graven::engine
