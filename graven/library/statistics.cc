#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/reductions.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"

namespace graven::engine {
namespace {

struct MomentsParameters {
  Tensor x;
  Axes axes;
  bool keepdims = false;
  static constexpr auto fields() {
    using P = MomentsParameters;
    return std::tuple(required_field("x", &P::x, "T", "The elements, of any shape."),
                      required_field("axes", &P::axes, "The axes to go over; None means all."),
                      ignored_field("shift", "TensorFlow does not read it either."),
                      field("keepdims", &P::keepdims, "Keep these axes, with size 1."));
  }
};

Outputs moments(FunctionContext& c, const MomentsParameters& p) {
  if (p.axes.tensor) return c.fail(type_error("moments: axes must be numbers, not a tensor"));
  Formula x = c.wide(p.x), mean = reduce(c, kMean, x, p.axes, true, "mean");
  Formula distance = call(kSquaredDifference, x, call(kStopGradient, mean));
  Formula variance = reduce(c, kMean, distance, p.axes, p.keepdims, "variance");
  const bool has_axes = p.axes.is_none() || !p.axes.numbers->empty();
  if (!p.keepdims && has_axes) {
    SqueezeAttrs axes;  // none: all, which are of size 1
    if (p.axes.numbers) axes.squeeze_dims.assign(p.axes.numbers->begin(), p.axes.numbers->end());
    mean = call(kSqueeze, mean, axes);
  }
  return {c.cast(mean, p.x.dtype()), c.cast(variance, p.x.dtype())};
}

}  // namespace

void define_statistics(FunctionRegistry& functions) {
  functions.define({
      .names = "nn.moments",
      .scope = "moments",
      .types = {{"T", kFloatTypes}},
      .results = tuple({"mean", "variance"}),
      .summary = "The mean and the variance over axes; half and bfloat16 are computed in float32.",
      .returns = "Both of the dtype of x, and its shape without the axes.",
      .raises = {{"InvalidArgumentError", "An axis is outside [-rank, rank)."},
                 {"TypeError", "The axes are a tensor."}},
      .body = moments,
  });
}

}  // namespace graven::engine
