#include <span>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"

namespace graven::engine {
namespace {

struct ScanParameters {
  Tensor x, axis;
  bool exclusive = false, reverse = false;
  static constexpr auto fields() {
    using P = ScanParameters;
    return std::tuple(
        required_field("x", &P::x, "T", "At least one axis."),
        field("axis", &P::axis, "int32", 0, "The axis; negative counts from the end."),
        field("exclusive", &P::exclusive, "Leave out the element itself."),
        field("reverse", &P::reverse, "Start from the end."));
  }
};

Outputs scan(FunctionContext& c, const OpHandle<ScanAttrs>& op, const ScanParameters& p) {
  const Tensor axis = p.axis ? p.axis : c.scalar(0, DType::kInt32, "axis");
  return c(op, {p.x, axis}, {.exclusive = p.exclusive, .reverse = p.reverse}, c.name());
}

struct AddNParameters {
  TensorList inputs;
  static constexpr auto fields() {
    return std::tuple(required_field("inputs", &AddNParameters::inputs, "any",
                                     "Tensors of one numeric dtype and shape, or IndexedSlices."));
  }
};

Tensor sum_of(FunctionContext& c, std::span<const Tensor> tensors) {
  if (tensors.size() == 1) return tensors[0];
  const Tensors sums = c.Emitter::apply(*kAddN, tensors, NoAttrs(), c.name());
  return sums.empty() ? Tensor() : sums[0];
}

Outputs add_n(FunctionContext& c, const AddNParameters& p) {
  // A tensor is the list of its rows.
  const int64_t rows = p.inputs.is_list ? 0 : c.static_size(p.inputs.tensors[0], 0).value_or(0);
  if (p.inputs.tensors.empty() || (!p.inputs.is_list && rows == 0)) {
    return c.fail(value_error(
        "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
        "shape."));
  }
  if (p.inputs.is_list) return sum_of(c, p.inputs.tensors);
  const Tensors tensors = c.apply(kUnpack, {p.inputs.tensors[0]}, {.num = rows});
  return tensors.empty() ? Tensor() : sum_of(c, {tensors.begin(), tensors.size()});
}

struct AccumulateNParameters {
  TensorList inputs;
  Shape shape = Shape::unknown_rank();
  DType tensor_dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = AccumulateNParameters;
    return std::tuple(
        required_field("inputs", &P::inputs, "any", "Tensors of one numeric dtype and shape."),
        field("shape", &P::shape, "Their shape, to be checked."),
        field("tensor_dtype", &P::tensor_dtype, "Their dtype, to be checked."));
  }
};

Outputs accumulate_n(FunctionContext& c, const AccumulateNParameters& p) {
  const auto& tensors = p.inputs.tensors;
  bool has_one_dtype = p.inputs.is_list && !tensors.empty();
  for (const Tensor& tensor : tensors) has_one_dtype &= tensor.dtype() == tensors[0].dtype();
  if (!has_one_dtype) {
    return c.fail(
        value_error("inputs must be a list of at least one Tensor with the same dtype and shape"));
  }
  Shape shape = p.shape;
  for (const Tensor& tensor : tensors) {
    auto merged = merge_shapes(shape, tensor.shape());
    if (!merged.ok()) {
      return c.fail(value_error("Shapes ", shape.to_text(), " and ", tensor.shape().to_text(),
                                " are not compatible"));
    }
    shape = *merged;
  }
  if (p.tensor_dtype != DType::kInvalid && p.tensor_dtype != tensors[0].dtype()) {
    return c.fail(type_error("The `tensor_dtype` argument is ", dtype_name(p.tensor_dtype),
                             ", but `input` is of type ", dtype_name(tensors[0].dtype()), "."));
  }
  return sum_of(c, tensors);
}

}  // namespace

void define_sums(FunctionRegistry& functions) {
  constexpr Raised kDoNotFit = {"InvalidArgumentError", "The dtypes differ, or the shapes."};
  constexpr Raised kNoSuchAxis = {"InvalidArgumentError", "An axis is outside [-rank, rank)."};
  functions.define({
      .names = "math.cumsum, cumsum",
      .scope = "Cumsum",
      .types = {{"T", kNumberTypes}},
      .summary = "Sums up to each element along an axis.",
      .returns = "The sums, of x's shape.",
      .raises = {kNoSuchAxis},
      .source = "OpDef \"Cumsum\"",
      .body = [](FunctionContext& c, const ScanParameters& p) { return scan(c, kCumsum, p); },
  });
  functions.define({
      .names = "math.cumprod",
      .scope = "Cumprod",
      .types = {{"T", kNumberTypes}},
      .summary = "Multiplies up to each element along an axis.",
      .returns = "The products, of x's shape.",
      .raises = {kNoSuchAxis},
      .source = "OpDef \"Cumprod\"",
      .body = [](FunctionContext& c, const ScanParameters& p) { return scan(c, kCumprod, p); },
  });
  functions.define({
      .names = "math.cumulative_logsumexp",
      .scope = "CumulativeLogsumexp",
      .types = {{"T", kFloatTypes}},
      .summary = "Takes log(sum(exp(x))) up to each element along an axis, without overflow.",
      .returns = "The logarithms, of x's shape.",
      .raises = {kNoSuchAxis},
      .source = "OpDef \"CumulativeLogsumexp\"",
      .body = [](FunctionContext& c,
                 const ScanParameters& p) { return scan(c, kCumulativeLogsumexp, p); },
  });
  functions.define({
      .names = "math.add_n, add_n",
      .scope = "AddN",
      .summary = "Sums tensors of one shape.",
      .returns = "The sum; a single input itself.",
      .raises = {{"ValueError", "There are no inputs."}, kDoNotFit},
      .source = "OpDef \"AddN\"",
      .body = add_n,
  });
  functions.define({
      .names = "math.accumulate_n",
      .scope = "AddN",
      .summary = "Sums tensors of one shape, which is checked.",
      .returns = "The sum; a single input itself.",
      .raises = {{"ValueError", "There are no inputs, or they do not fit each other or the shape."},
                 {"TypeError", "They have not the tensor_dtype."}},
      .source = "OpDef \"AddN\"",
      .body = accumulate_n,
  });
}

}  // namespace graven::engine
