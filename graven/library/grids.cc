#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/gathering.h"
#include "graven/library/reductions.h"
#include "graven/ops/elements.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

namespace graven::engine {
namespace {

// Tensors made by a rule: even steps, grids, masks of lengths, repeated slices.

Formula numbers_between(FunctionContext& c, const Formula& start, const Formula& limit) {
  return c(c(kRange, {start, limit, constant_like(start, 1)}));
}

struct LinspaceParameters {
  Tensor start, stop, num;
  int64_t axis = 0;
  static constexpr auto fields() {
    using P = LinspaceParameters;
    return std::tuple(
        required_field("start", &P::start, "T", "The first number, of any shape."),
        required_field("stop", &P::stop, "T", "The last one; the shapes broadcast."),
        required_field("num", &P::num, "int32", "How many, an integer scalar."), name_field(),
        field("axis", &P::axis, "Where the new axis is; negative counts from the end."));
  }
};

Outputs linspace(FunctionContext& c, const LinspaceParameters& p) {
  if (!is_integer(p.num.dtype())) {
    return c.fail(
        type_error("Argument `num` must be of integers, got tf.", dtype_name(p.num.dtype())));
  }
  const auto known = c.number_if_known(p.num);
  if (known && *known < 0) {
    const std::string text = str_cat("[LinSpace] Requires num >= 0: ", *known);
    return c.fail(c.is_graph() ? value_error(text) : invalid_argument(text));
  }
  Formula first = c(p.start), last = c(p.stop);
  if (c.rank_if_known(first) != 0 || c.rank_if_known(last) != 0) {
    const Tensor both = c(kShape, {first + last});
    first = c(c(kBroadcastTo, {first, both}));
    last = c(c(kBroadcastTo, {last, both}));
  }
  int64_t axis = p.axis;
  if (const auto rank = c.rank_if_known(first)) {
    if (axis < -*rank - 1 || axis > *rank) {
      return c.fail(value_error("axis must be in [", -*rank - 1, ", ", *rank, "], got ", axis));
    }
    if (axis < 0) axis += *rank + 1;
  }
  Formula count = c(as_int32(c, p.num)), one = c(c.scalar(1));
  // The range refuses a negative count.
  Formula intervals = call(kMaximum, count - one, one);
  const Tensor is_count = c(kGreaterEqual, {count, c.scalar(0)});
  Formula steps = c(c(kSelectV2, {is_count, intervals, c.scalar(-1)}));
  const DType dtype = quotient_type(first.dtype());
  Formula distance = c.cast(last - first, dtype);
  Formula step = c(c(kRealDiv, {distance, c.cast(intervals, dtype)}));
  const auto along = [&](const Formula& x) { return c(c(kExpandDims, {x, c.scalar(axis)})); };
  first = along(c.cast(first, dtype));
  last = along(c.cast(last, dtype));
  Formula places = c.cast(numbers_between(c, one, steps), dtype);
  places = c(c(kReshape, {places, sizes_but_one(c, first, axis, -1, 1)}));
  Formula inner = first + along(step) * places;
  const Tensor numbers = c(kConcatV2, {first, inner, last, c.scalar(axis)});
  // With fewer than two points, both ends are cut off.
  const Tensor sizes =
      sizes_but_one(c, first, axis, known ? Size(*known) : Size(count.tensor()), -1);
  return c(kSlice, {numbers, c(kZerosLike, {sizes}), sizes});
}

struct MeshgridParameters {
  TensorList args;
  std::string indexing = "xy";
  static constexpr auto fields() {
    using P = MeshgridParameters;
    return std::tuple(
        variadic_field("args", &P::args, "any", "Tensors; each counts as a vector."),
        field("indexing", &P::indexing,
              "\"ij\": each vector runs along its own axis of the grid; \"xy\" swaps the first "
              "two."));
  }
};

Outputs meshgrid(FunctionContext& c, const MeshgridParameters& p) {
  if (p.indexing != "xy" && p.indexing != "ij") {
    return c.fail(
        value_error("Argument `indexing` must be either 'xy' or 'ij', got '", p.indexing, "'"));
  }
  const size_t n = p.args.tensors.size();
  std::vector<size_t> axes(n);
  std::iota(axes.begin(), axes.end(), 0);
  if (p.indexing == "xy" && n > 1) std::swap(axes[0], axes[1]);
  const int64_t flat[] = {-1};
  std::vector<Tensor> vectors;
  SizeList grid(n, Size(0));
  for (size_t i = 0; i < n; ++i) {
    vectors.push_back(c(kReshape, {p.args.tensors[i], c.vector(flat)}));
    const auto size = c.size_if_known(vectors[i], 0);
    grid[axes[i]] = size ? Size(*size) : Size(c(kSize, {vectors[i]}));
  }
  Tensors grids;
  for (size_t i = 0; i < n; ++i) {
    std::vector<int64_t> along(n, 1);
    along[axes[i]] = -1;
    const Tensor vector = c(kReshape, {vectors[i], c.vector(along)});
    grids.push_back(c(kBroadcastTo, {vector, vector_of(c, grid)}));
  }
  return grids;
}

struct SequenceMaskParameters {
  Tensor lengths, maxlen;
  DType dtype = DType::kInvalid;
  static constexpr auto fields() {
    using P = SequenceMaskParameters;
    return std::tuple(required_field("lengths", &P::lengths, "any", "Integers of any shape."),
                      field("maxlen", &P::maxlen, "any",
                            "The size of the last axis, a scalar; None means the largest length."),
                      field("dtype", &P::dtype, "Of the result; None means bool."));
  }
};

// Whether j < lengths[...], for each j below a limit; without one below the largest length.
Formula mask_of_lengths(FunctionContext& c, const Formula& lengths, const Tensor& maxlen) {
  Formula limit = maxlen ? c(maxlen) : reduce(c, kMax, lengths);
  if (!maxlen) limit = call(kMaximum, constant_like(limit, 0), limit);
  Formula places = numbers_between(c, constant_like(limit, 0), limit);
  Formula ends = c.cast(c(kExpandDims, {lengths, c.scalar(-1)}), limit.dtype());
  return call(kLess, places, ends);
}

Outputs sequence_mask(FunctionContext& c, const SequenceMaskParameters& p) {
  if (c.rank_if_known(p.maxlen).value_or(0) != 0) {
    return c.fail(value_error("Argument `maxlen` must be scalar for sequence_mask"));
  }
  const Formula mask = mask_of_lengths(c, c(p.lengths), p.maxlen);
  return p.dtype == DType::kInvalid ? mask : c.cast(mask, p.dtype);
}

struct RepeatParameters {
  Tensor input, repeats;
  std::optional<int64_t> axis;
  static constexpr auto fields() {
    using P = RepeatParameters;
    return std::tuple(
        required_field("input", &P::input, "T", "Any dtype and shape."),
        required_field("repeats", &P::repeats, "int32",
                       "How often: an integer, or a vector that broadcasts to the axis."),
        field("axis", &P::axis, "The axis; None repeats the elements of the flattened input."));
  }
};

Outputs repeat(FunctionContext& c, const RepeatParameters& p) {
  if (!is_integer(p.repeats.dtype())) {
    return c.fail(type_error("Argument `repeats` must be of integers, got tf.",
                             dtype_name(p.repeats.dtype())));
  }
  const bool is_index = p.repeats.dtype() == DType::kInt64;
  const DType dtype = is_index ? DType::kInt64 : DType::kInt32;
  const Tensor counts = c.cast(p.repeats, dtype);
  const auto rank_of_counts = c.rank_if_known(counts);
  if (rank_of_counts.value_or(0) > 1) {
    return c.fail(
        value_error("repeats must be a scalar or a vector, got shape ", counts.shape().to_text()));
  }
  const int64_t flat[] = {-1}, once[] = {1};
  Tensor x = p.input;
  int64_t axis = 0;
  if (!p.axis || c.rank_if_known(x) == 0) {
    x = c(kReshape, {x, c.vector(flat)});
  } else {
    axis = axis_of(c, x, *p.axis);
  }
  const auto known = c.size_if_known(x, axis);
  const auto num_counts = rank_of_counts == 0 ? 1 : c.size_if_known(counts, 0);
  if (known && num_counts && *num_counts != 1 && *num_counts != *known) {
    return c.fail(value_error("Shapes (", *num_counts, ",) and (", *known, ",) are incompatible"));
  }
  const Size length = known ? Size(*known) : Size(element_of(c, c(kShape, {x}), axis));
  Formula zero = c(c.scalar(0)), range = numbers_between(c, zero, c(length.tensor(c)));
  const Tensor places = c(kExpandDims, {range, c.scalar(1)});
  const Size sizes_of_counts[] = {length};
  if (num_counts == 1) {  // all alike: nothing to be marked
    const Tensor often = c(kReshape, {counts, c.vector(once)});
    const Tensor one = c.cast(c.vector(once), dtype);
    const Tensor tiled = c(kTile, {places, c(kConcatV2, {one, often, c.scalar(0)})});
    return gathered(c, x, c(kReshape, {tiled, c.vector(flat)}), axis);
  }
  const Tensor each = c(kBroadcastTo, {counts, vector_of(c, sizes_of_counts)});
  // Row i of the mask marks places for all repetitions of slice i.
  const Tensor mask = mask_of_lengths(c, c(each), {});
  const Tensor width = element_of(c, c(kShape, {mask}), 1);
  const Size across[] = {Size(1), Size(width)};
  const Tensor tiled = c(kTile, {places, vector_of(c, across)});
  const Tensor chosen = masked(c, tiled, mask, zero);
  const bool may_be_known = c.is_graph() && kIndexTypes.contains(p.repeats.dtype());
  if (const Tensor numbers = may_be_known ? known_value(p.repeats) : Tensor()) {
    Size total(0);
    for (int64_t i = 0; i < numbers.num_elements(); ++i) {
      total = add(c, total, std::max<int64_t>(integer_at(numbers, i), 0));
    }
    set_known_shape(c, chosen, Shape({total.number()}));
  }
  return gathered(c, x, chosen, axis);
}

}  // namespace

void define_grids(FunctionRegistry& functions) {
  functions.define({
      .names = "linspace",
      .scope = "linspace",
      .types = {{"T", kRealTypes}},
      .summary = "Makes numbers at equal distances from starts to stops, both included.",
      .returns = "num numbers along the new axis: the dtype of start, float64 for integers.",
      .raises = {{"TypeError", "num is no integer."},
                 {"ValueError", "The axis is none of the result."},
                 {"InvalidArgumentError",
                  "num is negative; a ValueError in a graph if it is "
                  "known there."}},
      .body = linspace,
  });
  functions.define({
      .names = "meshgrid",
      .scope = "meshgrid",
      .results = tensor_list(),
      .summary = "Repeats vectors over the grid that they span.",
      .returns = "A tensor of the grid's shape for each vector.",
      .raises = {{"ValueError", "indexing is another word."}},
      .body = meshgrid,
  });
  functions.define({
      .names = "sequence_mask",
      .scope = "SequenceMask",
      .summary = "Makes masks whose first elements hold: mask[..., j] = j < lengths[...].",
      .returns = "The masks, shape lengths.shape + [maxlen].",
      .raises = {{"ValueError", "maxlen is no scalar."}},
      .body = sequence_mask,
  });
  functions.define({
      .names = "repeat",
      .scope = "Repeat",
      .summary = "Repeats the slices of a tensor along an axis, each one behind itself.",
      .returns = "The repeated tensor; its size along the axis is the sum of repeats.",
      .raises = {{"TypeError", "repeats has no integers."},
                 {"ValueError", "There is no such axis, or repeats has more than one."},
                 {"InvalidArgumentError",
                  "repeats does not fit the axis, or is one negative number."}},
      .body = repeat,
  });
}

}  // namespace graven::engine
