#include "graven/api/ops.h"

#include <algorithm>
#include <utility>

#include "graven/api/apply.h"
#include "graven/api/location.h"
#include "graven/api/variable.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/convolution_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/nn_ops.h"
#include "graven/ops/random_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/structural_ops.h"

namespace graven {
namespace {

using internal::apply;

// Integers as int32, or int64 if one of them needs it.
Tensor integers(const std::vector<int64_t>& values, const Here& location) {
  Shape shape{Dim(static_cast<int64_t>(values.size()))};
  bool small = std::all_of(values.begin(), values.end(),
                           [](int64_t v) { return std::in_range<int32_t>(v); });
  if (!small) return Tensor::of(values, shape, location);
  return Tensor::of(std::vector<int32_t>(values.begin(), values.end()), shape, location);
}

Operand at(const Tensor& tensor, const Here& location) { return Operand(tensor, location); }

Tensor reduce(const engine::OpHandle<engine::ReductionAttrs>& op, const Operand& x,
              const Axes& axis, bool keepdims) {
  Tensor input = x.as_tensor();
  Tensor axes = axis.as_tensor(input, x.location());
  return apply(op, {at(input, x.location()), at(axes, x.location())}, {.keep_dims = keepdims});
}

}  // namespace

Sizes::Sizes(const Shape& shape) {
  for (Dim dim : shape.dims()) sizes_.push_back(dim.number_or_minus_one());
}

Tensor Sizes::as_tensor(const Here& location) const {
  return tensor_.is_none() ? integers(sizes_, location) : tensor_;
}

Tensor Axes::as_tensor(const Tensor& x, const Here& location) const {
  if (!tensor_.is_none()) return tensor_;
  if (axes_) {
    if (is_scalar_) return Tensor(static_cast<int>((*axes_)[0]), location);
    return integers(*axes_, location);
  }
  if (!x.is_none() && x.shape().has_rank()) {
    std::vector<int64_t> all(x.rank());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    return integers(all, location);
  }
  Tensor rank = apply(engine::kRank, {at(x, location)});
  return range(at(rank, location));
}

// --- Making tensors.

Tensor zeros(const Sizes& shape, DType dtype, Here location) {
  Operand zero = dtype == DType::kString ? Operand("", location)
                 : dtype == DType::kBool ? Operand(false, location)
                                         : Operand(0, location);
  return fill(shape, at(zero.as_tensor(dtype), location));
}

Tensor ones(const Sizes& shape, DType dtype, Here location) {
  Operand one = dtype == DType::kBool ? Operand(true, location) : Operand(1, location);
  return fill(shape, at(one.as_tensor(dtype), location));
}

Tensor fill(const Sizes& dims, const Operand& value) {
  return apply(engine::kFill, {at(dims.as_tensor(value.location()), value.location()), value});
}

Tensor zeros_like(const Operand& input) { return apply(engine::kZerosLike, {input}); }
Tensor ones_like(const Operand& input) { return apply(engine::kOnesLike, {input}); }

Tensor range(const Operand& start, const Operand& limit, const Operand& delta) {
  // The widest of the dtypes, in this order.
  constexpr DType kOrder[] = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64};
  Tensor parts[] = {start.as_tensor(), limit.as_tensor(), delta.as_tensor()};
  size_t widest = 0;
  for (const Tensor& part : parts) {
    auto place = std::find(std::begin(kOrder), std::end(kOrder), part.dtype());
    if (place == std::end(kOrder)) {
      throw_error(engine::value_error("range takes no ", engine::dtype_name(part.dtype())),
                  start.location());
    }
    widest = std::max<size_t>(widest, place - std::begin(kOrder));
  }
  for (Tensor& part : parts) part = cast(at(part, start.location()), kOrder[widest]);
  return apply(engine::kRange, {at(parts[0], start.location()), at(parts[1], start.location()),
                                at(parts[2], start.location())});
}

Tensor range(const Operand& limit) {
  return range(Operand(0, limit.location()), limit, Operand(1, limit.location()));
}

Tensor one_hot(const Operand& indices, int64_t depth, int64_t axis, DType dtype) {
  const Here& location = indices.location();
  bool is_bool = dtype == DType::kBool;
  Operand on = is_bool ? Operand(true, location) : Operand(1, location);
  Operand off = is_bool ? Operand(false, location) : Operand(0, location);
  return apply(engine::kOneHot,
               {indices, Operand(depth, location), at(on.as_tensor(dtype), location),
                at(off.as_tensor(dtype), location)},
               {.axis = axis});
}

// --- Reductions.

Tensor reduce_sum(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kSum, x, axis, keepdims);
}
Tensor reduce_mean(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kMean, x, axis, keepdims);
}
Tensor reduce_prod(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kProd, x, axis, keepdims);
}
Tensor reduce_max(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kMax, x, axis, keepdims);
}
Tensor reduce_min(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kMin, x, axis, keepdims);
}
Tensor reduce_any(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kAny, x, axis, keepdims);
}
Tensor reduce_all(const Operand& x, const Axes& axis, bool keepdims) {
  return reduce(engine::kAll, x, axis, keepdims);
}

Tensor argmax(const Operand& input, int axis, DType output_type) {
  return apply(engine::kArgMax, {input, Operand(axis, input.location())},
               {.output_type = output_type});
}
Tensor argmin(const Operand& input, int axis, DType output_type) {
  return apply(engine::kArgMin, {input, Operand(axis, input.location())},
               {.output_type = output_type});
}

// --- Mathematics.

Tensor matmul(const Operand& a, const Operand& b, bool transpose_a, bool transpose_b,
              bool adjoint_a, bool adjoint_b) {
  const Here& location = a.location();
  if ((transpose_a && adjoint_a) || (transpose_b && adjoint_b)) {
    throw_error(engine::value_error("Only one of `transpose_a` and `adjoint_a`, and of "
                                    "`transpose_b` and `adjoint_b`, can be true"),
                location);
  }
  Tensor x = a.as_tensor(b.dtype()), y = b.as_tensor(a.dtype());
  auto may_be_matrix = [](const Tensor& t) {
    return t.is_none() || !t.shape().has_rank() || t.rank() == 2;
  };
  auto conjugate = [&](const Tensor& t) {
    return engine::is_complex(t.dtype()) ? apply(engine::kConj, {at(t, location)}) : t;
  };
  bool one_known = (!x.is_none() && x.shape().has_rank()) || (!y.is_none() && y.shape().has_rank());
  if (may_be_matrix(x) && may_be_matrix(y) && one_known) {
    if (adjoint_a) x = conjugate(x);
    if (adjoint_b) y = conjugate(y);
    return apply(
        engine::kMatMul, {at(x, location), at(y, location)},
        {.transpose_a = transpose_a || adjoint_a, .transpose_b = transpose_b || adjoint_b});
  }
  if (transpose_a) x = conjugate(x);
  if (transpose_b) y = conjugate(y);
  return apply(engine::kBatchMatMulV2, {at(x, location), at(y, location)},
               {.adj_x = transpose_a || adjoint_a, .adj_y = transpose_b || adjoint_b}, "MatMul");
}

Tensor add(const Operand& x, const Operand& y) { return x + y; }
Tensor divide(const Operand& x, const Operand& y) { return x / y; }

Tensor abs(const Operand& x) {
  if (!engine::is_complex(x.dtype())) return apply(engine::kAbs, {x});
  return apply(engine::kComplexAbs, {x}, {.Tout = engine::real_part_type(x.dtype())});
}

Tensor equal(const Operand& x, const Operand& y) { return apply(engine::kEqual, {x, y}); }
Tensor not_equal(const Operand& x, const Operand& y) { return apply(engine::kNotEqual, {x, y}); }

Tensor clip_by_value(const Operand& t, const Operand& clip_value_min,
                     const Operand& clip_value_max) {
  Tensor below = apply(engine::kMinimum, {t, clip_value_max});
  return apply(engine::kMaximum, {at(below, t.location()), clip_value_min});
}

Tensor cast(const Operand& x, DType dtype) {
  Tensor tensor = x.as_tensor();
  if (!tensor.is_none() && tensor.dtype() == dtype) return tensor;
  return apply(engine::kCast, {at(tensor, x.location())}, {.DstT = dtype});
}

// --- Shapes and movement.

Tensor shape(const Operand& input, DType out_type) {
  return apply(engine::kShape, {input}, {.out_type = out_type});
}

Tensor reshape(const Operand& tensor, const Sizes& shape) {
  Tensor sizes = shape.as_tensor(tensor.location());
  return apply(engine::kReshape, {tensor, at(sizes, tensor.location())});
}

Tensor transpose(const Operand& a, const std::vector<int64_t>& perm) {
  const Here& location = a.location();
  Tensor x = a.as_tensor();
  std::vector<int64_t> order = perm;
  if (order.empty() && !x.is_none()) {
    if (!x.shape().has_rank()) {
      throw_error(engine::value_error("transpose needs perm for a tensor of unknown rank"),
                  location);
    }
    for (int i = x.rank(); i > 0; --i) order.push_back(i - 1);
  }
  return apply(engine::kTranspose, {at(x, location), at(integers(order, location), location)});
}

Tensor expand_dims(const Operand& input, const Operand& axis) {
  return apply(engine::kExpandDims, {input, axis});
}

Tensor squeeze(const Operand& input, const std::vector<int64_t>& axis) {
  return apply(engine::kSqueeze, {input}, {.squeeze_dims = axis});
}

Tensor concat(const std::vector<Tensor>& values, int axis, Here location) {
  std::vector<engine::Tensor> inputs(values.begin(), values.end());
  inputs.push_back(Tensor(axis, location));
  return apply(*engine::kConcatV2, inputs, engine::NoAttrs(), location)[0];
}

Tensor stack(const std::vector<Tensor>& values, int axis, Here location) {
  std::vector<engine::Tensor> inputs(values.begin(), values.end());
  return apply(*engine::kPack, inputs, engine::PackAttrs{axis}, location)[0];
}

std::vector<Tensor> unstack(const Operand& value, int axis) {
  Tensor x = value.as_tensor();
  int rank = x.is_none() ? 0 : x.rank();
  int place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank || !x.shape()[place].is_number()) {
    throw_error(
        engine::value_error("Cannot infer argument `num` from shape ",
                            x.is_none() ? "None" : x.shape().to_text(), " along axis ", axis),
        value.location());
  }
  const engine::Tensor inputs[] = {x};
  engine::Tensors parts = apply(*engine::kUnpack, inputs,
                                engine::UnpackAttrs{x.shape().size(place), axis}, value.location());
  return std::vector<Tensor>(parts.begin(), parts.end());
}

std::vector<Tensor> split(const Operand& value, int64_t num_or_size_splits, int axis) {
  const engine::Tensor inputs[] = {Tensor(axis, value.location()), value.as_tensor()};
  engine::Tensors parts =
      apply(*engine::kSplit, inputs, engine::SplitAttrs{num_or_size_splits}, value.location());
  return std::vector<Tensor>(parts.begin(), parts.end());
}

Tensor slice(const Operand& input, const Sizes& begin, const Sizes& size) {
  const Here& location = input.location();
  return apply(engine::kSlice, {input, at(begin.as_tensor(location), location),
                                at(size.as_tensor(location), location)});
}

Tensor gather(const Operand& params, const Operand& indices, int axis, int64_t batch_dims) {
  return apply(engine::kGatherV2, {params, indices, Operand(axis, params.location())},
               {.batch_dims = batch_dims});
}

Tensor gather(const Variable& params, const Operand& indices) {
  return params.sparse_read(indices);
}

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  return apply(engine::kSelectV2, {condition, x, y});
}
Tensor where(const Operand& condition) { return apply(engine::kWhere, {condition}); }

namespace nn {
namespace {

// Four numbers in the order of the data format.
std::vector<int64_t> four(const Window& window, std::string_view data_format, const char* what,
                          const Here& location) {
  const std::vector<int64_t>& sizes = window.sizes();
  if (sizes.size() == 4) return sizes;
  if (sizes.size() != 1 && sizes.size() != 2) {
    throw_error(engine::value_error("`", what, "` should be 1, 2 or 4 numbers, got ", sizes.size()),
                location);
  }
  int64_t height = sizes.front(), width = sizes.back();
  if (data_format == "NCHW") return {1, 1, height, width};
  return {1, height, width, 1};
}

}  // namespace

Tensor conv2d(const Operand& input, const Operand& filters, const Window& strides,
              std::string_view padding, std::string_view data_format, const Window& dilations) {
  engine::ConvolutionAttrs attrs;
  attrs.strides = four(strides, data_format, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  attrs.dilations = four(dilations, data_format, "dilations", input.location());
  return apply(engine::kConv2D, {input, filters}, attrs);
}

Tensor max_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                  std::string_view padding, std::string_view data_format) {
  engine::MaxPoolAttrs attrs;
  attrs.ksize = four(ksize, data_format, "ksize", input.location());
  attrs.strides = four(strides, data_format, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  return apply(engine::kMaxPool, {input}, attrs, "MaxPool2d");
}

Tensor avg_pool2d(const Operand& input, const Window& ksize, const Window& strides,
                  std::string_view padding, std::string_view data_format) {
  engine::PoolAttrs attrs;
  attrs.ksize = four(ksize, data_format, "ksize", input.location());
  attrs.strides = four(strides, data_format, "strides", input.location());
  attrs.padding = padding;
  attrs.data_format = data_format;
  return apply(engine::kAvgPool, {input}, attrs, "AvgPool2D");
}

Tensor bias_add(const Operand& value, const Operand& bias, std::string_view data_format) {
  return apply(engine::kBiasAdd, {value, bias}, {.data_format = std::string(data_format)});
}

Tensor relu(const Operand& features) { return apply(engine::kRelu, {features}); }
Tensor softmax(const Operand& logits) { return apply(engine::kSoftmax, {logits}); }
Tensor log_softmax(const Operand& logits) { return apply(engine::kLogSoftmax, {logits}); }

Tensor sparse_softmax_cross_entropy_with_logits(const Operand& labels, const Operand& logits) {
  const Here& location = logits.location();
  Tensor x = logits.as_tensor();
  bool is_short = x.dtype() == DType::kHalf || x.dtype() == DType::kBFloat16;
  Tensor wide = is_short ? cast(at(x, location), DType::kFloat32) : x;
  if (wide.shape().has_rank() && wide.rank() != 2) {
    throw_error(engine::value_error("`logits` must have the shape [n, classes], not ",
                                    wide.shape().to_text()),
                location);
  }
  Tensor loss = apply(engine::kSparseSoftmaxCrossEntropyWithLogits, {at(wide, location), labels});
  return is_short ? cast(at(loss, location), x.dtype()) : loss;
}

}  // namespace nn

namespace random {
namespace {

// Numbers of the op, times `scale`, plus `shift`, as TensorFlow composes them.
Tensor drawn(const engine::OpHandle<engine::RandomDTypeAttrs>& op, const Sizes& shape,
             const std::vector<int64_t>& seed, const Tensor& scale, const Tensor& shift,
             DType dtype, const Here& location) {
  if (seed.size() != 2) {
    throw_error(engine::value_error("seed must be two integers, got ", seed.size()), location);
  }
  const engine::Tensor seeds[] = {integers(seed, location)};
  engine::Tensors key =
      apply(*engine::kStatelessRandomGetKeyCounterAlg, seeds, engine::NoAttrs(), location);
  const engine::Tensor inputs[] = {shape.as_tensor(location), key[0], key[1], key[2]};
  Tensor numbers = apply(*op, inputs, engine::RandomDTypeAttrs{dtype}, location)[0];
  return at(at(numbers, location) * at(scale, location), location) + at(shift, location);
}

}  // namespace

Tensor stateless_uniform(const Sizes& shape, const std::vector<int64_t>& seed, double minval,
                         double maxval, DType dtype, Here location) {
  Tensor low = Operand(minval, location).as_tensor(dtype);
  Tensor length = Operand(maxval, location) - at(low, location);
  return drawn(engine::kStatelessRandomUniformV2, shape, seed, length, low, dtype, location);
}

Tensor stateless_normal(const Sizes& shape, const std::vector<int64_t>& seed, double mean,
                        double stddev, DType dtype, Here location) {
  return drawn(engine::kStatelessRandomNormalV2, shape, seed,
               Operand(stddev, location).as_tensor(dtype), Operand(mean, location).as_tensor(dtype),
               dtype, location);
}

}  // namespace random

}  // namespace graven
