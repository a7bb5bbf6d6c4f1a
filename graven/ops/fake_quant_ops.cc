#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/scaling_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/sizes.h"

namespace graven::engine {
namespace {

// Fake quantization rounds to the 2^num_bits numbers that a quantized tensor over [min, max] can
// hold (Jacob et al., arXiv:1712.05877). The range is moved so that 0 is one of them.

struct Levels {
  float lowest, highest;  // 0 or 1, and 2^num_bits - 1
  template <typename Attrs>
  explicit Levels(const Attrs& a)
      : lowest(a.narrow_range ? 1 : 0),
        highest(static_cast<float>((int64_t{1} << a.num_bits) - 1)) {}
};

Status check_bits(int64_t num_bits) {
  if (num_bits >= 2 && num_bits <= 16) return {};
  return invalid_argument("num_bits must be between 2 and 16, inclusive, got ", num_bits);
}

// --- With the range as attributes.

struct Range {
  float low, high, scale;
  explicit Range(const FakeQuantArgsAttrs& a) {
    const Levels levels(a);
    scale = (a.max - a.min) / (levels.highest - levels.lowest);
    const float zero = std::fmin(
        std::fmax(std::floor(levels.lowest - a.min / scale + 0.5f), levels.lowest), levels.highest);
    low = (levels.lowest - zero) * scale;
    high = (levels.highest - zero) * scale;
  }
};

Status check_args(InferContext& c) {
  const auto& attrs = c.attrs<FakeQuantArgsAttrs>();
  if (!(attrs.min < attrs.max)) {
    return invalid_argument("min has to be smaller than max, was: ", attrs.min, " >= ", attrs.max);
  }
  RETURN_IF_ERROR(check_bits(attrs.num_bits));
  return same_shapes(c);
}

void define_fake_quant_with_min_max_args(OpRegistry& ops) {
  ops.define(kFakeQuantWithMinMaxArgs,
             {
                 .name = "FakeQuantWithMinMaxArgs",
                 .python = "quantization.fake_quant_with_min_max_args",
                 .summary = "The inputs, cut to [min, max] and rounded to numbers that num_bits "
                            "can tell apart; one less of them if the range is narrow.",
                 .inputs = {"inputs: float32"},
                 .outputs = {"outputs: float32"},
                 .infer = check_args,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0, c(kFakeQuantWithMinMaxArgsGradient, {c.dy(), c.x(0)},
                                     c.attrs<FakeQuantArgsAttrs>()));
                     },
                 .body = elementwise<FakeQuantArgsAttrs>([](const FakeQuantArgsAttrs& a, auto x) {
                   const Range range(a);
                   const float by = 1 / range.scale, zero = std::floor(-range.low * by + 0.5f);
                   auto cut =
                       max(min(x, constant_like(x, range.high)), constant_like(x, range.low));
                   return floor((cut - range.low) * by - zero + 0.5f) * range.scale;
                 }),
             });
  ops.define(
      kFakeQuantWithMinMaxArgsGradient,
      {
          .name = "FakeQuantWithMinMaxArgsGradient",
          .python = "quantization.fake_quant_with_min_max_args_gradient",
          .summary = "The gradients where the inputs lie in the range, else 0.",
          .inputs = {"gradients: float32", "inputs: float32"},
          .outputs = {"backprops: float32"},
          .infer = check_args,
          .batch = batch_leading_axes,
          .body = elementwise<FakeQuantArgsAttrs>([](const FakeQuantArgsAttrs& a, auto dy, auto x) {
            const Range range(a);
            return select((x >= range.low) & (x <= range.high), dy, zero_like(dy));
          }),
      });
}

// --- With the range as tensors: scalars, or a vector with one for each channel. Min and max of 0
// make a range of nothing, in which all is 0.

struct TensorRange {
  Formula low, high, scale, is_nothing;
};

TensorRange range_of(CompositeContext& c, const Tensor& min_tensor, const Tensor& max_tensor) {
  const Levels levels(c.attrs<FakeQuantAttrs>());
  const Formula min(c, min_tensor), max(c, max_tensor), zero = constant_like(min, 0);
  const Formula lowest = constant_like(min, levels.lowest);
  const Formula highest = constant_like(min, levels.highest);
  const Formula scale = (max - min) / (highest - lowest);
  Formula place = call(kFloor, lowest - min / scale + 0.5);
  place = call(kMinimum, call(kMaximum, place, lowest), highest);
  const Formula is_nothing = call(kLogicalAnd, call(kEqual, min, zero), call(kEqual, max, zero));
  return {(lowest - place) * scale, (highest - place) * scale, scale, is_nothing};
}

bool is_surely(Dim a, Dim b) { return !a.is_unknown() && a == b; }

// Whether min and max, of the inputs from `first` on, surely have the shape that they must have.
template <bool per_channel>
bool surely_fit(CompositeContext& c, int first) {
  const Shape& x = c.x(first).shape();
  for (int i : {first + 1, first + 2}) {
    const Shape& bound = c.x(i).shape();
    if (!x.has_rank() || !bound.has_rank()) return false;
    if (per_channel && !is_surely(bound[0], x[x.rank() - 1])) return false;
  }
  if (first == 0) return true;
  const Shape& dy = c.x(0).shape();
  return dy.has_rank() && std::ranges::equal(dy.dims(), x.dims(), is_surely);
}

template <bool per_channel>
Status check_bounds(InferContext& c, int first) {
  RETURN_IF_ERROR(check_bits(c.attrs<FakeQuantAttrs>().num_bits));
  const Shape& x = c.shape(first);
  if (per_channel && x.has_rank() && x.rank() == 0) {
    return invalid_argument("inputs must be at least 1-dimensional");
  }
  for (int i : {first + 1, first + 2}) {
    const Shape& bound = c.shape(i);
    const char* name = i == first + 1 ? "min" : "max";
    if (bound.has_rank() && bound.rank() != (per_channel ? 1 : 0)) {
      return invalid_argument("`", name, "` must be rank ", per_channel ? 1 : 0, " but is rank ",
                              bound.rank());
    }
    if (!per_channel || !x.has_rank() || !bound.has_rank()) continue;
    if (!c.merge(x[x.rank() - 1], bound[0]).ok()) {
      return invalid_argument(name, " has incorrect size, expected ", x.size(x.rank() - 1), " was ",
                              bound.size(0));
    }
  }
  return {};
}

template <bool per_channel>
Status fake_quant_shape(InferContext& c) {
  RETURN_IF_ERROR(check_bounds<per_channel>(c, 0));
  c.set_shape(0, c.shape(0));
  return {};
}

template <bool per_channel>
void fake_quant(CompositeContext& c) {
  if (!surely_fit<per_channel>(c, 0)) return c.stay_whole();
  const TensorRange range = range_of(c, c.x(1), c.x(2));
  const Formula x(c, c.x(0)), by = constant_like(range.scale, 1) / range.scale;
  const Formula zero = call(kFloor, -range.low * by + 0.5);
  const Formula cut = call(kMaximum, call(kMinimum, x, range.high), range.low);
  const Formula y = call(kFloor, (cut - range.low) * by - zero + 0.5) * range.scale;
  c.set_output(c(kSelectV2, {range.is_nothing, constant_like(x, 0), y}));
}

template <bool per_channel>
Status fake_quant_gradient_shape(InferContext& c) {
  RETURN_IF_ERROR(check_bounds<per_channel>(c, 1));
  ASSIGN_OR_RETURN(Shape shape, merge_shapes(c.shape(0), c.shape(1)));
  c.set_shape(0, shape);
  Shape of_bounds;
  if (per_channel) {
    const bool has_channels = shape.has_rank() && shape.rank() > 0;
    of_bounds = {has_channels ? shape[shape.rank() - 1] : Dim::unknown()};
  }
  for (int i : {1, 2}) c.set_shape(i, of_bounds);
  return {};
}

template <bool per_channel>
void fake_quant_gradient(CompositeContext& c) {
  if (!surely_fit<per_channel>(c, 1)) return c.stay_whole();
  const TensorRange range = range_of(c, c.x(2), c.x(3));
  const Formula dy(c, c.x(0)), x(c, c.x(1)), nothing = constant_like(dy, 0);
  const Formula below = call(kLess, x, range.low), above = call(kGreater, x, range.high);
  const Formula inside =
      call(kLogicalAnd, call(kGreaterEqual, x, range.low), call(kLessEqual, x, range.high));
  const Formula passes = call(kLogicalOr, inside, range.is_nothing);
  c.set_output(c(kSelectV2, {passes, dy, nothing}));
  std::vector<int32_t> others(static_cast<size_t>(c.x(1).shape().rank() - per_channel));
  std::iota(others.begin(), others.end(), 0);
  const Tensor axes = int32_vector(c, others);
  for (const Formula& outside : {below, above}) {
    const Tensor parts = c(kSelectV2, {outside, dy, nothing});
    c.set_output(c(kSum, {parts, axes}));
  }
}

template <const OpHandle<FakeQuantAttrs>& gradient>
void gradient_by(GradientContext& c) {
  const Tensors dx = c.apply(gradient, {c.dy(), c.x(0), c.x(1), c.x(2)}, c.attrs<FakeQuantAttrs>());
  for (int i = 0; i < static_cast<int>(dx.size()); ++i) {
    if (c.wants(i)) c.set_dx(i, dx[i]);
  }
}

void define_fake_quant_with_min_max_vars(OpRegistry& ops) {
  ops.define(kFakeQuantWithMinMaxVars,
             {
                 .name = "FakeQuantWithMinMaxVars",
                 .python = "quantization.fake_quant_with_min_max_vars",
                 .summary = "fake_quant_with_min_max_args with scalars for the range.",
                 .inputs = {"inputs: float32", "min: float32", "max: float32"},
                 .outputs = {"outputs: float32"},
                 .infer = fake_quant_shape<false>,
                 .gradient = gradient_by<kFakeQuantWithMinMaxVarsGradient>,
                 .body = composite(fake_quant<false>),
             });
  ops.define(kFakeQuantWithMinMaxVarsPerChannel,
             {
                 .name = "FakeQuantWithMinMaxVarsPerChannel",
                 .python = "quantization.fake_quant_with_min_max_vars_per_channel",
                 .summary = "fake_quant_with_min_max_args with a range for each element of the "
                            "last axis.",
                 .inputs = {"inputs: float32", "min: float32", "max: float32"},
                 .outputs = {"outputs: float32"},
                 .infer = fake_quant_shape<true>,
                 .gradient = gradient_by<kFakeQuantWithMinMaxVarsPerChannelGradient>,
                 .body = composite(fake_quant<true>),
             });
}

void define_fake_quant_with_min_max_vars_gradient(OpRegistry& ops) {
  ops.define(
      kFakeQuantWithMinMaxVarsGradient,
      {
          .name = "FakeQuantWithMinMaxVarsGradient",
          .python = "quantization.fake_quant_with_min_max_vars_gradient",
          .summary = "The gradients where the inputs lie in the range, else 0; and the sums "
                     "of those below and above it.",
          .inputs = {"gradients: float32", "inputs: float32", "min: float32", "max: float32"},
          .outputs = {"backprops_wrt_input: float32", "backprop_wrt_min: float32",
                      "backprop_wrt_max: float32"},
          .infer = fake_quant_gradient_shape<false>,
          .body = composite(fake_quant_gradient<false>),
      });
  ops.define(
      kFakeQuantWithMinMaxVarsPerChannelGradient,
      {
          .name = "FakeQuantWithMinMaxVarsPerChannelGradient",
          .python = "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
          .summary = "The gradients where the inputs lie in the range, else 0; and the sums "
                     "of those below and above it, for each channel.",
          .inputs = {"gradients: float32", "inputs: float32", "min: float32", "max: float32"},
          .outputs = {"backprops_wrt_input: float32", "backprop_wrt_min: float32",
                      "backprop_wrt_max: float32"},
          .infer = fake_quant_gradient_shape<true>,
          .body = composite(fake_quant_gradient<true>),
      });
}

}  // namespace

void define_fake_quant_ops(OpRegistry& ops) {
  define_fake_quant_with_min_max_args(ops);
  define_fake_quant_with_min_max_vars(ops);
  define_fake_quant_with_min_max_vars_gradient(ops);
}

}  // namespace graven::engine
