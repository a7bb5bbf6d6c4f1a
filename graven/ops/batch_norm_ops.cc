#include <algorithm>
#include <cmath>
#include <string_view>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/elementwise.h"
#include "graven/kernels/reduce.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

// --- Shapes.

bool has_channels_second(std::string_view format) { return format == "NCHW" || format == "NCDHW"; }

// The axis of channels of images, which are checked.
Result<int> channel_axis(std::string_view format, const Shape& x) {
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW") {
    return invalid_argument("data_format must be one of NHWC, NCHW, NDHWC and NCDHW, got \"",
                            format, "\"");
  }
  const int rank = static_cast<int>(format.size());
  if (x.has_rank() && x.rank() != rank) {
    return invalid_argument("input must be ", rank, "-dimensional", x.to_message());
  }
  return has_channels_second(format) ? 1 : rank - 1;
}

// Images of which at least the rank is known, as the format says it.
Shape with_rank_of(std::string_view format, Shape x, int channel_axis, Dim channels) {
  if (!x.has_rank()) {
    x = {};
    for (size_t i = 0; i < format.size(); ++i) x.push_back(Dim::unknown());
  }
  x.set(channel_axis, channels);
  return x;
}

// An input must have a number for each channel; none at all is fine if it is not used.
Status merge_channels(InferContext& c, int input, std::string_view what, bool may_be_empty,
                      Dim& channels) {
  const Shape& shape = c.shape(input);
  if (!shape.has_rank()) return {};
  if (shape.rank() != 1) {
    return invalid_argument(what, " must be 1-dimensional", shape.to_message());
  }
  if (may_be_empty) return {};
  auto merged = c.merge(channels, shape[0]);
  if (!merged.ok()) {
    return invalid_argument(what, " must have the same number of elements as the channels of x, ",
                            "got ", shape[0].number(), " and ", channels.number());
  }
  channels = *merged;
  return {};
}

Status batch_norm_shape(InferContext& c) {
  const auto& attrs = c.attrs<BatchNormAttrs>();
  Shape x = c.shape(0);
  ASSIGN_OR_RETURN(int axis, channel_axis(attrs.data_format, x));
  Dim channels = x.has_rank() ? x[axis] : Dim::unknown();
  const bool needs_old = !attrs.is_training || attrs.exponential_avg_factor != 1;
  RETURN_IF_ERROR(merge_channels(c, 1, "scale", false, channels));
  RETURN_IF_ERROR(merge_channels(c, 2, "offset", false, channels));
  std::string_view when = !attrs.is_training ? "When is_training=false, " : "";
  RETURN_IF_ERROR(merge_channels(c, 3, str_cat(when, "mean"), !needs_old, channels));
  RETURN_IF_ERROR(merge_channels(c, 4, str_cat(when, "variance"), !needs_old, channels));
  c.set_shape(0, with_rank_of(attrs.data_format, std::move(x), axis, channels));
  for (int i = 1; i < 5; ++i) c.set_shape(i, {channels});
  c.set_shape(5, {0});
  return {};
}

Status batch_norm_grad_shape(InferContext& c) {
  const auto& attrs = c.attrs<BatchNormGradAttrs>();
  ASSIGN_OR_RETURN(int axis, channel_axis(attrs.data_format, c.shape(1)));
  auto merged = merge_shapes(c.shape(0), c.shape(1));
  if (!merged.ok()) {
    return invalid_argument("x and y_backprop must have the same shape, got ",
                            c.shape(1).to_message(), " and ", c.shape(0).to_message());
  }
  Dim channels = merged->has_rank() ? (*merged)[axis] : Dim::unknown();
  RETURN_IF_ERROR(merge_channels(c, 2, "scale", false, channels));
  RETURN_IF_ERROR(merge_channels(c, 3, "reserve_space_1", false, channels));
  RETURN_IF_ERROR(merge_channels(c, 4, "reserve_space_2", false, channels));
  c.set_shape(0, with_rank_of(attrs.data_format, std::move(*merged), axis, channels));
  c.set_shape(1, {channels});
  c.set_shape(2, {channels});
  c.set_shape(3, Shape());
  c.set_shape(4, Shape());
  return {};
}

// --- Kernels. Images are seen as [rows, channels] or [batch, channels, pixels].

struct Layout {
  Shape images, channel;    // what a number for each channel must look like to broadcast
  uint64_t reduced;         // the axes that are none of channels
  int64_t channels, count;  // elements of a channel

  Layout(std::string_view format, const Shape& x) {
    if (has_channels_second(format)) {
      int64_t pixels = 1;
      for (int i = 2; i < x.rank(); ++i) pixels *= x.size(i);
      images = {x[0], x[1], pixels};
      channel = {x[1], 1};
      reduced = 0b101;
      channels = x.size(1);
      count = x.size(0) * pixels;
    } else {
      channels = x.size(x.rank() - 1);
      count = 1;
      for (int i = 0; i + 1 < x.rank(); ++i) count *= x.size(i);
      images = {count, channels};
      channel = {channels};
      reduced = 0b01;
    }
  }
  Operand image(const Tensor& x) const { return {x.raw_data(), &images}; }
  Operand of_channels(const void* numbers) const { return {numbers, &channel}; }
};

using Scalars = std::span<const Scalar>;
constexpr DType kNumber = DType::kFloat32;

Result<Expression> record(std::initializer_list<DType> dtypes, FunctionRef<Scalar(Scalars)> body) {
  Recorder recorder;
  InlineVector<Scalar, 6> x;
  for (DType dtype : dtypes) x.push_back(recorder.input(dtype));
  recorder.output(body({x.data(), x.size()}));
  return recorder.finish();
}

using Elementwise = Result<std::shared_ptr<const BlockProgram>>;
Elementwise elementwise_program(std::initializer_list<DType> dtypes,
                                FunctionRef<Scalar(Scalars)> body) {
  ASSIGN_OR_RETURN(Expression expression, record(dtypes, body));
  return BlockProgram::compile(expression);
}

using Reduction = Result<std::shared_ptr<const ReductionProgram>>;
Reduction sum_program(std::initializer_list<DType> dtypes, FunctionRef<Scalar(Scalars)> body) {
  ReductionParts parts;
  parts.accumulator = kNumber;
  ASSIGN_OR_RETURN(parts.prepare, record(dtypes, body));
  ASSIGN_OR_RETURN(parts.combine,
                   record({kNumber, kNumber}, [](Scalars x) { return x[0] + x[1]; }));
  ASSIGN_OR_RETURN(parts.finish,
                   record({kNumber, DType::kFloat64}, [](Scalars x) { return x[0]; }));
  return ReductionProgram::compile(parts);
}

// What is computed of images of one dtype; channels' numbers are float32.
struct Programs {
  explicit Programs(DType t)
      : sum(sum_program({t}, [](Scalars x) { return cast(x[0], kNumber); })),
        sum_of_squares(sum_program({t, kNumber},
                                   [](Scalars x) {  // about the mean
                                     Scalar from_mean = cast(x[0], kNumber) - x[1];
                                     return from_mean * from_mean;
                                   })),
        // (x - mean) * factor + offset
        normalize(elementwise_program(
            {t, kNumber, kNumber, kNumber},
            [=](Scalars x) { return cast((cast(x[0], kNumber) - x[1]) * x[2] + x[3], t); })),
        // The sum of dy (x - mean).
        sum_of_products(sum_program(
            {t, t, kNumber},
            [](Scalars x) { return cast(x[0], kNumber) * (cast(x[1], kNumber) - x[2]); })),
        // factor * (dy - shift - (x - mean) * slope)
        gradient(elementwise_program({t, t, kNumber, kNumber, kNumber, kNumber}, [=](Scalars x) {
          Scalar dy = cast(x[0], kNumber), from_mean = cast(x[1], kNumber) - x[2];
          return cast(x[3] * (dy - x[4] - from_mean * x[5]), t);
        })) {}

  Reduction sum, sum_of_squares;
  Elementwise normalize;
  Reduction sum_of_products;
  Elementwise gradient;

  Status status() const {
    for (const Status& status : {sum.status(), sum_of_squares.status(), normalize.status(),
                                 sum_of_products.status(), gradient.status()}) {
      RETURN_IF_ERROR(status);
    }
    return {};
  }
  static const Programs& of(DType dtype) {
    static const Programs of_float(DType::kFloat32), of_half(DType::kHalf),
        of_bfloat16(DType::kBFloat16);
    return dtype == DType::kHalf ? of_half : dtype == DType::kBFloat16 ? of_bfloat16 : of_float;
  }
};

Status batch_norm_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<BatchNormAttrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  const Layout layout(attrs.data_format, x.shape());
  const Programs& programs = Programs::of(x.dtype());
  RETURN_IF_ERROR(programs.status());
  const auto scale = c.in<float>(1), offset = c.in<float>(2);
  const auto old_mean = c.in<float>(3), old_variance = c.in<float>(4);
  const auto batch_mean = c.out<float>(1), batch_variance = c.out<float>(2);
  const auto mean = c.out<float>(3), variance = c.out<float>(4);
  if (!attrs.is_training) {
    for (int64_t i = 0; i < layout.channels; ++i) {
      batch_mean[i] = mean[i] = old_mean[i];
      batch_variance[i] = variance[i] = old_variance[i];
    }
  } else if (layout.count == 0) {
    std::ranges::fill(mean, 0.0f);
    std::ranges::fill(variance, 0.0f);
    std::ranges::fill(batch_mean, std::nanf(""));
    std::ranges::fill(batch_variance, std::nanf(""));
  } else {
    const Operand image = layout.image(x);
    const auto count = static_cast<float>(layout.count);
    run_reduction(**programs.sum, {&image, 1}, layout.images, layout.reduced, mean.data());
    for (float& number : mean) number /= count;
    const Operand operands[] = {image, layout.of_channels(mean.data())};
    run_reduction(**programs.sum_of_squares, operands, layout.images, layout.reduced,
                  variance.data());
    // The running variance is that of the population, of which the batch is a sample.
    const float rest = std::max(count - 1, 1.0f), factor = attrs.exponential_avg_factor;
    for (int64_t i = 0; i < layout.channels; ++i) {
      batch_mean[i] = mean[i];
      batch_variance[i] = variance[i] / rest;
      variance[i] /= count;
      if (factor == 1) continue;
      batch_mean[i] = (1 - factor) * old_mean[i] + factor * batch_mean[i];
      batch_variance[i] = (1 - factor) * old_variance[i] + factor * batch_variance[i];
    }
  }
  if (x.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(Tensor factors, Tensor::allocate(kNumber, {layout.channels}));
  const auto factor = factors.mutable_data<float>();
  for (int64_t i = 0; i < layout.channels; ++i) {
    factor[i] = scale[i] / std::sqrt(variance[i] + attrs.epsilon);
  }
  const Operand operands[] = {layout.image(x), layout.of_channels(mean.data()),
                              layout.of_channels(factor.data()), layout.of_channels(offset.data())};
  void* output = y.mutable_raw_data();
  run_elementwise(**programs.normalize, operands, layout.images, {&output, 1});
  return {};
}

Status batch_norm_grad_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<BatchNormGradAttrs>();
  const Tensor &dy = c.input(0), &x = c.input(1);
  const Layout layout(attrs.data_format, x.shape());
  const Programs& programs = Programs::of(x.dtype());
  RETURN_IF_ERROR(programs.status());
  const auto scale = c.in<float>(2), mean = c.in<float>(3), variance = c.in<float>(4);
  const auto scale_backprop = c.out<float>(1), offset_backprop = c.out<float>(2);
  c.out<float>(3)[0] = c.out<float>(4)[0] = 0;
  if (layout.channels == 0) return {};
  const Operand products[] = {layout.image(dy), layout.image(x), layout.of_channels(mean.data())};
  run_reduction(**programs.sum, {products, 1}, layout.images, layout.reduced,
                offset_backprop.data());
  run_reduction(**programs.sum_of_products, products, layout.images, layout.reduced,
                scale_backprop.data());
  ASSIGN_OR_RETURN(Tensor numbers, Tensor::allocate(kNumber, {3, layout.channels}));
  float* factor = numbers.mutable_data<float>().data();
  float *shift = factor + layout.channels, *slope = shift + layout.channels;
  const auto count = static_cast<float>(layout.count);
  for (int64_t i = 0; i < layout.channels; ++i) {
    const float inverse = 1 / std::sqrt(variance[i] + attrs.epsilon);
    factor[i] = scale[i] * inverse;
    shift[i] = attrs.is_training ? offset_backprop[i] / count : 0;
    slope[i] = attrs.is_training ? scale_backprop[i] * inverse * inverse / count : 0;
    scale_backprop[i] *= inverse;
  }
  if (x.num_elements() == 0) return {};
  const Operand operands[] = {
      layout.image(dy),           layout.image(x),           layout.of_channels(mean.data()),
      layout.of_channels(factor), layout.of_channels(shift), layout.of_channels(slope)};
  void* output = c.output(0).mutable_raw_data();
  run_elementwise(**programs.gradient, operands, layout.images, {&output, 1});
  return {};
}

// --- Gradients.

void batch_norm_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<BatchNormAttrs>();
  const bool training = attrs.is_training;
  Tensors dx = c.apply(*kFusedBatchNormGradV3,
                       std::vector<Tensor>{c.dy(), c.x(0), c.x(1), training ? c.y(3) : c.x(3),
                                           training ? c.y(4) : c.x(4), c.y(5)},
                       BatchNormGradAttrs{attrs.epsilon, attrs.data_format, attrs.is_training});
  if (dx.empty()) return;
  for (int i = 0; i < 3; ++i) {
    if (c.wants(i)) c.set_dx(i, dx[i]);
  }
}

// With xh = (x - mean) inv the op computes dx = scale inv P(dy), where in training
// P(v) = v - mean(v) - xh mean(v xh), and in inference P(v) = v; sum(dy xh); and sum(dy). What
// comes in for these is a, b and e. P is symmetric. In training xh and inv depend on x:
// d xh goes through inv P to x, and d inv / d x = -inv^2 xh / n.
void batch_norm_grad_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<BatchNormGradAttrs>();
  const bool second = has_channels_second(attrs.data_format);
  const int rank = static_cast<int>(attrs.data_format.size());
  InlineVector<int32_t, 6> others, column;
  for (int i = 0; i < rank; ++i) {
    const bool is_channel = i == (second ? 1 : rank - 1);
    column.push_back(is_channel ? -1 : 1);
    if (!is_channel) others.push_back(i);
  }
  const DType dtype = c.dtype_of_x(0);
  Tensor axes = int32_vector(c, {others.data(), others.size()});
  auto image = [&](const Tensor& x) { return Formula(c, cast(c, x, kNumber)); };
  auto channels = [&](const Tensor& x) {
    return Formula(c, c(kReshape, {x, int32_vector(c, {column.data(), column.size()})}));
  };
  auto mean = [&](const Formula& x) {
    return Formula(c, c(kMean, {x, axes}, {.keep_dims = true}));
  };
  auto sum = [&](const Formula& x) { return Formula(c, c(kSum, {x, axes}, {.keep_dims = true})); };
  auto to_channels = [&](const Formula& x) {
    const int32_t flat[] = {-1};
    return c(kReshape, {x, int32_vector(c, flat)});
  };

  Formula dy = image(c.x(0)), x = image(c.x(1)), scale = channels(c.x(2));
  Formula from_mean = x - (attrs.is_training ? mean(x) : channels(c.x(3)));
  Formula variance = attrs.is_training ? mean(from_mean * from_mean) : channels(c.x(4));
  Formula inv = call(kRsqrt, variance + attrs.epsilon), xh = from_mean * inv;
  Formula a = image(c.dy(0)), b = channels(c.dy(1)), e = channels(c.dy(2));
  auto project = [&](const Formula& v) {
    return attrs.is_training ? v - mean(v) - xh * mean(v * xh) : v;
  };
  if (c.wants(0)) {
    c.set_dx(0, cast(c, scale * inv * project(a) + b * xh + e, dtype));
  }
  Formula product = sum(a * project(dy));
  if (c.wants(2)) c.set_dx(2, to_channels(inv * product));
  if (!c.wants(1)) return;
  if (!attrs.is_training) return c.set_dx(1, cast(c, b * dy * inv, dtype));
  Formula d_xh = b * dy - scale * inv * (a * mean(dy * xh) + dy * mean(a * xh));
  Formula through_inv = scale * mean(a * project(dy)) * inv * inv * xh;
  c.set_dx(1, cast(c, inv * project(d_xh) - through_inv, dtype));
}

}  // namespace

void define_batch_norm_ops(OpRegistry& ops) {
  const DTypeSet image_types = {DType::kHalf, DType::kBFloat16, DType::kFloat32};
  ops.define(
      kFusedBatchNormV3,
      {
          .name = "FusedBatchNormV3",
          .summary = "(x - mean) / sqrt(variance + epsilon) * scale + offset for each channel.",
          .details =
              "In training mean and variance are those of the batch; batch_mean and "
              "batch_variance then are running averages, into which the batch goes with "
              "exponential_avg_factor, and its variance as that of a sample. Otherwise they are "
              "the inputs. The reserve spaces are for the gradient.",
          .inputs = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U"},
          .outputs = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U",
                      "reserve_space_2: U", "reserve_space_3: U"},
          .types = {{"T", image_types}, {"U", DTypeSet{DType::kFloat32}}},
          .infer = batch_norm_shape,
          .gradient = batch_norm_gradient,
          .body = kernel(batch_norm_kernel),
      });
  ops.define(kFusedBatchNormGradV3,
             {
                 .name = "FusedBatchNormGradV3",
                 .summary = "The gradients of FusedBatchNormV3 with respect to x, scale and "
                            "offset. reserve_space_1 and 2 are mean and variance.",
                 .inputs = {"y_backprop: T", "x: T", "scale: float32", "reserve_space_1: U",
                            "reserve_space_2: U", "reserve_space_3: U"},
                 .outputs = {"x_backprop: T", "scale_backprop: U", "offset_backprop: U",
                             "reserve_space_4: U", "reserve_space_5: U"},
                 .types = {{"T", image_types}, {"U", DTypeSet{DType::kFloat32}}},
                 .infer = batch_norm_grad_shape,
                 .gradient = batch_norm_grad_gradient,
                 .body = kernel(batch_norm_grad_kernel),
             });
}

}  // namespace graven::engine
