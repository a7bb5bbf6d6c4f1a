#include <optional>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/join_ops.h"

namespace graven::engine {
namespace {

struct SplitParameters {
  Tensor value;
  Sizes num_or_size_splits;
  Tensor axis;
  std::optional<int64_t> num;
  static constexpr auto fields() {
    using P = SplitParameters;
    return std::tuple(
        required_field("value", &P::value, "T", "Any dtype and shape."),
        required_field("num_or_size_splits", &P::num_or_size_splits,
                       "The number of pieces of equal size, or their sizes, one of which may be "
                       "-1: what is left."),
        field("axis", &P::axis, "int32", 0, "The axis; negative counts from the end."),
        field("num", &P::num, "The number of pieces, where the sizes do not say it."));
  }
};

Outputs split(FunctionContext& c, const SplitParameters& p) {
  const Tensor axis = p.axis ? p.axis : c.scalar(0, DType::kInt32, "split_dim");
  const Sizes& pieces = p.num_or_size_splits;
  if (pieces.is_scalar) {
    return c.apply(kSplit, {axis, p.value}, {(*pieces.numbers)[0]}, c.name());
  }
  const Tensor sizes = c.tensor_of(pieces, "size_splits");
  if (c.rank_if_known(sizes) == 0) {
    return c.fail(value_error(
        "Rank-0 tensors are not supported as the num_or_size_splits argument to split."));
  }
  const std::optional<int64_t> count = p.num ? p.num : c.static_size(sizes, 0);
  if (!count) {
    return c.fail(value_error("Cannot infer argument `num` from shape ", sizes.shape().to_text()));
  }
  return c.apply(kSplitV, {p.value, sizes, axis}, {*count}, c.name());
}

struct ConcatParameters {
  TensorList values;
  Tensor axis;
  static constexpr auto fields() {
    using P = ConcatParameters;
    return std::tuple(
        required_field("values", &P::values, "T", "Tensors whose shapes agree but for the axis."),
        required_field("axis", &P::axis, "Tidx",
                       "The axis, an integer; negative counts from the end."));
  }
};

Outputs concat(FunctionContext& c, const ConcatParameters& p) {
  std::vector<Tensor> inputs = p.values.tensors;
  if (inputs.size() == 1) return c(kIdentity, {inputs[0]}, {}, c.name());
  inputs.push_back(p.axis);
  return c.apply(*kConcatV2, inputs, NoAttrs(), c.name());
}

struct StackParameters {
  TensorList values;
  int64_t axis = 0;
  static constexpr auto fields() {
    using P = StackParameters;
    return std::tuple(required_field("values", &P::values, "common T", "Tensors of one shape."),
                      field("axis", &P::axis,
                            "Where the new axis is; negative counts from the end of the result."));
  }
};

Outputs stack(FunctionContext& c, const StackParameters& p) {
  const auto& tensors = p.values.tensors;
  if (!p.values.is_list) {
    if (p.axis == 0) return tensors[0];  // a tensor is the stack of its parts
    return c.fail(type_error("Expected list for 'values' argument to 'stack', not a tensor"));
  }
  if (tensors.empty() && p.axis == 0) return c.constant(Tensor::vector<float>({}), c.name());
  const auto rank = tensors.empty() ? std::nullopt : c.rank_if_known(tensors[0]);
  if (rank && (p.axis < -*rank - 1 || p.axis > *rank)) {
    return c.fail(value_error("Argument `axis` = ", p.axis, " not in range [", -*rank - 1, ", ",
                              *rank + 1, ")"));
  }
  return c.apply(*kPack, tensors, PackAttrs{p.axis}, c.name());
}

struct ParallelStackParameters {
  TensorList values;
  static constexpr auto fields() {
    return std::tuple(required_field("values", &ParallelStackParameters::values, "any",
                                     "Tensors of one shape and dtype."));
  }
};

}  // namespace

void define_joins(FunctionRegistry& functions) {
  functions.define({
      .names = "concat",
      .scope = "concat",
      .summary = "Joins tensors along an axis.",
      .returns = "The joined tensor.",
      .raises = {{"InvalidArgumentError", "Shapes do not agree, or there is no such axis."}},
      .source = "OpDef \"ConcatV2\"",
      .body = concat,
  });
  functions.define({
      .names = "stack",
      .scope = "stack",
      .summary = "Puts tensors of one shape together along a new axis.",
      .returns = "A tensor with one axis more.",
      .raises = {{"InvalidArgumentError", "Shapes differ."},
                 {"ValueError", "There is no such axis."}},
      .source = "OpDef \"Pack\"",
      .body = stack,
  });
  functions.define({
      .names = "parallel_stack",
      .scope = "parallel_stack",
      .summary = "Puts tensors of one shape together along a new first axis, in a Function.",
      .returns = "A tensor with one axis more.",
      .raises = {{"RuntimeError", "It is called eagerly, where stack does the same."},
                 {"InvalidArgumentError", "Shapes differ."}},
      .body = [](FunctionContext& c, const ParallelStackParameters& p) -> Outputs {
        if (c.is_graph()) return c.apply(*kPack, p.values.tensors, PackAttrs(), c.name());
        return c.fail(Status(Code::kUnknown,
                             "tf.parallel_stack() is not compatible with eager execution.",
                             ErrorKind::kRuntimeError));
      },
  });
  functions.define({
      .names = "split",
      .scope = "split",
      .results = tensor_list(),
      .summary = "Cuts a tensor into pieces along an axis.",
      .returns = "The pieces, in order.",
      .raises = {{"InvalidArgumentError", "The pieces do not make up the axis."},
                 {"ValueError", "The number of pieces cannot be told."}},
      .source = "OpDefs \"Split\" and \"SplitV\"",
      .body = split,
  });
}

}  // namespace graven::engine
