#include <optional>

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

}  // namespace

void define_joins(FunctionRegistry& functions) {
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
