#include <algorithm>
#include <cstring>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/padding_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/strided_copy.h"

namespace graven::engine {
namespace {

// --- ReverseV2 and Roll.

Status reverse_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  c.set_shape(0, x);
  if (c.shape(1).has_rank() && c.shape(1).rank() != 1) {
    return invalid_argument("axis must be a vector, got shape ", c.shape(1).to_message());
  }
  Tensor axes = c.value(1);
  if (!axes || !x.has_rank()) return {};
  ASSIGN_OR_RETURN(auto reversed, normalized_axes(axes, x.rank()));
  std::sort(reversed.begin(), reversed.end());
  for (size_t i = 1; i < reversed.size(); ++i) {
    if (reversed[i] == reversed[i - 1]) {
      return invalid_argument("axis ", reversed[i], " specified more than once.");
    }
  }
  return {};
}

std::optional<Movement> reverse_reads(const ReadsContext& c) {
  if (!c.value(1)) return std::nullopt;
  auto reversed = normalized_axes(c.value(1), c.shape(0).rank());
  if (!reversed.ok()) return std::nullopt;
  Read read = Read::of_leading_axes(c.shape(0).rank());
  for (int axis : *reversed) read.axes[axis].backwards = true;
  return one_read(c.output(), std::move(read));
}

Status reverse_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &out = c.output(0);
  ASSIGN_OR_RETURN(auto reversed, normalized_axes(c.input(1), x.rank()));
  auto strides = row_major_strides(x.shape());
  CopyAxes axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back({x.shape().size(i), strides[i], strides[i]});
  int64_t first = 0;
  for (int axis : reversed) {
    first += (axes[axis].size - 1) * strides[axis];
    axes[axis].from = -strides[axis];
  }
  if (x.num_elements() == 0) return {};
  copy_strided(x.dtype(), axes, element_at(x.dtype(), x.raw_data(), first), out.mutable_raw_data());
  return {};
}

void define_reverse_v2(OpRegistry& ops) {
  kReverseV2 = ops.define<NoAttrs>({
      .name = "ReverseV2",
      .summary = "The tensor in reverse order along the given axes.",
      .inputs = {"tensor: T", "axis: Tidx"},
      .outputs = {"output: T"},
      .types = {{"T", kValueTypes}, {"Tidx", kIndexTypes}},
      .infer = reverse_shape,
      .gradient =
          [](GradientContext& c) {
            if (c.wants(0)) c.set_dx(0, c(kReverseV2, {c.dy(), c.x(1)}));
          },
      .batch = batch_along_axis<0, 1>,
      .body = kernel(reverse_kernel),
      .values_for_inference = {1},
      .reads = reverse_reads,
  });
}

Status roll_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  c.set_shape(0, x);
  if (x.has_rank() && x.rank() == 0) return invalid_argument("input must be 1-D or higher");
  const Shape &shift = c.shape(1), &axis = c.shape(2);
  if (!are_compatible(shift, axis)) {
    return invalid_argument("shift and axis must have the same size, got shapes ",
                            shift.to_message(), " and ", axis.to_message());
  }
  if (Tensor axes = c.value(2); axes && x.has_rank()) {
    return normalized_axes(axes, x.rank()).status();
  }
  return {};
}

// Along each rolled axis the elements pushed out at the end come back in front. So each axis has
// two parts, and the movement has a box for each choice of parts.
std::optional<Movement> roll_reads(const ReadsContext& c) {
  const Shape& x = c.shape(0);
  const Tensor &by = c.value(1), &along = c.value(2);
  if (!by || !along) return std::nullopt;
  auto axes = normalized_axes(along, x.rank());
  if (!axes.ok()) return std::nullopt;
  InlineVector<int64_t, 6> shifts(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const Dim whole = x[(*axes)[i]];
    if (!whole.is_number()) return std::nullopt;
    if (whole == Dim(0)) continue;
    const int64_t shift = integer_at(by, static_cast<int64_t>(i)) % whole.number();
    shifts[(*axes)[i]] = (shifts[(*axes)[i]] + shift + whole.number()) % whole.number();
  }
  Movement movement;
  movement.space = x;
  movement.pieces.emplace_back();
  for (int i = 0; i < x.rank(); ++i) {
    const Dim whole = x[i], shift = shifts[i];
    const size_t num_pieces = movement.pieces.size();
    for (size_t p = 0; p < num_pieces; ++p) {
      if (!(shift == Dim(0))) {
        Movement::Piece wrapped = movement.pieces[p];
        wrapped.start.push_back(0);
        wrapped.size.push_back(shift);
        wrapped.read.axes.push_back({c.subtract(whole, shift), {{i, 1}}});
        movement.pieces.push_back(std::move(wrapped));
      }
      Movement::Piece& piece = movement.pieces[p];
      piece.start.push_back(shift);
      piece.size.push_back(shift == Dim(0) ? whole : c.subtract(whole, shift));
      piece.read.axes.push_back({0, {{i, 1}}});
    }
  }
  return movement;
}

Status roll_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &out = c.output(0);
  if (x.num_elements() == 0) return {};
  ASSIGN_OR_RETURN(auto axes, normalized_axes(c.input(2), x.rank()));
  std::vector<int64_t> shifts(static_cast<size_t>(x.rank()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t size = x.shape().size(axes[i]);
    int64_t shift = integer_at(c.input(1), static_cast<int64_t>(i)) % size;
    shifts[axes[i]] = (shifts[axes[i]] + shift + size) % size;
  }
  std::vector<int> moving;
  for (int i = 0; i < x.rank(); ++i) {
    if (shifts[i] != 0) moving.push_back(i);
  }
  auto strides = row_major_strides(x.shape());
  for (uint64_t choice = 0; choice < uint64_t{1} << moving.size(); ++choice) {
    CopyAxes box;
    for (int i = 0; i < x.rank(); ++i) box.push_back({x.shape().size(i), strides[i], strides[i]});
    int64_t from = 0, to = 0;
    for (size_t k = 0; k < moving.size(); ++k) {
      int axis = moving[k];
      int64_t size = x.shape().size(axis), shift = shifts[axis];
      bool wraps = (choice >> k & 1) != 0;
      box[axis].size = wraps ? shift : size - shift;
      from += wraps ? (size - shift) * strides[axis] : 0;
      to += wraps ? 0 : shift * strides[axis];
    }
    copy_strided(x.dtype(), box, element_at(x.dtype(), x.raw_data(), from),
                 element_at(out.dtype(), out.mutable_raw_data(), to));
  }
  return {};
}

void define_roll(OpRegistry& ops) {
  kRoll = ops.define<NoAttrs>({
      .name = "Roll",
      .python = "roll",
      .summary = "The input moved by shift elements along each axis, the end back in front.",
      .inputs = {"input: T", "shift: Tshift", "axis: Taxis"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tshift", kIndexTypes}, {"Taxis", kIndexTypes}},
      .infer = roll_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0)) return;
            Tensor shift = c.x(1);
            c.set_dx(0, c(kRoll, {c.dy(), c(kNeg, {shift}), c.x(2)}));
          },
      .batch = batch_along_axis<0, 2>,
      .body = kernel(roll_kernel),
      .values_for_inference = {2},
      .reads = roll_reads,
  });
}

// --- Bitcast.

Status bitcast_shape(InferContext& c) {
  const auto from = static_cast<int64_t>(dtype_size(c.dtype(0)));
  const auto to = static_cast<int64_t>(dtype_size(c.attrs<BitcastAttrs>().type));
  Shape shape = c.shape(0);
  if (!shape.has_rank()) return unknown_outputs(c);
  if (to < from) {
    shape.push_back(from / to);
  } else if (to > from) {
    const int last = shape.rank() - 1;
    if (last < 0 || (shape[last].is_number() && shape.size(last) != to / from)) {
      return invalid_argument("Cannot bitcast from ", dtype_name(c.dtype(0)), " to ",
                              dtype_name(c.attrs<BitcastAttrs>().type),
                              ": the last dimension must be ", to / from, ", got shape ",
                              shape.to_message());
    }
    shape.erase(last);
  }
  c.set_shape(0, shape);
  return {};
}

Status bitcast_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  const DType dtype = c.attrs<BitcastAttrs>().type;
  const Shape& shape = c.inferred_shape(0);
  if (const Ref<Buffer>& buffer = x.eager()->buffer()) {
    auto offset = static_cast<size_t>(static_cast<const std::byte*>(x.raw_data()) -
                                      static_cast<const std::byte*>(buffer->data()));
    c.set_output(0, Tensor::of_buffer(dtype, shape, buffer, offset));
    return {};
  }
  RETURN_IF_ERROR(c.allocate_output(0, dtype, shape));
  if (x.bytes() > 0) std::memcpy(c.output(0).mutable_raw_data(), x.raw_data(), x.bytes());
  return {};
}

void define_bitcast(OpRegistry& ops) {
  kBitcast = ops.define<BitcastAttrs>({
      .name = "Bitcast",
      .python = "bitcast",
      .summary = "The bytes of the input as elements of another dtype.",
      .details = "Smaller elements make a new last axis, larger ones take the last one.",
      .inputs = {"input: T"},
      .outputs = {"output: type"},
      .types = {{"T", kNumberTypes}, {"type", kNumberTypes}},
      .infer = bitcast_shape,
      .batch = batch_leading_axes,
      .body = kernel(bitcast_kernel),
      .allocates_outputs = true,
  });
}

}  // namespace

void define_reversal_ops(OpRegistry& ops) {
  define_reverse_v2(ops);
  define_roll(ops);
  define_bitcast(ops);
}

}  // namespace graven::engine
