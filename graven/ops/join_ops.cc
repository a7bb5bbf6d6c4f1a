#include "graven/ops/join_ops.h"

#include <algorithm>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/movement.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/strided_copy.h"
#include "graven/ops/structural_kernels.h"

namespace graven::engine {
namespace {

int64_t product_of_sizes(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= shape.size(i);
  return product;
}

Status set_unknown(InferContext& c) { return unknown_outputs(c); }

// --- Pack.

Status pack_shape(InferContext& c) {
  if (c.num_inputs() == 0) return invalid_argument("Pack needs at least one value");
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    auto merged = merge_shapes(shape, c.shape(i));
    if (!merged.ok()) {
      return invalid_argument(
          "Shapes of all inputs must match: values[0].shape = ", c.shape(0).to_message(),
          " != values[", i, "].shape = ", c.shape(i).to_message());
    }
    shape = *merged;
  }
  if (!shape.has_rank()) return set_unknown(c);
  const int rank = shape.rank() + 1;
  int64_t axis = c.attrs<PackAttrs>().axis;
  if (axis < -rank || axis >= rank) {
    return invalid_argument("axis = ", axis, " not in [", -rank, ", ", rank, ")");
  }
  shape.insert(static_cast<int>(axis < 0 ? axis + rank : axis), c.num_inputs());
  c.set_shape(0, shape);
  if (rank > 2 || !c.is_graph() || !kIndexTypes.contains(c.dtype(0))) return {};
  // Of scalars the elements of a vector, of vectors those of a matrix row by row, such as paddings.
  const Dim length = rank == 1 ? Dim(1) : c.shape(0)[0];
  if (!length.is_number()) return {};
  const bool has_columns = rank == 2 && (axis == 1 || axis == -1);
  const auto n = static_cast<size_t>(c.num_inputs()), width = static_cast<size_t>(length.number());
  if (rank == 2 && (n > kMaxRank || width > kMaxRank)) return {};
  SymbolicValue all(n * width, Dim::unknown());
  for (size_t i = 0; i < n; ++i) {
    const auto sizes = c.sizes(static_cast<int>(i));
    if (!sizes || sizes->size() != width) continue;
    for (size_t j = 0; j < width; ++j) all[has_columns ? j * n + i : i * width + j] = (*sizes)[j];
  }
  if (rank == 2 && std::ranges::all_of(all, &Dim::is_unknown)) return {};
  c.set_sizes(0, all);
  return {};
}

std::optional<Movement> pack_reads(const ReadsContext& c) {
  const int rank = c.output().rank();
  auto axis = normalized_axis(c.attrs<PackAttrs>().axis, rank);
  if (!axis.ok()) return std::nullopt;
  Read read;
  for (int i = 0; i < rank; ++i) {
    if (i != *axis) read.axes.push_back({0, {{i, 1}}});
  }
  if (c.num_inputs() == 1) return one_read(c.output(), std::move(read));
  Movement movement;
  movement.space = c.output();
  Movement::Indices start(static_cast<size_t>(rank), Dim(0));
  Movement::Indices size(c.output().dims().begin(), c.output().dims().end());
  size[*axis] = 1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    start[*axis] = i;
    movement.pieces.push_back({i, read, start, size, {}});
  }
  return movement;
}

Status pack_kernel(KernelContext& c) {
  const Tensor& out = c.output(0);
  ASSIGN_OR_RETURN(int axis, normalized_axis(c.attrs<PackAttrs>().axis, out.rank()));
  if (out.num_elements() == 0) return {};
  concat_rows(c.inputs(), product_of_sizes(out.shape(), 0, axis), out);
  return {};
}

void pack_gradient(GradientContext& c) {
  Tensors parts = c.apply(*kUnpack, {{c.dy()}},
                          UnpackAttrs{.num = c.num_inputs(), .axis = c.attrs<PackAttrs>().axis});
  for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
    if (c.wants(i)) c.set_dx(i, parts[i]);
  }
}

void batch_pack(BatchContext& c) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.repeated(i));
  apply_to_rows(c, inputs, PackAttrs{shifted_axis(c.attrs<PackAttrs>().axis)});
}

void define_pack(OpRegistry& ops) {
  kPack = ops.define<PackAttrs>({
      .name = "Pack",
      .python = "stack",
      .summary = "The values one beside another along a new axis.",
      .details = "A negative axis counts from the end of the result.",
      .inputs = {"values: N * T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = pack_shape,
      .gradient = pack_gradient,
      .batch = batch_pack,
      .body = kernel(pack_kernel),
      .reads = pack_reads,
      .default_node_name = "stack",
  });
}

// --- Unpack.

Status unpack_shape(InferContext& c) {
  const auto& attrs = c.attrs<UnpackAttrs>();
  Shape shape = c.shape(0);
  if (!shape.has_rank()) return set_unknown(c);
  const int rank = shape.rank();
  if (attrs.axis < -rank || attrs.axis >= rank) {
    return invalid_argument("axis = ", attrs.axis, " not in [", -rank, ", ", rank, ")");
  }
  const int axis = static_cast<int>(attrs.axis < 0 ? attrs.axis + rank : attrs.axis);
  if (shape[axis].is_number() && shape.size(axis) != attrs.num) {
    return invalid_argument("Input shape axis ", axis, " must equal ", attrs.num, ", got shape ",
                            shape.to_message());
  }
  shape.erase(axis);
  auto sizes = rank == 1 && c.is_graph() ? c.sizes(0) : std::nullopt;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_shape(i, shape);
    if (sizes && i < static_cast<int>(sizes->size())) c.set_sizes(i, {(*sizes)[i]});
  }
  return {};
}

// The outputs: x cut along an axis. Parts that lie together are views, if that is better than a
// copy.
Status cut_along(KernelContext& c, const Tensor& x, int axis) {
  const int64_t outer = product_of_sizes(x.shape(), 0, axis);
  int64_t first = 0;
  InlineVector<Tensor, 4> parts;
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Shape& shape = c.inferred_shape(i);
    Tensor view = outer == 1 ? view_of_elements(x, first, shape) : Tensor();
    if (view) {
      c.set_output(i, std::move(view));
    } else {
      RETURN_IF_ERROR(c.allocate_output(i, x.dtype(), shape));
      if (outer == 1) {
        copy_strided(x.dtype(), {{shape.num_elements(), 1, 1}},
                     element_at(x.dtype(), x.raw_data(), first), c.output(i).mutable_raw_data());
      }
    }
    first += shape.num_elements();
    parts.push_back(c.output(i));
  }
  if (outer != 1) split_rows(x, outer, parts);
  return {};
}

// A size that only running tells must be the number of outputs, which the kernel checks.
std::optional<Movement> unpack_reads(const ReadsContext& c) {
  const Shape& x = c.shape(0);
  auto axis = normalized_axis(c.attrs<UnpackAttrs>().axis, x.rank());
  if (!axis.ok() || !x[*axis].is_number()) return std::nullopt;
  Read read = Read::of_leading_axes(x.rank() - 1);
  read.axes.insert(read.axes.begin() + *axis, {c.output_index(), {}});
  return one_read(c.output(), std::move(read));
}

InlineVector<Tensor, 4> all_dy(GradientContext& c, int count) {
  InlineVector<Tensor, 4> all;
  for (int i = 0; i < count; ++i) all.push_back(c.dy(i));
  return all;
}

void unpack_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<UnpackAttrs>();
  if (attrs.num == 0) {
    c.set_dx(0, c(kZerosLike, {c.x(0)}));
    return;
  }
  Tensors packed = c.apply(*kPack, all_dy(c, static_cast<int>(attrs.num)), PackAttrs{attrs.axis});
  if (!packed.empty()) c.set_dx(0, packed[0]);
}

void batch_unpack(BatchContext& c) {
  UnpackAttrs attrs = c.attrs<UnpackAttrs>();
  attrs.axis = shifted_axis(attrs.axis);
  const Tensor inputs[] = {c.x(0)};
  apply_to_rows(c, inputs, attrs);
}

void define_unpack(OpRegistry& ops) {
  kUnpack = ops.define<UnpackAttrs>({
      .name = "Unpack",
      .summary = "The slices of a tensor along an axis, each without that axis.",
      .inputs = {"value: T"},
      .outputs = {"output: num * T"},
      .types = {{"T", kAllTypes}},
      .infer = unpack_shape,
      .gradient = unpack_gradient,
      .batch = batch_unpack,
      .body = kernel([](KernelContext& c) -> Status {
        const Tensor& x = c.input(0);
        ASSIGN_OR_RETURN(int axis, normalized_axis(c.attrs<UnpackAttrs>().axis, x.rank()));
        return cut_along(c, x, axis);
      }),
      .allocates_outputs = true,
      .reads = unpack_reads,
      .default_node_name = "unstack",
  });
}

// --- Split and SplitV.

// The axis that a scalar input says, -1 if it is not known now.
Result<int> axis_of(InferContext& c, int input, int rank) {
  Tensor value = c.value(input);
  if (!value) return -1;
  if (value.num_elements() != 1) {
    return invalid_argument("split_dim must be a scalar, got shape ", value.shape().to_message());
  }
  int64_t axis = integer_at(value, 0);
  if (axis < -rank || axis >= rank) {
    return invalid_argument("-input rank(-", rank, ") <= split_dim < input rank (", rank,
                            "), but got ", axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Status shape_of_unknown_axis(InferContext& c, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(Dim::unknown());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_shape(i, shape);
  return {};
}

Status split_shape(InferContext& c) {
  const int64_t n = c.attrs<SplitAttrs>().num_split;
  Shape shape = c.shape(1);
  if (n <= 0) return invalid_argument("Number of ways to split should be > 0, but got ", n);
  if (!shape.has_rank()) return set_unknown(c);
  ASSIGN_OR_RETURN(int axis, axis_of(c, 0, shape.rank()));
  if (axis < 0) return shape_of_unknown_axis(c, shape.rank());
  if (shape[axis].is_number()) {
    if (shape.size(axis) % n != 0) {
      return invalid_argument("Number of ways to split should evenly divide the split dimension, ",
                              "but got split_dim ", axis, " (size = ", shape.size(axis),
                              ") and num_split ", n);
    }
    shape.set(axis, shape.size(axis) / n);
  } else {
    shape.set(axis, c.floor_div(shape[axis], n));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_shape(i, shape);
  return {};
}

// A part along an axis, from this place on.
Movement read_of_part(const ReadsContext& c, int input, int axis, Dim from) {
  Read read = Read::of_leading_axes(c.output().rank());
  read.axes[axis].offset = from;
  return one_read(c.output(), std::move(read), input);
}

std::optional<Movement> split_reads(const ReadsContext& c) {
  const Shape& x = c.shape(1);
  if (!c.value(0)) return std::nullopt;
  auto axis = normalized_axis(integer_at(c.value(0), 0), x.rank());
  if (!axis.ok()) return std::nullopt;
  // Unless the parts make up the whole for certain, the kernel must find out.
  const Dim part = c.output()[*axis];
  if (!(c.multiply(part, c.attrs<SplitAttrs>().num_split) == x[*axis])) return std::nullopt;
  return read_of_part(c, 1, *axis, c.multiply(part, c.output_index()));
}

Status split_input(KernelContext& c, int input, int axis_input) {
  const Tensor& x = c.input(input);
  ASSIGN_OR_RETURN(int axis, normalized_axis(integer_at(c.input(axis_input), 0), x.rank()));
  return cut_along(c, x, axis);
}

void join_gradient(GradientContext& c, int count, const Tensor& axis, int input) {
  InlineVector<Tensor, 4> values = all_dy(c, count);
  values.push_back(axis);
  Tensors joined = c.apply(*kConcatV2, values, NoAttrs());
  if (!joined.empty()) c.set_dx(input, joined[0]);
}

void define_split(OpRegistry& ops) {
  kSplit = ops.define<SplitAttrs>({
      .name = "Split",
      .summary = "A tensor cut along an axis into parts of one size.",
      .inputs = {"split_dim: int32", "value: T"},
      .outputs = {"output: num_split * T"},
      .types = {{"T", kAllTypes}},
      .infer = split_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(1)) return;
            join_gradient(c, static_cast<int>(c.attrs<SplitAttrs>().num_split), c.x(0), 1);
          },
      .batch = batch_along_axis<1, 0>,
      .body = kernel([](KernelContext& c) -> Status { return split_input(c, 1, 0); }),
      .allocates_outputs = true,
      .values_for_inference = {0},
      .reads = split_reads,
      .renamed = {{"split_dim", "axis"}},
      .default_node_name = "split",
  });
}

int64_t split_size_at(const Tensor& sizes, int64_t i) {
  return sizes.dtype() == DType::kInt8 ? sizes.data<int8_t>()[i] : integer_at(sizes, i);
}

Status split_v_shape(InferContext& c) {
  const int64_t n = c.attrs<SplitAttrs>().num_split;
  Shape shape = c.shape(0);
  const Shape& sizes_shape = c.shape(1);
  if (n <= 0) return invalid_argument("Number of ways to split should be > 0, but got ", n);
  if (sizes_shape.has_rank() &&
      (sizes_shape.rank() != 1 || (sizes_shape[0].is_number() && sizes_shape.size(0) != n))) {
    return invalid_argument("size_splits must be a vector of ", n, " sizes, got shape ",
                            sizes_shape.to_message());
  }
  if (!shape.has_rank()) return set_unknown(c);
  ASSIGN_OR_RETURN(int axis, axis_of(c, 2, shape.rank()));
  if (axis < 0) return shape_of_unknown_axis(c, shape.rank());
  Tensor value = c.value(1);
  const Dim whole = shape[axis];
  if (!value) {
    auto sizes = c.dtype(1) == DType::kInt8 ? std::nullopt : c.sizes(1);
    for (int i = 0; i < c.num_outputs(); ++i) {
      bool known = sizes && i < static_cast<int>(sizes->size());
      shape.set(axis, known ? (*sizes)[i] : Dim::unknown());
      c.set_shape(i, shape);
    }
    return {};
  }
  Dim rest = whole;
  int64_t sum = 0;
  int open = -1;
  for (int i = 0; i < n; ++i) {
    int64_t size = split_size_at(value, i);
    if (size == -1 && open < 0) {
      open = i;
      continue;
    }
    if (size < 0) {
      return invalid_argument("Split size at index ", i, " must be >= 0, and only one may be -1. ",
                              "Got: ", size);
    }
    if (__builtin_add_overflow(sum, size, &sum)) {
      return invalid_argument("The sum of size_splits is beyond int64");
    }
  }
  bool fits = !whole.is_number() || (open < 0 ? sum == whole.number() : sum <= whole.number());
  if (!fits) {
    return invalid_argument("Determined shape must either match input shape along split_dim ",
                            "exactly if fully specified, or be less than the size of the input ",
                            "along split_dim if not fully specified. Got: ", sum,
                            " for a dimension of ", whole.number());
  }
  rest = whole.is_unknown() ? whole : c.subtract(c.max(whole, sum), sum);
  for (int i = 0; i < c.num_outputs(); ++i) {
    shape.set(axis, i == open ? rest : Dim(split_size_at(value, i)));
    c.set_shape(i, shape);
  }
  return {};
}

std::optional<Movement> split_v_reads(const ReadsContext& c) {
  const Shape& x = c.shape(0);
  const Tensor& sizes = c.value(1);
  if (!sizes || !c.value(2)) return std::nullopt;
  auto axis = normalized_axis(integer_at(c.value(2), 0), x.rank());
  // Of another size only running tells whether the parts fit.
  if (!axis.ok() || !x[*axis].is_number()) return std::nullopt;
  int64_t before = 0, all = 0;
  bool is_open_before = false;
  for (int i = 0; i < static_cast<int>(sizes.num_elements()); ++i) {
    const int64_t size = split_size_at(sizes, i);
    const bool is_before = i < c.output_index();
    is_open_before |= is_before && size < 0;
    all += std::max<int64_t>(size, 0);
    if (is_before) before += std::max<int64_t>(size, 0);
  }
  if (is_open_before) before += x.size(*axis) - all;
  return read_of_part(c, 0, *axis, before);
}

void define_split_v(OpRegistry& ops) {
  kSplitV = ops.define<SplitAttrs>({
      .name = "SplitV",
      .summary = "A tensor cut along an axis into parts of given sizes.",
      .details = "One size may be -1: that part gets what the others leave.",
      .inputs = {"value: T", "size_splits: Tlen", "split_dim: int32"},
      .outputs = {"output: num_split * T"},
      .types = {{"T", kAllTypes}, {"Tlen", kIndexTypes | DTypeSet{DType::kInt8}}},
      .infer = split_v_shape,
      .gradient =
          [](GradientContext& c) {
            if (!c.wants(0)) return;
            join_gradient(c, static_cast<int>(c.attrs<SplitAttrs>().num_split), c.x(2), 0);
          },
      .batch = batch_along_axis<0, 2>,
      .body = kernel([](KernelContext& c) -> Status { return split_input(c, 0, 2); }),
      .allocates_outputs = true,
      .values_for_inference = {1, 2},
      .reads = split_v_reads,
      .renamed = {{"split_dim", "axis"}},
      .default_node_name = "split",
  });
}

}  // namespace

void define_join_ops(OpRegistry& ops) {
  define_pack(ops);
  define_unpack(ops);
  define_split(ops);
  define_split_v(ops);
}

}  // namespace graven::engine
