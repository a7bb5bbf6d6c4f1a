#include <algorithm>
#include <bit>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/gathering.h"
#include "graven/library/reductions.h"
#include "graven/library/scalars.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/slice_ops.h"

// Signals cut into frames and put together again, and spectra turned around their middle.

namespace graven::engine {
namespace {

Size size_of_axis(FunctionContext& c, const Tensor& x, int64_t axis) {
  if (const auto known = c.size_if_known(x, axis)) return *known;
  return Size(element_of(c, c(kShape, {x}), axis));
}

Formula numbers_below(FunctionContext& c, const Size& limit) {
  return c(c(kRange, {c.scalar(0), limit.tensor(c), c.scalar(1)}));
}

struct FrameParameters {
  Tensor signal, frame_length, frame_step;
  bool pad_end = false;
  Tensor pad_value;
  int64_t axis = -1;
  static constexpr auto fields() {
    using P = FrameParameters;
    return std::tuple(
        required_field("signal", &P::signal, "T", "Of any dtype, with one axis at least."),
        required_field("frame_length", &P::frame_length, "any", "An integer scalar."),
        required_field("frame_step", &P::frame_step, "any",
                       "How far it is from frame to frame, an integer scalar."),
        field("pad_end", &P::pad_end, "Also take frames that reach beyond the end."),
        field("pad_value", &P::pad_value, "T", 0, "What is beyond the end."),
        field("axis", &P::axis, "The axis of the samples; negative counts from the end."));
  }
};

// The number of frames, and the samples that they are taken from.
struct Framed {
  Tensor samples;
  Size num_samples, num_frames;
};

Framed padded(FunctionContext& c, const FrameParameters& p, int64_t axis, const Size& length,
              const Size& step) {
  const Size n = size_of_axis(c, p.signal, axis);
  if (!p.pad_end) {
    const Size behind_first = quotient(c, subtract(c, n, length), step);
    return {p.signal, n, maximum(c, 0, add(c, behind_first, 1))};
  }
  const Size frames = subtract(c, 0, quotient(c, subtract(c, 0, n), step));
  const Size end = add(c, length, multiply(c, step, subtract(c, frames, 1)));
  const Size missing = maximum(c, 0, subtract(c, end, n));
  if (missing.is_number() && missing.number() == 0) return {p.signal, n, frames};
  const Tensor after = sizes_but_one(c, p.signal, axis, missing, 0);
  const Tensor paddings = c(kPack, {c(kZerosLike, {after}), after}, {.axis = 1});
  const Tensor samples =
      p.pad_value ? c(kPadV2, {p.signal, paddings, p.pad_value}) : c(kPad, {p.signal, paddings});
  if (c.rank_if_known(p.signal) && !missing.is_number()) {
    Shape shape = p.signal.shape();
    shape.set(static_cast<int>(axis), Dim::unknown());
    set_known_shape(c, samples, shape);
  }
  return {samples, add(c, n, missing), frames};
}

// The frames along an axis: `length` items each, `step` apart.
Tensor taken(FunctionContext& c, const Tensor& items, int64_t axis, const Size& num_frames,
             const Size& length, const Size& step, std::string_view name) {
  const Formula starts = numbers_below(c, num_frames) * c(step.tensor(c));
  const Tensor places = c(c(kExpandDims, {starts, c.scalar(1)})) + numbers_below(c, length);
  return gathered(c, items, places, axis, name);
}

Outputs frame(FunctionContext& c, const FrameParameters& p) {
  const auto length = one_size(c, p.frame_length, "frame_length");
  const auto step = one_size(c, p.frame_step, "frame_step");
  if (!length || !step) return Tensor();
  if (c.rank_if_known(p.signal) == 0) {
    return c.fail(value_error("Shape () must have rank at least 1"));
  }
  const int64_t axis = axis_of(c, p.signal, p.axis);
  const Framed framed = padded(c, p, axis, *length, *step);
  const bool are_known = length->is_number() && step->is_number() && framed.num_samples.is_number();
  const int64_t part = are_known ? std::gcd(length->number(), step->number()) : 1;
  if (part < 2 || length->number() <= 0 || !c.rank_if_known(p.signal)) {
    return taken(c, framed.samples, axis, framed.num_frames, *length, *step, c.name());
  }
  // All frames begin and end at multiples of `part`, so that many samples move at once.
  const int64_t num_parts = framed.num_samples.number() / part;
  const Tensor whole = sizes_but_one(c, framed.samples, axis, num_parts * part, -1);
  const Tensor samples = c(kSlice, {framed.samples, c(kZerosLike, {whole}), whole});
  SizeList sizes = c.sizes(samples);
  if (sizes.empty()) return Tensor();
  const auto at = sizes.begin() + axis;
  SizeList in_parts(sizes.begin(), at), in_frames(sizes.begin(), at);
  in_parts.insert(in_parts.end(), {num_parts, part});
  in_frames.insert(in_frames.end(), {framed.num_frames, *length});
  for (SizeList* list : {&in_parts, &in_frames}) list->insert(list->end(), at + 1, sizes.end());
  const Tensor parts = c(kReshape, {samples, vector_of(c, in_parts)});
  const Tensor frames =
      taken(c, parts, axis, framed.num_frames, length->number() / part, step->number() / part, {});
  return c(kReshape, {frames, vector_of(c, in_frames)}, {}, c.name());
}

struct OverlapAndAddParameters {
  Tensor signal, frame_step;
  static constexpr auto fields() {
    using P = OverlapAndAddParameters;
    return std::tuple(
        required_field("signal", &P::signal, "T", "Numbers, shape [..., frames, frame_length]."),
        required_field("frame_step", &P::frame_step, "any",
                       "How far it is from frame to frame, an integer scalar."));
  }
};

// Each frame is cut into segments as long as a step. The segments are laid out so that segment s of
// frame f stands in row s at column f + s, its place in the result: padding adds as many frames as
// there are segments, and each row is read one frame shorter. The result is the sum of the rows.
Tensor sum_of_frames(FunctionContext& c, const Tensor& frames, const Size& count,
                     const Size& length, const Size& step) {
  const Size segments = subtract(c, 0, quotient(c, subtract(c, 0, length), step));
  const Size rows = add(c, count, segments), columns = subtract(c, rows, 1);
  const Size missing = subtract(c, multiply(c, segments, step), length);
  const Size zero(0), after[] = {zero, segments, missing}, before[] = {zero, zero, zero};
  const Tensor paddings = c(kPack, {vector_of(c, before), vector_of(c, after)}, {.axis = 1});
  const Size in_segments[] = {-1, rows, segments, step};
  const int64_t order[] = {0, 2, 1, 3}, second[] = {1};
  const Tensor cut = c(kReshape, {c(kPad, {frames, paddings}), vector_of(c, in_segments)});
  const Size in_line[] = {-1, multiply(c, rows, segments), step};
  const Size kept[] = {-1, multiply(c, columns, segments), step};
  const Size in_columns[] = {-1, segments, columns, step};
  Tensor x = c(kReshape, {c(kTranspose, {cut, c.vector(order)}), vector_of(c, in_line)});
  x = c(kSlice, {x, vector_of(c, before), vector_of(c, kept)});
  x = c(kReshape, {x, vector_of(c, in_columns)});
  x = c(kSum, {x, c.vector(second)});
  const Size in_samples[] = {-1, multiply(c, columns, step)};
  const Size end[] = {-1, add(c, length, multiply(c, step, subtract(c, count, 1)))};
  x = c(kReshape, {x, vector_of(c, in_samples)});
  return c(kSlice, {x, vector_of(c, {before, 2}), vector_of(c, end)});
}

Outputs overlap_and_add(FunctionContext& c, const OverlapAndAddParameters& p) {
  const auto step = one_size(c, p.frame_step, "frame_step");
  if (!step) return Tensor();
  const auto rank = c.rank_if_known(p.signal);
  if (rank && *rank < 2) {
    return c.fail(value_error("Shape ", p.signal.shape().to_text(), " must have rank at least 2"));
  }
  const Size length = size_of_axis(c, p.signal, -1), count = size_of_axis(c, p.signal, -2);
  const Size end = add(c, length, multiply(c, *step, subtract(c, count, 1)));
  Tensor whole;
  if (rank) {
    SizeList sizes = c.sizes(p.signal);
    sizes.resize(sizes.size() - 2, 0);
    sizes.push_back(end);
    whole = vector_of(c, sizes);
  } else {
    const int64_t first[] = {0}, inner[] = {-2};
    const Size last[] = {end};
    const Tensor outer =
        elements_between(c, c(kShape, {p.signal}), c.vector(first), c.vector(inner));
    whole = joined(c, outer, vector_of(c, last));
  }
  if (step->is_number() && length.is_number() && step->number() == length.number()) {
    return c(kReshape, {p.signal, whole}, {}, c.name());
  }
  const Size flat[] = {-1, count, length};
  const Tensor frames = c(kReshape, {p.signal, vector_of(c, flat)});
  return c(kReshape, {sum_of_frames(c, frames, count, length, *step), whole}, {}, c.name());
}

struct ShiftParameters {
  Tensor x;
  Axes axes;
  static constexpr auto fields() {
    using P = ShiftParameters;
    return std::tuple(required_field("x", &P::x, "T", "Of any dtype and shape."),
                      field("axes", &P::axes, "The axes to shift; None means all."));
  }
};

// Half the size of each axis that is shifted, rounded down, and these axes.
std::pair<Tensor, Tensor> halves_and_axes(FunctionContext& c, const ShiftParameters& p) {
  const auto half = [&](const Tensor& sizes) { return c(kFloorDiv, {sizes, c.scalar(2)}); };
  if (p.axes.tensor) {
    const Tensor axes = as_int32(c, p.axes.tensor);
    Formula behind = c(axes) + c(c(kRank, {p.x}));
    const Tensor is_negative = c(kLess, {axes, c.scalar(0)});
    const Tensor places = c(kSelectV2, {is_negative, behind, axes});
    return {half(gathered(c, c(kShape, {p.x}), places, 0)), axes};
  }
  const auto rank = c.rank_if_known(p.x);
  std::vector<int64_t> axes(static_cast<size_t>(rank.value_or(0)));
  std::iota(axes.begin(), axes.end(), 0);
  if (p.axes.numbers) axes.assign(p.axes.numbers->begin(), p.axes.numbers->end());
  if (!p.axes.numbers && !rank) {
    return {half(c(kShape, {p.x})), numbers_below(c, Size(c(kRank, {p.x})))};
  }
  SizeList shifts;
  for (int64_t axis : axes) {
    shifts.push_back(quotient(c, size_of_axis(c, p.x, axis), 2));
  }
  return {vector_of(c, shifts), c.vector(axes)};
}

// --- Helpers of the Python functions that take window functions.

struct LengthParameters {
  Tensor frame_length;
  static constexpr auto fields() {
    return std::tuple(required_field("frame_length", &LengthParameters::frame_length, "any",
                                     "An integer scalar."));
  }
};

// The smallest power of 2 that is not below the length.
Outputs power_of_two(FunctionContext& c, const LengthParameters& p) {
  const auto length = one_size(c, p.frame_length, "frame_length");
  if (!length) return Tensor();
  if (length->is_number()) {
    const auto known = static_cast<uint32_t>(std::max<int64_t>(length->number(), 0));
    return c.scalar(known == 0 ? int64_t{0} : int64_t{std::bit_ceil(known)});
  }
  const Formula size = c.cast(length->tensor(c), DType::kFloat64);
  // The quotient of logarithms of a power of 2 may be rounded up.
  const Formula quotient_of_logs = call(kLog, size) / constant_like(size, std::numbers::ln2);
  const Formula exponent = call(kCeil, quotient_of_logs - 1e-10);
  return c.cast(call(kPow, constant_like(size, 2), exponent), DType::kInt32);
}

Outputs half_of_length(FunctionContext& c, const LengthParameters& p) {
  const auto length = one_size(c, p.frame_length, "frame_length");
  if (!length) return Tensor();
  if (length->is_number() && length->number() % 4 != 0) {
    return c.fail(value_error("The frame length must be a multiple of 4."));
  }
  return quotient(c, *length, 2).tensor(c);
}

}  // namespace

void define_frames(FunctionRegistry& functions) {
  constexpr Raised kWrongNumber = {"ValueError", "A number is no scalar, or the rank is too low."};
  functions.define({
      .names = "signal.frame",
      .scope = "frame",
      .summary = "Cuts a signal into frames, which may overlap.",
      .details = "There are max(0, 1 + (samples - frame_length) // frame_step) frames; with "
                 "pad_end there is one for each step that begins in the signal.",
      .returns = "The frames: signal with the axes [frames, frame_length] in place of the axis.",
      .raises = {kWrongNumber, {"InvalidArgumentError", "The length is negative, or the step 0."}},
      .body = frame,
  });
  functions.define({
      .names = "signal.overlap_and_add",
      .scope = "overlap_and_add",
      .types = {{"T", kNumberTypes}},
      .summary = "Adds frames up to a signal, each a step behind the one before.",
      .returns = "The signal, shape [..., (frames - 1) * frame_step + frame_length].",
      .raises = {kWrongNumber, {"InvalidArgumentError", "The step is 0."}},
      .body = overlap_and_add,
  });
  functions.define({
      .names = "signal.fftshift",
      .scope = "fftshift",
      .summary = "Swaps the halves of axes, so that frequency 0 of a spectrum is in the middle.",
      .returns = "A tensor of the same shape.",
      .raises = {{"InvalidArgumentError", "There is no such axis."}},
      .body = [](FunctionContext& c, const ShiftParameters& p) -> Outputs {
        const auto [halves, axes] = halves_and_axes(c, p);
        return c(kRoll, {p.x, halves, axes}, {}, c.name());
      },
  });
  functions.define({
      .names = "signal.ifftshift",
      .scope = "ifftshift",
      .summary = "Undoes fftshift: what is in the middle of axes becomes the first.",
      .returns = "A tensor of the same shape.",
      .raises = {{"InvalidArgumentError", "There is no such axis."}},
      .body = [](FunctionContext& c, const ShiftParameters& p) -> Outputs {
        const auto [halves, axes] = halves_and_axes(c, p);
        return c(kRoll, {p.x, -c(halves), axes}, {}, c.name());
      },
  });
  functions.define({
      .names = "signal._power_of_two",
      .summary = "The smallest power of 2 that is not below a length.",
      .returns = "An int32 scalar.",
      .body = power_of_two,
  });
  functions.define({
      .names = "signal._half_of_length",
      .summary = "Half of a length, a multiple of 4.",
      .returns = "An int32 scalar.",
      .raises = {{"ValueError", "It is no multiple of 4."}},
      .body = half_of_length,
  });
}

}  // namespace graven::engine
