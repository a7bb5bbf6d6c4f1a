#include "graven/ops/slice_ops.h"

#include <utility>

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/strided_slice.h"

namespace graven::engine {
namespace {

// --- StridedSlice.

// The entries of begin, end or strides as far as they are known, none if not even their number is.
std::optional<SliceBounds> bounds_of(InferContext& c, int input) {
  SliceBounds bounds;
  if (Tensor value = c.value(input)) {
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      int64_t number = integer_at(value, i);
      bounds.push_back({number, number < 0 ? Dim::unknown() : Dim(number)});
    }
    return bounds;
  }
  if (auto sizes = c.sizes(input)) {
    for (Dim size : *sizes) {
      SliceBound bound;
      if (size.is_number()) bound.number = size.number();
      bound.size = size;
      bounds.push_back(bound);
    }
    return bounds;
  }
  const Shape& shape = c.shape(input);
  if (shape.rank() != 1 || !shape[0].is_number()) return std::nullopt;
  bounds.resize(static_cast<size_t>(shape.size(0)));
  return bounds;
}

// The entries of begin, end or strides, if they are known or at least their number is.
std::optional<SliceBounds> bounds_of(const ReadsContext& c, int input) {
  SliceBounds bounds;
  const Tensor& value = c.value(input);
  const Shape& shape = c.shape(input);
  if (!value && (shape.rank() != 1 || !shape[0].is_number())) return std::nullopt;
  for (int64_t i = 0; i < (value ? value.num_elements() : shape.size(0)); ++i) {
    bounds.push_back(value ? SliceBound{integer_at(value, i)} : SliceBound{});
  }
  return bounds;
}

// Output 0: a box of elements, by a view if that is better than a copy.
Status cut_box(KernelContext& c, const Tensor& x, int64_t first, const CopyAxes& box,
               const Shape& shape) {
  if (Tensor view = view_of_box(x, first, box, shape)) {
    c.set_output(0, std::move(view));
    return {};
  }
  RETURN_IF_ERROR(c.allocate_output(0, x.dtype(), shape));
  copy_strided(x.dtype(), box, element_at(x.dtype(), x.raw_data(), first),
               c.output(0).mutable_raw_data());
  return {};
}

// --- Slice.

Status slice_shape(InferContext& c) {
  const Shape& x = c.shape(0);
  for (int i = 1; i <= 2; ++i) {
    const Shape& shape = c.shape(i);
    if (!shape.has_rank() || !x.has_rank()) continue;
    if (shape.rank() != 1 || (shape[0].is_number() && shape.size(0) != x.rank())) {
      return invalid_argument("Expected begin and size arguments to be 1-D tensors of size ",
                              x.rank(), ", but got shapes ", c.shape(1).to_message(), " and ",
                              c.shape(2).to_message(), " instead.");
    }
  }
  auto begin = bounds_of(c, 1), size = bounds_of(c, 2);
  int rank = x.has_rank() ? x.rank()
             : begin      ? static_cast<int>(begin->size())
             : size       ? static_cast<int>(size->size())
                          : -1;
  if (rank < 0) return unknown_outputs(c);
  Shape out;
  for (int i = 0; i < rank; ++i) {
    const Dim whole = x.has_rank() ? x[i] : Dim::unknown();
    SliceBound first, count;
    if (begin) first = (*begin)[i];
    if (size) count = (*size)[i];
    bool at_most_whole = whole.is_number();
    if (first.number && (*first.number < 0 || (at_most_whole && *first.number > whole.number()))) {
      return invalid_argument("Expected begin[", i, "] in [0, ", whole.number_or_minus_one(),
                              "], but got ", *first.number);
    }
    Dim rest = !first.number        ? Dim::unknown()
               : *first.number == 0 ? whole
                                    : c.subtract(c.max(whole, *first.number), *first.number);
    if (count.number == -1) {
      out.push_back(rest.is_unknown() ? c.new_symbol("slice") : rest);
      continue;
    }
    if (count.number &&
        (*count.number < 0 || (rest.is_number() && *count.number > rest.number()))) {
      return invalid_argument("Expected size[", i, "] in [0, ", rest.number_or_minus_one(),
                              "], but got ", *count.number);
    }
    out.push_back(count.size.is_unknown() ? c.new_symbol("slice") : count.size);
  }
  c.set_shape(0, out);
  const bool is_cut_known = rank == 1 && begin && (*begin)[0].number && out[0].is_number();
  if (!is_cut_known || !c.is_graph()) return {};
  if (auto sizes = c.sizes(0)) {
    SymbolicValue cut;
    for (int64_t i = 0; i < out.size(0); ++i) cut.push_back((*sizes)[*(*begin)[0].number + i]);
    c.set_sizes(0, cut);
  }
  return {};
}

Status refuse_box(int64_t begin, int axis, int64_t size, int64_t count) {
  if (begin < 0 || begin > size) {
    return invalid_argument("Expected begin[", axis, "] in [0, ", size, "], but got ", begin);
  }
  return invalid_argument("Expected size[", axis, "] in [0, ", size - begin, "], but got ", count);
}

std::optional<Movement> slice_reads(const ReadsContext& c) {
  const Shape& x = c.shape(0);
  auto begin = bounds_of(c, 1);
  if (!begin) return std::nullopt;
  Movement movement = one_read(c.output(), Read{});
  Movement::Piece& piece = movement.pieces[0];
  for (int k = 0; k < x.rank(); ++k) {
    const auto first = (*begin)[k].number;
    const bool is_whole = first == 0 && c.output()[k] == x[k];
    // Of numbers inference has checked that they fit.
    const bool fits = first && x[k].is_number() && c.output()[k].is_number();
    piece.read.axes.push_back({is_whole || !fits ? Dim(0) : Dim(*first), {{k, 1}}});
    if (!is_whole && !fits) piece.offsets.push_back({k, 1, k, false, refuse_box});
  }
  return movement;
}

Status slice_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Shape& shape = c.inferred_shape(0);
  auto from = row_major_strides(x.shape()), to = row_major_strides(shape);
  CopyAxes box;
  int64_t first = 0;
  for (int i = 0; i < x.rank(); ++i) {
    box.push_back({shape.size(i), from[i], to[i]});
    first += integer_at(c.input(1), i) * from[i];
  }
  return cut_box(c, x, first, box, shape);
}

void slice_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  DType dtype = c.dtype_of_x(1);
  Formula begin(c, c.x(1));
  Tensor end = begin + Formula(c, cast(c, c.shape_of_y(0), dtype));
  Tensor ones = c(kOnesLike, {begin});
  c.set_dx(0, c(kStridedSliceGrad, {cast(c, c.shape_of_x(0), dtype), begin, end, ones, c.dy()},
                StridedSliceAttrs()));
}

void batch_slice(BatchContext& c) {
  if (gives_up_if_batched(c, {1, 2})) return;
  const Tensor inputs[] = {c.x(0), with_front(c, 1, 0), with_front(c, 2, -1)};
  apply_to_rows(c, inputs);
}

void define_slice(OpRegistry& ops) {
  kSlice = ops.define<NoAttrs>({
      .name = "Slice",
      .summary = "The box of elements that starts at begin and has the given size.",
      .details = "A size of -1 means all that is left along its axis.",
      .inputs = {"input: T", "begin: Index", "size: Index"},
      .outputs = {"output: T"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString}, kAllTypes}, {"Index", kIndexTypes}},
      .infer = slice_shape,
      .gradient = slice_gradient,
      .batch = batch_slice,
      .body = kernel(slice_kernel),
      .allocates_outputs = true,
      .values_for_inference = {1, 2},
      .reads = slice_reads,
      .cost = cost_of_outputs,
  });
}

// The slice that inputs 1 to 3 cut out of a shape, as far as it is known; none if not even its rank
// is.
Result<std::optional<StridedSlice>> slice_of(InferContext& c, const Shape& x) {
  const std::optional<StridedSlice> unknown;
  for (int i = 1; i <= 3; ++i) {
    if (c.shape(i).has_rank() && c.shape(i).rank() != 1) {
      return invalid_argument("Expected begin, end, and strides to be 1D equal size tensors, but ",
                              "got shapes ", c.shape(1).to_message(), ", ", c.shape(2).to_message(),
                              ", and ", c.shape(3).to_message(), " instead.");
    }
  }
  auto begin = bounds_of(c, 1), end = bounds_of(c, 2), strides = bounds_of(c, 3);
  size_t n = begin ? begin->size() : end ? end->size() : strides ? strides->size() : 0;
  if (!x.has_rank() || (!begin && !end && !strides)) return unknown;
  for (auto* bounds : {&begin, &end, &strides}) {
    if (!*bounds) (*bounds = SliceBounds())->resize(n);
  }
  ASSIGN_OR_RETURN(StridedSlice slice,
                   resolve_slice(c, c.attrs<StridedSliceAttrs>(), x, *begin, *end, *strides));
  return std::optional<StridedSlice>(std::move(slice));
}

Status strided_slice_shape(InferContext& c) {
  ASSIGN_OR_RETURN(auto slice, slice_of(c, c.shape(0)));
  if (!slice) return unknown_outputs(c);
  c.set_shape(0, slice->shape);
  if (c.shape(0).rank() != 1 || slice->shape.rank() > 1 || !c.is_graph()) return {};
  const auto& axis = slice->axes[0];
  auto sizes = c.sizes(0);
  if (!sizes || !axis.is_known || !axis.size.is_number()) return {};
  SymbolicValue cut;
  for (int64_t i = 0; i < axis.size.number(); ++i) {
    cut.push_back((*sizes)[axis.begin + i * axis.stride]);
  }
  c.set_sizes(0, cut);
  return {};
}

Status refuse_index(int64_t index, int axis, int64_t, int64_t) {
  return invalid_argument("slice index ", index, " of dimension ", axis, " out of bounds.");
}

// How elements along an axis of symbolic size are read, none if where they begin is not known.
std::optional<Read::Axis> read_of_symbolic(const StridedSliceAttrs& attrs,
                                           const StridedSlice::Axis& axis, const SliceBound& begin,
                                           const SliceBound& stride) {
  const bool from_start = axis.entry < 63 && (attrs.begin_mask >> axis.entry & 1);
  if (!stride.number || (!from_start && !begin.number)) return std::nullopt;
  // Forwards from a place that is counted from the first element, backwards from one that is
  // counted from the last. Beyond the other end nothing is read.
  const int64_t step = *stride.number, first = from_start ? (step > 0 ? 0 : -1) : *begin.number;
  if ((first < 0) != (step < 0)) return std::nullopt;
  return Read::Axis{step > 0 ? Dim(first) : Dim(-1 - first),
                    {{axis.result, Dim(step > 0 ? step : -step)}},
                    false,
                    step < 0};
}

std::optional<Movement> strided_slice_reads(const ReadsContext& c) {
  auto begin = bounds_of(c, 1), end = bounds_of(c, 2), strides = bounds_of(c, 3);
  if (!begin || !end || !strides) return std::nullopt;
  const auto& attrs = c.attrs<StridedSliceAttrs>();
  auto slice = resolve_slice(attrs, c.shape(0), *begin, *end, *strides);
  if (!slice.ok()) return std::nullopt;
  Movement movement = one_read(c.output(), Read{});
  Movement::Piece& piece = movement.pieces[0];
  for (int k = 0; k < static_cast<int>(slice->axes.size()); ++k) {
    const StridedSlice::Axis& axis = slice->axes[k];
    if (axis.entry >= 0 && axis.result < 0) {  // one element
      piece.read.axes.push_back({axis.is_known ? Dim(axis.begin) : Dim(0), {}});
      if (axis.is_known) continue;
      piece.offsets.push_back({k, 1, axis.entry, /*counts_from_end=*/true, refuse_index});
    } else if (!axis.is_known) {
      auto read = read_of_symbolic(attrs, axis, (*begin)[axis.entry], (*strides)[axis.entry]);
      if (!read) return std::nullopt;
      piece.read.axes.push_back(std::move(*read));
    } else if (axis.stride > 0) {
      piece.read.axes.push_back({axis.begin, {{axis.result, axis.stride}}});
    } else {
      const Dim behind = c.shape(0)[k].number() - 1 - axis.begin;
      piece.read.axes.push_back({behind, {{axis.result, -axis.stride}}, false, true});
    }
  }
  return movement;
}

Status strided_slice_kernel(KernelContext& c) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(StridedSlice slice, resolve_slice(c.attrs<StridedSliceAttrs>(), x.shape(),
                                                     c.input(1), c.input(2), c.input(3)));
  return cut_box(c, x, slice.first_element(x.shape()), slice.box(x.shape()), slice.shape);
}

// A shape and bounds of one integer dtype that StridedSliceGrad takes.
struct Bounds {
  Tensor shape, begin, end, strides;
};

Bounds bounds_of_gradient(GradientContext& c) {
  Bounds bounds = {c.shape_of_x(0), c.x(1), c.x(2), c.x(3)};
  DType dtype = c.dtype_of_x(1) == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  for (Tensor* tensor : {&bounds.shape, &bounds.begin, &bounds.end, &bounds.strides}) {
    *tensor = cast(c, *tensor, dtype);
  }
  return bounds;
}

void strided_slice_gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  Bounds bounds = bounds_of_gradient(c);
  c.set_dx(0, c(kStridedSliceGrad, {bounds.shape, bounds.begin, bounds.end, bounds.strides, c.dy()},
                c.attrs<StridedSliceAttrs>()));
}

constexpr DTypeSet kAllIndexTypes = kIndexTypes | DTypeSet{DType::kInt16};

// The attributes for one more entry in front, which takes all rows.
StridedSliceAttrs with_entry_in_front(const StridedSliceAttrs& attrs) {
  StridedSliceAttrs more;
  more.begin_mask = attrs.begin_mask << 1 | 1;
  more.end_mask = attrs.end_mask << 1 | 1;
  more.ellipsis_mask = attrs.ellipsis_mask << 1;
  more.new_axis_mask = attrs.new_axis_mask << 1;
  more.shrink_axis_mask = attrs.shrink_axis_mask << 1;
  return more;
}

// x[i, j] for places that differ between rows: elements at vectors of indices.
void batch_elements_at(BatchContext& c) {
  const auto& attrs = c.attrs<StridedSliceAttrs>();
  const Shape places = c.row_shape(1);
  if (!places.is_fully_known() || places.rank() != 1 || places.size(0) == 0) return c.use_loop();
  const int64_t all = (int64_t{1} << places.size(0)) - 1;
  const bool is_elements = attrs.shrink_axis_mask == all && attrs.begin_mask == 0 &&
                           attrs.ellipsis_mask == 0 && attrs.new_axis_mask == 0;
  if (!is_elements || gives_up_if_batched(c, {3}) || !c.rank(0)) return c.use_loop();
  // Negative places count from the end.
  const auto count = static_cast<int32_t>(places.size(0));
  const int32_t zero[] = {0}, end[] = {count};
  const Tensor sizes =
      cast(c, elements_between(c, row_sizes(c, 0), int32_vector(c, zero), int32_vector(c, end)),
           c.dtype(1));
  const Formula begin(c, c.repeated(1));
  const Formula is_negative(c, cast(c, call(kLess, begin, constant_like(begin, 0)), c.dtype(1)));
  Tensor indices = begin + is_negative * Formula(c, sizes);
  if (c.is_batched(0)) {
    indices = c(kConcatV2,
                {row_numbers(c, c.dtype(1), 1), indices, c.constant(Tensor::scalar<int32_t>(1))});
  }
  c.set_y(0, c(kGatherNd, {c.x(0), indices}));
}

void batch_strided_slice(BatchContext& c) {
  if (c.any_batched({1, 2, 3})) return batch_elements_at(c);
  const Tensor inputs[] = {c.x(0), with_front(c, 1, 0), with_front(c, 2, 0), with_front(c, 3, 1)};
  apply_to_rows(c, inputs, with_entry_in_front(c.attrs<StridedSliceAttrs>()));
}

void define_strided_slice(OpRegistry& ops) {
  kStridedSlice = ops.define<StridedSliceAttrs>({
      .name = "StridedSlice",
      .summary = "The elements from begin on, before end, at every stride-th place of each axis.",
      .details = "Bit i of a mask is for entry i: begin_mask and end_mask leave a bound out, "
                 "ellipsis_mask fills up with whole axes, new_axis_mask inserts an axis of size 1, "
                 "shrink_axis_mask takes one element and drops its axis.",
      .inputs = {"input: T", "begin: Index", "end: Index", "strides: Index"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Index", kAllIndexTypes}},
      .infer = strided_slice_shape,
      .gradient = strided_slice_gradient,
      .batch = batch_strided_slice,
      .body = kernel(strided_slice_kernel),
      .allocates_outputs = true,
      .values_for_inference = {1, 2, 3},
      .reads = strided_slice_reads,
      .cost = cost_of_outputs,
      .default_node_name = "strided_slice",
  });
}

// --- StridedSliceGrad.

Status check_fits_slice(InferContext& c, const StridedSlice& slice, int input, const char* name) {
  if (are_compatible(c.shape(input), slice.shape)) return {};
  return invalid_argument("shape of ", name, " was ", c.shape(input).to_message(), " instead of ",
                          slice.shape.to_message());
}

Status strided_slice_grad_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Shape shape, shape_from_input(c, 0));
  c.set_shape(0, shape);
  ASSIGN_OR_RETURN(auto slice, slice_of(c, shape));
  return slice ? check_fits_slice(c, *slice, 4, "dy") : Status();
}

// Writes the value, which broadcasts, to the slice of a tensor.
Status write_slice(KernelContext& c, const Tensor& value, const Tensor& to) {
  ASSIGN_OR_RETURN(StridedSlice slice, resolve_slice(c.attrs<StridedSliceAttrs>(), to.shape(),
                                                     c.input(1), c.input(2), c.input(3)));
  CopyAxes box = slice.box(to.shape());
  const auto strides = row_major_strides(value.shape());
  const int missing = slice.shape.rank() - value.rank();
  for (size_t i = 0; i < box.size(); ++i) {
    const int axis = slice.axes[i].result - missing;
    const bool repeats = axis < 0 || value.shape().size(axis) == 1;
    box[i].to = std::exchange(box[i].from, repeats ? 0 : strides[axis]);
  }
  copy_strided(value.dtype(), box, value.raw_data(),
               element_at(to.dtype(), to.mutable_raw_data(), slice.first_element(to.shape())));
  return {};
}

// If it writes to a box.
std::optional<Movement> strided_slice_grad_reads(const ReadsContext& c) {
  auto begin = bounds_of(c, 1), end = bounds_of(c, 2), strides = bounds_of(c, 3);
  if (!begin || !end || !strides) return std::nullopt;
  auto slice = resolve_slice(c.attrs<StridedSliceAttrs>(), c.output(), *begin, *end, *strides);
  if (!slice.ok()) return std::nullopt;
  Movement movement;
  movement.space = c.output();
  movement.fill = Movement::kZeros;
  Movement::Piece piece{4, {Read::Axes(static_cast<size_t>(c.shape(4).rank()))}, {}, {}, {}};
  for (int k = 0; k < static_cast<int>(slice->axes.size()); ++k) {
    const StridedSlice::Axis& axis = slice->axes[k];
    if (!axis.is_known || axis.stride != 1 || axis.size.is_unknown()) return std::nullopt;
    piece.start.push_back(axis.begin);
    piece.size.push_back(axis.size);
    if (axis.result >= 0) piece.read.axes[axis.result].terms = {{k, 1}};
  }
  movement.pieces.push_back(std::move(piece));
  return movement;
}

void batch_strided_slice_grad(BatchContext& c) {
  if (gives_up_if_batched(c, {0, 1, 2, 3})) return;
  const Tensor inputs[] = {with_rows_in_front(c, 0), with_front(c, 1, 0), with_front(c, 2, 0),
                           with_front(c, 3, 1), c.x(4)};
  apply_to_rows(c, inputs, with_entry_in_front(c.attrs<StridedSliceAttrs>()));
}

void define_strided_slice_grad(OpRegistry& ops) {
  kStridedSliceGrad = ops.define<StridedSliceAttrs>({
      .name = "StridedSliceGrad",
      .summary = "Zeros of the given shape, with dy where StridedSlice would have read.",
      .inputs = {"shape: Index", "begin: Index", "end: Index", "strides: Index", "dy: T"},
      .outputs = {"output: T"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString}, kAllTypes}, {"Index", kIndexTypes}},
      .infer = strided_slice_grad_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(4)) return;
            c.set_dx(4, c(kStridedSlice, {c.dy(), c.x(1), c.x(2), c.x(3)},
                          c.attrs<StridedSliceAttrs>()));
          },
      .batch = batch_strided_slice_grad,
      .body = kernel([](KernelContext& c) -> Status {
        const Tensor& out = c.output(0);
        clear_elements(out.dtype(), out.num_elements(), out.mutable_raw_data());
        return write_slice(c, c.input(4), out);
      }),
      .values_for_inference = {0, 1, 2, 3},
      .reads = strided_slice_grad_reads,
  });
}

Status check_broadcasts_to_slice(const StridedSlice& slice, const Shape& value) {
  if (!value.has_rank()) return {};
  const int missing = slice.shape.rank() - value.rank();
  bool fits = missing >= 0;
  for (int i = 0; fits && i < value.rank(); ++i) {
    const Dim from = value[i], to = slice.shape[i + missing];
    fits = from == Dim(1) || !from.is_number() || !to.is_number() || from == to;
  }
  if (fits) return {};
  return invalid_argument("Cannot broadcast input shape ", value.to_message(), " into final shape ",
                          slice.shape.to_message());
}

Status slice_update_kernel(KernelContext& c) {
  const Tensor& out = c.output(0);
  copy_strided(out.dtype(), {{out.num_elements(), 1, 1}}, c.input(0).raw_data(),
               out.mutable_raw_data());
  return write_slice(c, c.input(4), out);
}

void slice_update_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<StridedSliceAttrs>();
  Tensor begin = c.x(1), end = c.x(2), strides = c.x(3);
  if (c.wants(0)) {
    Tensor zero = constant_like(Formula(c, c.dy()), 0);
    c.set_dx(0, c(kTensorStridedSliceUpdate, {c.dy(), begin, end, strides, zero}, attrs));
  }
  if (c.wants(4)) {
    Tensor read = c(kStridedSlice, {c.dy(), begin, end, strides}, attrs);
    c.set_dx(4, reduce_to_shape(c, read, 4));
  }
}

void define_tensor_strided_slice_update(OpRegistry& ops) {
  kTensorStridedSliceUpdate = ops.define<StridedSliceAttrs>({
      .name = "TensorStridedSliceUpdate",
      .summary = "The input, with value, which broadcasts, where StridedSlice would have read.",
      .inputs = {"input: T", "begin: Index", "end: Index", "strides: Index", "value: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Index", kIndexTypes}},
      .infer = [](InferContext& c) -> Status {
        c.set_shape(0, c.shape(0));
        ASSIGN_OR_RETURN(auto slice, slice_of(c, c.shape(0)));
        return slice ? check_broadcasts_to_slice(*slice, c.shape(4)) : Status();
      },
      .gradient = slice_update_gradient,
      .body = kernel(slice_update_kernel),
      .values_for_inference = {1, 2, 3},
  });
}

}  // namespace

void define_slice_ops(OpRegistry& ops) {
  define_slice(ops);
  define_strided_slice(ops);
  define_strided_slice_grad(ops);
  define_tensor_strided_slice_update(ops);
}

}  // namespace graven::engine
