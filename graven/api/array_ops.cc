#include "graven/api/array_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "graven/api/apply.h"
#include "graven/api/axes.h"
#include "graven/api/compose.h"
#include "graven/api/math_ops.h"
#include "graven/api/op_functions.h"
#include "graven/api/scopes.h"
#include "graven/api/variable.h"
#include "graven/base/strings.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"
#include "graven/ops/sort_ops.h"
#include "graven/ops/structural_ops.h"

namespace graven {

using internal::apply;
using internal::at;
using internal::Composite;
using internal::integers;
using internal::LineScope;

namespace {

std::vector<engine::Tensor> flat(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

bool is_scalar(const Tensor& x) { return x.shape().has_rank() && x.rank() == 0; }

// The least and the largest finite number of a real dtype; long double holds all of them exactly.
std::pair<long double, long double> limits_of(DType dtype) {
  if (dtype == DType::kHalf) return {-65504, 65504};
  if (dtype == DType::kBFloat16) return {-0x1.fep127L, 0x1.fep127L};
  return engine::visit_plain(dtype, [](auto zero) -> std::pair<long double, long double> {
    using Limits = std::numeric_limits<decltype(zero)>;
    if constexpr (std::is_arithmetic_v<decltype(zero)>) return {Limits::lowest(), Limits::max()};
    return {};
  });
}

bool is_real(DType dtype) { return engine::is_integer(dtype) || engine::is_floating(dtype); }

// How many bits of an integer a floating dtype holds.
int precision_of(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return 8;
    case DType::kHalf:
      return 11;
    case DType::kFloat32:
      return 24;
    default:
      return 53;
  }
}

// What a real dtype holds that is nearest to a limit of another one, from the side of zero.
Tensor limit(long double number, DType dtype, const Here& location) {
  if (engine::is_floating(dtype)) {
    int exponent = 0, precision = precision_of(dtype);
    long double digits = std::frexp(number, &exponent);
    number = std::ldexp(std::trunc(std::ldexp(digits, precision)), exponent - precision);
  }
  engine::Tensor made = engine::visit_plain(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) return engine::Tensor::scalar(static_cast<T>(number));
    return engine::Tensor::scalar(T(static_cast<float>(number)));
  });
  return internal::constant(made, location);
}

// The elements of a real tensor, no further from zero than a real dtype goes.
Tensor clipped(const Tensor& x, DType dtype, const Here& location) {
  if (!engine::is_floating(x.dtype()) && x.dtype() == dtype) return x;
  auto [lowest, largest] = limits_of(x.dtype());
  auto [low, high] = limits_of(dtype);
  Tensor least = limit(std::max(low, lowest), x.dtype(), location);
  Tensor most = limit(std::min(high, largest), x.dtype(), location);
  return apply(engine::kMinimum, {apply(engine::kMaximum, {x, least}), most});
}

// The size of a tensor along an axis, a number if it is known now.
Tensor size_along(const Tensor& x, int axis, const Here& location) {
  if (x.shape().has_rank()) {
    Dim known = x.shape()[axis < 0 ? axis + x.rank() : axis];
    if (known.is_number()) return Operand(known.number(), location).as_tensor();
  }
  return strided_slice(shape(x), {axis}, {axis + 1}, {}, {.shrink_axis_mask = 1});
}

}  // namespace

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

Tensor one_hot(const Operand& indices, const Operand& depth, int64_t axis, DType dtype) {
  const Here& location = indices.location();
  bool is_bool = dtype == DType::kBool;
  Operand on = is_bool ? Operand(true, location) : Operand(1, location);
  Operand off = is_bool ? Operand(false, location) : Operand(0, location);
  return one_hot(indices, depth, on, off, axis, dtype);
}

Tensor one_hot(const Operand& indices, const Operand& depth, const Operand& on_value,
               const Operand& off_value, int64_t axis, DType dtype) {
  Composite composite("one_hot", indices.location());
  bool is_given = dtype != DType::kInvalid;
  Tensor on = on_value.as_tensor(is_given ? dtype : off_value.dtype());
  Tensor off = off_value.as_tensor(is_given ? dtype : on.dtype());
  for (const auto& [value, name] : {std::pair(on, "on_value"), std::pair(off, "off_value")}) {
    DType wanted = is_given ? dtype : on.dtype();
    if (value.dtype() == wanted) continue;
    throw_error(
        engine::type_error("dtype ", engine::dtype_name(value.dtype()), " of ", name,
                           " does not match dtype ", engine::dtype_name(wanted), " of one_hot"),
        indices.location());
  }
  return apply(engine::kOneHot, {indices, depth, on, off}, {.axis = axis});
}

Tensor eye(const Operand& num_rows, DType dtype) { return eye(num_rows, num_rows, {}, dtype); }

Tensor eye(const Operand& num_rows, const Operand& num_columns, const Sizes& batch_shape,
           DType dtype) {
  Composite composite("eye", num_rows.location());
  Tensor rows = expand_dims(range(num_rows), 1), columns = expand_dims(range(num_columns), 0);
  Tensor matrix = cast(apply(engine::kEqual, {rows, columns}), dtype);
  if (batch_shape.is_empty()) return matrix;
  Tensor batch = batch_shape.as_tensor(num_rows.location());
  Tensor sizes = shape(matrix, batch.dtype());
  return apply(engine::kBroadcastTo, {matrix, concat({batch, sizes}, 0)});
}

Tensor cast(const Operand& x, DType dtype) {
  Tensor tensor = x.as_tensor();
  if (tensor.dtype() == dtype) return tensor;
  return apply(engine::kCast, {at(tensor, x.location())}, {.DstT = dtype});
}

Tensor saturate_cast(const Operand& value, DType dtype) {
  const Here& location = value.location();
  Composite composite("saturate_cast", location);
  Tensor x = value.as_tensor();
  for (DType each : {x.dtype(), dtype}) {
    if (is_real(each) || engine::is_complex(each)) continue;
    throw_error(
        engine::type_error("Cannot find minimum value of tf.", engine::dtype_name(each), "."),
        location);
  }
  if (engine::is_complex(x.dtype()) && !engine::is_complex(dtype)) x = math::real(x);
  DType part = engine::real_part_type(dtype);
  if (!engine::is_complex(x.dtype())) return cast(clipped(x, part, location), dtype);
  if (limits_of(engine::real_part_type(x.dtype())).second > limits_of(part).second) {
    Tensor real = clipped(math::real(x), part, location);
    x = complex(real, clipped(math::imag(x), part, location));
  }
  return cast(x, dtype);
}

std::vector<Tensor> identity_n(const std::vector<Tensor>& input, Here location) {
  std::vector<engine::Tensor> inputs = flat(input);
  engine::IdentityNAttrs attrs{.T = internal::dtypes_of(inputs, location)};
  engine::Tensors same = apply(*engine::kIdentityN, inputs, attrs, location);
  return std::vector<Tensor>(same.begin(), same.end());
}

// --- Shapes and movement.

Tensor shape(const Operand& input, DType out_type) {
  return apply(engine::kShape, {input}, {.out_type = out_type});
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

Tensor repeat(const Operand& input, const Operand& repeats) {
  LineScope line(input.location());
  return repeat(reshape(input, {-1}), repeats, 0);
}

Tensor repeat(const Operand& input, const Operand& repeats, int axis) {
  const Here& location = input.location();
  Composite composite("Repeat", location);
  Tensor x = input.as_tensor(), counts = repeats.as_tensor();
  bool is_index = counts.dtype() == DType::kInt32 || counts.dtype() == DType::kInt64;
  if (!is_index) counts = cast(counts, DType::kInt32);
  if (counts.rank() > 1) {
    throw_error(engine::value_error("repeats must be a scalar or a vector, got shape ",
                                    counts.shape().to_text()),
                location);
  }
  bool has_rank = x.shape().has_rank();
  if (has_rank && x.rank() == 0) {
    x = reshape(x, {-1});
    axis = 0;
  }
  int place = internal::axis_of(x, axis, location);
  Tensor length = size_along(x, place, location);
  Tensor places = expand_dims(range(length), 1);
  bool is_one = counts.shape().has_rank() && counts.shape().is_fully_known() &&
                counts.shape().num_elements() == 1;
  if (is_one) {
    Tensor often = reshape(counts, {1});
    Tensor one = cast(Tensor{1}, often.dtype());
    return gather(x, reshape(tile(places, concat({one, often}, 0)), {-1}), place);
  }
  bool is_list = counts.shape().has_rank() && counts.rank() == 1;
  Shape wanted{has_rank ? x.shape()[place] : Dim::unknown()};
  if (is_list && !engine::are_compatible(counts.shape(), wanted)) {
    throw_error(engine::value_error("Shapes ", counts.shape().to_text(), " and ", wanted.to_text(),
                                    " are incompatible"),
                location);
  }
  counts = apply(engine::kBroadcastTo, {counts, stack({length})});
  Tensor mask = sequence_mask(counts);
  places = tile(places, concat({Tensor{1}, slice(shape(mask), {1}, {-1})}, 0));
  return gather(x, boolean_mask(places, mask), place);
}

Tensor strided_slice(const Operand& input, const Sizes& begin, const Sizes& end,
                     const std::optional<Sizes>& strides, const SliceMasks& masks) {
  const Here& location = input.location();
  Tensor first = begin.as_tensor(location), last = end.as_tensor(location);
  Tensor steps = strides ? strides->as_tensor(location) : ones_like(at(first, location));
  return apply(engine::kStridedSlice,
               {input, at(first, location), at(last, location), at(steps, location)},
               {.begin_mask = masks.begin_mask,
                .end_mask = masks.end_mask,
                .ellipsis_mask = masks.ellipsis_mask,
                .new_axis_mask = masks.new_axis_mask,
                .shrink_axis_mask = masks.shrink_axis_mask});
}

Tensor gather(const Operand& params, const Operand& indices, int axis, int64_t batch_dims) {
  return apply(engine::kGatherV2, {params, indices, Operand(axis, params.location())},
               {.batch_dims = batch_dims});
}

Tensor gather(const Variable& params, const Operand& indices) {
  return params.sparse_read(indices);
}

Tensor gather_nd(const Operand& params, const Operand& indices, int batch_dims) {
  const Here& location = params.location();
  if (batch_dims == 0) return apply(engine::kGatherNd, {params, indices});
  if (batch_dims < 0) {
    throw_error(engine::value_error("tf.gather_nd does not allow negative batch_dims."), location);
  }
  Composite composite("GatherNd", location);
  Tensor x = params.as_tensor(), places = indices.as_tensor();
  for (const auto& [tensor, name] : {std::pair(places, "indices"), std::pair(x, "params")}) {
    if (!tensor.shape().has_rank() || batch_dims < tensor.rank()) continue;
    throw_error(engine::value_error("Argument `batch_dims` = ", batch_dims,
                                    " must be less than rank(`", name, "`) = ", tensor.rank()),
                location);
  }
  if (!places.shape().has_rank()) {
    throw_error(engine::value_error("gather_nd with batch_dims needs indices of known rank"),
                location);
  }
  Tensor sizes = shape(places, places.dtype()), one = cast(Tensor{1}, places.dtype());
  int rank = places.rank();
  std::vector<Tensor> columns;
  for (int axis = 0; axis < batch_dims; ++axis) {
    Tensor count = range(reshape(slice(sizes, {axis}, {1}), {}));
    std::vector<int64_t> to(rank, 1);
    to[axis] = -1;
    Tensor target = concat({slice(sizes, {0}, {rank - 1}), one}, 0);
    columns.push_back(apply(engine::kBroadcastTo, {reshape(count, to), target}));
  }
  columns.push_back(places);
  return apply(engine::kGatherNd, {x, concat(columns, -1)});
}

Tensor boolean_mask(const Operand& tensor, const Operand& mask, int axis) {
  const Here& location = tensor.location();
  Composite composite("boolean_mask", location);
  Tensor x = tensor.as_tensor(), holds = mask.as_tensor();
  if (!holds.shape().has_rank()) {
    throw_error(engine::value_error("Number of mask dimensions must be specified, even if some "
                                    "dimensions are None."),
                location);
  }
  int depth = holds.rank(), rank = x.rank();
  if (depth == 0) throw_error(engine::value_error("mask cannot be scalar."), location);
  int first = axis < 0 && x.shape().has_rank() ? axis + rank : axis;
  if (x.shape().has_rank()) {
    Shape masked;
    for (int i = std::max(first, 0); i < std::min(first + depth, rank); ++i) {
      masked.push_back(x.shape()[i]);
    }
    if (!engine::are_compatible(masked, holds.shape())) {
      throw_error(engine::value_error("Shapes ", masked.to_text(), " and ", holds.shape().to_text(),
                                      " are incompatible"),
                  location);
    }
  }
  // Where the masked axes begin and end; at unknown rank a negative axis is found when it runs.
  Operand place(first, location);
  Sizes begin{first}, end{first + depth};
  if (first < 0) {
    Tensor found = apply(engine::kRank, {x}) + first;
    place = found;
    begin = reshape(found, {1});
    end = reshape(found + depth, {1});
  }
  Tensor sizes = shape(x);
  Tensor masked =
      apply(engine::kProd, {strided_slice(sizes, begin, end), {0}}, {.keep_dims = true});
  Tensor to = concat({strided_slice(sizes, {0}, begin), masked,
                      strided_slice(sizes, end, {0}, {}, {.end_mask = 1})},
                     0);
  Tensor indices = squeeze(where(reshape(holds, {-1})), {1});
  return apply(engine::kGatherV2, {reshape(x, to), indices, place});
}

Tensor where(const Operand& condition, const Operand& x, const Operand& y) {
  return apply(engine::kSelectV2, {condition, x, y});
}
Tensor where(const Operand& condition) { return apply(engine::kWhere, {condition}); }

// --- Grids.

namespace {

// A vector with an element for each axis of x: a value at one, a number elsewhere.
Tensor at_axis(const Tensor& x, int axis, const Operand& value, int elsewhere) {
  if (x.shape().has_rank()) {
    std::vector<Tensor> elements(x.rank(), Tensor(elsewhere));
    elements[axis] = value.as_tensor();
    return stack(elements);
  }
  Tensor rank = apply(engine::kRank, {x}), places = range(rank);
  Tensor place = axis >= 0 ? Tensor(axis) : rank + axis;
  return where(graven::equal(places, place), value, elsewhere);
}

}  // namespace

Tensor linspace(const Operand& start, const Operand& stop, const Operand& num, int axis) {
  const Here& location = start.location();
  Composite composite("linspace", location);
  if (num.is_number() && num.number() < 0) {
    std::string message =
        engine::str_cat("[LinSpace] Requires num >= 0: ", static_cast<int64_t>(num.number()));
    throw_error(
        executing_eagerly() ? engine::invalid_argument(message) : engine::value_error(message),
        location);
  }
  Tensor first = start.as_tensor(stop.dtype()), last = stop.as_tensor(first.dtype());
  if (!is_scalar(first) || !is_scalar(last)) {
    Tensor both = shape(first + last);
    first = apply(engine::kBroadcastTo, {first, both});
    last = apply(engine::kBroadcastTo, {last, both});
  }
  bool has_rank = first.shape().has_rank();
  int rank = first.rank();
  if (has_rank && (axis < -rank - 1 || axis > rank)) {
    throw_error(engine::value_error("axis must be in [", -rank - 1, ", ", rank, "], got ", axis),
                location);
  }
  if (has_rank && axis < 0) axis += rank + 1;
  Tensor count = cast(num, DType::kInt32);
  Tensor intervals = apply(engine::kMaximum, {count - 1, 1});
  Tensor steps = where(count >= 0, intervals, -1);
  Tensor step = (last - first) / cast(intervals, first.dtype());
  first = cast(expand_dims(first, axis), step.dtype());
  last = cast(expand_dims(last, axis), step.dtype());
  Tensor places = reshape(cast(range(1, steps), step.dtype()), at_axis(first, axis, -1, 1));
  Tensor inner = first + expand_dims(step, axis) * places;
  Tensor numbers = concat({first, inner, last}, axis);
  // Fewer than two are cut off both ends.
  Tensor sizes = at_axis(first, axis, count, -1);
  return slice(numbers, zeros_like(sizes), sizes);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, std::string_view indexing,
                             Here location) {
  if (indexing != "xy" && indexing != "ij") {
    throw_error(engine::value_error("Argument `indexing` must be either 'xy' or 'ij', got '",
                                    indexing, "'"),
                location);
  }
  Composite composite("meshgrid", location);
  std::vector<size_t> axes(vectors.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (indexing == "xy" && axes.size() > 1) std::swap(axes[0], axes[1]);
  std::vector<Tensor> flat, sizes, grids;
  for (const Tensor& vector : vectors) flat.push_back(reshape(vector, {-1}));
  for (size_t axis : axes) sizes.push_back(apply(engine::kSize, {flat[axis]}));
  Tensor grid = sizes.empty() ? Tensor() : stack(sizes);
  for (size_t i = 0; i < flat.size(); ++i) {
    std::vector<int64_t> along(flat.size(), 1);
    along[axes[i]] = -1;
    grids.push_back(apply(engine::kBroadcastTo, {reshape(flat[i], along), grid}));
  }
  return grids;
}

namespace {

Tensor mask_below(const Tensor& counts, const Tensor& limit, DType dtype, const Here& location) {
  if (limit.shape().has_rank() && limit.rank() != 0) {
    throw_error(engine::value_error("Argument `maxlen` must be scalar for sequence_mask"),
                location);
  }
  Tensor mask = range(limit) < cast(expand_dims(counts, -1), limit.dtype());
  return cast(mask, dtype);
}

}  // namespace

Tensor sequence_mask(const Operand& lengths, DType dtype) {
  Composite composite("SequenceMask", lengths.location());
  Tensor counts = lengths.as_tensor();
  Tensor limit = apply(engine::kMaximum, {0, reduce_max(counts)});
  return mask_below(counts, limit, dtype, lengths.location());
}

Tensor sequence_mask(const Operand& lengths, const Operand& maxlen, DType dtype) {
  Composite composite("SequenceMask", lengths.location());
  return mask_below(lengths.as_tensor(), maxlen.as_tensor(), dtype, lengths.location());
}

// --- Order.

namespace {

// Values sorted along the last axis, which `order` swaps with the one that was meant.
struct Sorted {
  math::TopK found;
  std::optional<Axes> order;  // none: it was the last
};

// Ascending is descending of these.
Tensor flipped(const Tensor& x) {
  return engine::is_floating(x.dtype()) ? -x : apply(engine::kInvert, {x});
}

Sorted sorted(const Operand& values, int axis, bool is_ascending) {
  Tensor x = values.as_tensor();
  Sorted result;
  if (!internal::is_last(x, axis)) {
    result.order = internal::swapped_with_last(x, axis, values.location());
    x = transpose(x, *result.order);
  }
  Tensor columns = is_scalar(x) ? Tensor(0) : size_along(x, -1, values.location());
  result.found = math::top_k(is_ascending ? flipped(x) : x, columns);
  return result;
}

bool is_ascending(std::string_view direction, const Here& location) {
  if (direction != "ASCENDING" && direction != "DESCENDING") {
    throw_error(engine::value_error("Argument `direction` should be one of \"ASCENDING\" or "
                                    "\"DESCENDING\". Received: direction=",
                                    direction),
                location);
  }
  return direction == "ASCENDING";
}

}  // namespace

Tensor sort(const Operand& values, int axis, std::string_view direction) {
  bool ascending = is_ascending(direction, values.location());
  Composite composite("sort", values.location());
  Sorted result = sorted(values, axis, ascending);
  Tensor ordered = ascending ? flipped(result.found.values) : result.found.values;
  return result.order ? transpose(ordered, *result.order) : ordered;
}

Tensor argsort(const Operand& values, int axis, std::string_view direction) {
  bool ascending = is_ascending(direction, values.location());
  Composite composite("argsort", values.location());
  Sorted result = sorted(values, axis, ascending);
  const Tensor& indices = result.found.indices;
  return result.order ? transpose(indices, *result.order) : indices;
}

math::TopK math::top_k(const Operand& input, const Operand& k, bool sorted, DType index_type) {
  engine::TopKV2Attrs attrs{.sorted = sorted, .index_type = index_type};
  engine::Tensors found = apply(*engine::kTopKV2, {input, k}, engine::AttrsRef(attrs));
  return {found[0], found[1]};
}

}  // namespace graven
