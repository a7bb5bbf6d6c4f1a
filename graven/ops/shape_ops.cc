#include "graven/ops/shape_ops.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/sizes.h"
#include "graven/ops/structural_kernels.h"

namespace graven::engine {
namespace {

// --- Shape, ShapeN, Size, Rank.

template <typename T>
void write_integers(std::span<const int64_t> values, const Tensor& out) {
  auto to = out.mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
}

// Integers as the elements of an output of dtype int32 or int64.
Status give_integers(KernelContext& c, int output, std::span<const int64_t> values) {
  const Tensor& out = c.output(output);
  if (out.dtype() == DType::kInt64) {
    write_integers<int64_t>(values, out);
    return {};
  }
  for (int64_t value : values) {
    if (value > std::numeric_limits<int32_t>::max()) {
      return invalid_argument("A size of ", value, " does not fit into int32; ask for int64");
    }
  }
  write_integers<int32_t>(values, out);
  return {};
}

Status shapes_of_inputs(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Shape& x = c.shape(i);
    c.set_shape(i, {x.has_rank() ? Dim(x.rank()) : Dim::unknown()});
    if (!x.has_rank()) continue;
    SymbolicValue sizes;
    for (Dim dim : x.dims()) sizes.push_back(dim);
    c.set_sizes(i, sizes);
  }
  return {};
}

Status shape_kernel(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    InlineVector<int64_t, 6> sizes;
    for (Dim dim : c.input(i).shape().dims()) sizes.push_back(dim.number());
    RETURN_IF_ERROR(give_integers(c, i, {sizes.data(), sizes.size()}));
  }
  return {};
}

// Shapes are the same for all rows.
void batch_shapes(BatchContext& c) {
  const DType dtype = c.attrs<ShapeAttrs>().out_type;
  for (int i = 0; i < c.num_inputs(); ++i) {
    c.set_y(i, cast(c, row_sizes(c, i), dtype), /*is_batched=*/false);
  }
}

void define_shape_and_shape_n(OpRegistry& ops) {
  kShape = ops.define<ShapeAttrs>({
      .name = "Shape",
      .summary = "The shape of the input, as a vector.",
      .inputs = {"input: T"},
      .outputs = {"output: out_type"},
      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
      .infer = shapes_of_inputs,
      .gradient = not_differentiable,
      .batch = batch_shapes,
      .body = kernel(shape_kernel),
  });
  kShapeN = ops.define<ShapeAttrs>({
      .name = "ShapeN",
      .python = "shape_n",
      .summary = "The shapes of the inputs, each as a vector.",
      .inputs = {"input: N * T"},
      .outputs = {"output: N * out_type"},
      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
      .infer = shapes_of_inputs,
      .gradient = not_differentiable,
      .batch = batch_shapes,
      .body = kernel(shape_kernel),
  });
}

Status size_shape(InferContext& c) {
  c.set_shape(0, Shape());
  if (!c.shape(0).has_rank()) return {};
  Dim size(1);
  for (Dim dim : c.shape(0).dims()) size = c.multiply(size, dim);
  c.set_sizes(0, {size});
  return {};
}

void batch_size(BatchContext& c) {
  const Size size = product_of(c, row_sizes(c, 0));
  c.set_y(0, cast(c, size.tensor(c), c.attrs<ShapeAttrs>().out_type), /*is_batched=*/false);
}

void batch_rank(BatchContext& c) {
  const auto rank = c.rank(0);
  const Tensor one = c.constant(Tensor::scalar<int32_t>(1));
  c.set_y(0,
          rank ? c.constant(Tensor::scalar(static_cast<int32_t>(*rank)))
               : c(kSub, {c(kRank, {c.x(0)}), one}),
          /*is_batched=*/false);
}

void define_size_and_rank(OpRegistry& ops) {
  kSize = ops.define<ShapeAttrs>({
      .name = "Size",
      .python = "size",
      .summary = "The number of elements of the input.",
      .inputs = {"input: T"},
      .outputs = {"output: out_type"},
      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
      .infer = size_shape,
      .gradient = not_differentiable,
      .batch = batch_size,
      .body = kernel([](KernelContext& c) -> Status {
        const int64_t size = c.input(0).num_elements();
        return give_integers(c, 0, {&size, 1});
      }),
  });
  kRank = ops.define<NoAttrs>({
      .name = "Rank",
      .python = "rank",
      .summary = "The number of dimensions of the input.",
      .inputs = {"input: T"},
      .outputs = {"output: int32"},
      .types = {{"T", kAllTypes}},
      .infer = [](InferContext& c) -> Status {
        c.set_shape(0, Shape());
        if (c.shape(0).has_rank()) c.set_sizes(0, {Dim(c.shape(0).rank())});
        return {};
      },
      .gradient = not_differentiable,
      .batch = batch_rank,
      .body = kernel([](KernelContext& c) -> Status {
        const int64_t rank = c.input(0).rank();
        return give_integers(c, 0, {&rank, 1});
      }),
  });
}

// --- Fill.

Status fill_shape(InferContext& c) {
  if (c.shape(1).has_rank() && c.shape(1).rank() != 0) {
    return invalid_argument("value must be a scalar, got shape ", c.shape(1).to_message());
  }
  ASSIGN_OR_RETURN(Shape shape, shape_from_input(c, 0));
  c.set_shape(0, shape);
  return {};
}

void batch_fill(BatchContext& c) {
  const Shape& shape = c.row_shape_of_y(0);
  if (c.is_batched(0) || !shape.has_rank()) return c.use_loop();
  // The value of a row is a scalar, whether that is known or not: [rows, 1, ...].
  const auto rows = c.num_rows_if_known();
  SizeList sizes(static_cast<size_t>(shape.rank()) + 1, Size(1));
  sizes[0] = rows ? Size(*rows) : Size(c.num_rows());
  const Tensor values = c(kReshape, {c.x(1), vector_of(c, sizes)});
  c.set_y(0, c(kBroadcastTo, {values, with_rows_in_front(c, 0)}));
}

void define_fill(OpRegistry& ops) {
  ops.define(kFill,
             {
                 .name = "Fill",
                 .summary = "A tensor of the given shape, all of whose elements are one value.",
                 .inputs = {"dims: index_type", "value: T"},
                 .outputs = {"output: T"},
                 .types = {{"index_type", kIndexTypes}, {"T", kAllTypes}},
                 .infer = fill_shape,
                 .gradient =
                     [](GradientContext& c) {
                       if (!c.wants(1)) return;
                       const int32_t flat[] = {-1}, all[] = {0};
                       c.set_dx(1, c(kSum, {c(kReshape, {c.dy(), int32_vector(c, flat)}),
                                            int32_vector(c, all)}));
                     },
                 .batch = batch_fill,
                 .body = kernel(fill_kernel),
                 .values_for_inference = {0},
                 .reads = fill_reads,
             });
}

// --- Reshape.

// The size that -1 stands for beside sizes of 0, of an empty tensor: zeros do not count on either
// side, so that [0, 6] as [0, -1, 3] is [0, 2, 3].
Dim missing_size_beside_zero(std::span<const Dim> have, std::span<const Dim> wanted) {
  int64_t product = 1, divisor = 1;
  bool is_empty = false;
  for (Dim dim : have) {
    if (!dim.is_number()) return Dim::unknown();
    is_empty |= dim.number() == 0;
    if (dim.number() != 0) product *= dim.number();
  }
  for (Dim dim : wanted) {
    if (!dim.is_number()) return Dim::unknown();
    if (dim.number() != 0) divisor *= dim.number();
  }
  return is_empty ? Dim(product / divisor) : Dim::unknown();
}

// The size for -1. Equal sizes are struck from both lists first, so that unknown ones cancel; the
// result is the quotient of the remaining products.
Dim missing_size(InferContext& c, std::span<const Dim> have, std::span<const Dim> wanted) {
  InlineVector<Dim, 6> rest(have);
  Dim divisor(1);
  for (Dim dim : wanted) {
    auto* same = std::find(rest.begin(), rest.end(), dim);
    if (same != rest.end() && !dim.is_unknown() && dim != Dim(0)) {
      rest.erase(same);
    } else {
      divisor = c.multiply(divisor, dim);
    }
  }
  Dim product(1);
  for (Dim dim : rest) product = c.multiply(product, dim);
  if (divisor == Dim(1)) return product;
  if (divisor == Dim(0)) return missing_size_beside_zero(have, wanted);
  return c.floor_div(product, divisor);
}

Status reshaped(InferContext& c) {
  const Shape& x = c.shape(0);
  if (c.shape(1).has_rank() && c.shape(1).rank() != 1) {
    return invalid_argument("shape must be a vector of integers, got shape ",
                            c.shape(1).to_message());
  }
  if (c.shape(1).has_rank() && c.shape(1)[0].is_number() && c.shape(1).size(0) > kMaxRank) {
    return invalid_argument("a shape of ", c.shape(1).size(0), " dimensions: there are at most ",
                            kMaxRank);
  }
  auto sizes = c.sizes(1);
  if (!sizes) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  int inferred = -1;
  if (Tensor value = c.value(1)) {
    for (int i = 0; i < static_cast<int>(value.num_elements()); ++i) {
      int64_t size = integer_at(value, i);
      if (size == -1 && inferred >= 0) {
        return invalid_argument("Only one input size may be -1, not both ", inferred, " and ", i);
      }
      if (size == -1) inferred = i;
      if (size < -1) return invalid_argument("Size ", i, " must be non-negative, not ", size);
    }
  }
  Shape out{std::span<const Dim>(*sizes)};
  auto is_unknown = [](Dim dim) { return dim.is_unknown(); };
  bool input_is_known = x.has_rank() && std::none_of(x.dims().begin(), x.dims().end(), is_unknown);
  int num_unknown = static_cast<int>(std::count_if(sizes->begin(), sizes->end(), is_unknown));
  if (input_is_known && num_unknown == 1) {
    // It is -1, or a size that must fit for the reshape to succeed.
    int at =
        static_cast<int>(std::find_if(sizes->begin(), sizes->end(), is_unknown) - sizes->begin());
    SymbolicValue others = *sizes;
    others.erase(others.begin() + at);
    out.set(at, missing_size(c, x.dims(), others));
  }
  auto have = x.checked_num_elements(), want = out.checked_num_elements();
  if (x.is_fully_known() && !out.is_fully_known() && inferred >= 0 && num_unknown == 1) {
    return invalid_argument(
        "reshape cannot infer the missing input size for an empty tensor "
        "unless all specified input sizes are non-zero");
  }
  if (out.is_fully_known() && !want) {
    return invalid_argument("Shape ", out.to_message(), " has too many elements");
  }
  if (have && want && *have != *want) {
    if (inferred >= 0) {
      Dim others = 1;
      for (int i = 0; i < out.rank(); ++i) {
        if (i != inferred) others = c.multiply(others, out[i]);
      }
      return invalid_argument("Input to reshape is a tensor with ", *have,
                              " values, but the requested shape requires a multiple of ",
                              others.number());
    }
    return invalid_argument("Input to reshape is a tensor with ", *have,
                            " values, but the requested shape has ", *want, ": cannot reshape ",
                            x.to_message(), " to ", out.to_message());
  }
  c.set_shape(0, out);
  if (!c.is_graph() || out.rank() > 2) return {};
  const auto value = c.sizes(0);
  // Few matrices hold sizes, such as paddings.
  if (value && (out.rank() < 2 || !std::ranges::all_of(*value, is_unknown))) {
    c.set_sizes(0, *value);
  }
  return {};
}

// A size of -1 that is known is written out: no rows do not tell it.
void batch_reshape(BatchContext& c) {
  if (gives_up_if_batched(c, {1})) return;
  const Shape& row = c.row_shape_of_y(0);
  if (!row.is_fully_known()) {
    return c.set_y(0, c(kReshape, {c.x(0), with_rows_in_front(c, 1)}));
  }
  SizeList sizes;
  const auto rows = c.num_rows_if_known();
  sizes.push_back(rows ? Size(*rows) : Size(c.num_rows()));
  for (int d = 0; d < row.rank(); ++d) sizes.emplace_back(row.size(d));
  c.set_y(0, c(kReshape, {c.x(0), vector_of(c, sizes)}));
}

void define_reshape(OpRegistry& ops) {
  kReshape = ops.define<NoAttrs>({
      .name = "Reshape",
      .summary = "The elements of a tensor, in order, under another shape.",
      .details = "One size may be -1: it is found from the others.",
      .inputs = {"tensor: T", "shape: Tshape"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tshape", kIndexTypes}},
      .infer = reshaped,
      .gradient =
          [](GradientContext& c) {
            c.set_dx(0, c(kReshape, {c.dy(), c.shape_of_x(0)}));
          },
      .batch = batch_reshape,
      .body = kernel([](KernelContext& c) -> Status {
        c.set_output(0, c.input(0).with_shape(c.output(0).shape()));
        return {};
      }),
      .values_for_inference = {1},
      .view_of = 0,
      .views_any_shape = true,
      .reads = reshape_reads,
  });
}

// --- BroadcastTo and BroadcastGradientArgs.

Status broadcast_to_shape(InferContext& c) {
  ASSIGN_OR_RETURN(Shape out, shape_from_input(c, 1));
  const Shape& x = c.shape(0);
  c.set_shape(0, out);
  if (!out.has_rank() || !x.has_rank()) return {};
  bool fits = x.rank() <= out.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    const int at = out.rank() - x.rank() + i;
    fits = x[i] == Dim(1) || !x[i].is_number() || !out[at].is_number() || x[i] == out[at];
    // Only a size of 1 can change.
    if (x[i].is_number() && x[i] != Dim(1) && out[at].is_unknown()) out.set(at, x[i]);
  }
  c.set_shape(0, out);
  if (!fits) {
    return invalid_argument("Incompatible shapes: ", x.to_message(), " vs. ", out.to_message());
  }
  return {};
}

void batch_broadcast_to(BatchContext& c) {
  const Shape& shape = c.row_shape_of_y(0);
  if (c.is_batched(1) || !shape.has_rank()) return c.use_loop();
  const Tensor x = c.aligned(0, shape.rank());
  if (!c.uses_loop()) c.set_y(0, c(kBroadcastTo, {x, with_rows_in_front(c, 1)}));
}

void define_broadcast_to_and_kin(OpRegistry& ops) {
  ops.define(kBroadcastTo,
             {
                 .name = "BroadcastTo",
                 .summary = "The input repeated along axes of size 1, and along new leading axes.",
                 .inputs = {"input: T", "shape: Tidx"},
                 .outputs = {"output: T"},
                 .types = {{"T", kAllTypes}, {"Tidx", kIndexTypes}},
                 .infer = broadcast_to_shape,
                 .gradient = [](GradientContext& c) { c.set_dx(0, reduce_to_shape(c, c.dy(), 0)); },
                 .batch = batch_broadcast_to,
                 .body = kernel(broadcast_to_kernel),
                 .values_for_inference = {1},
                 .reads = broadcast_to_reads,
             });
  ops.define(
      kBroadcastGradientArgs,
      {
          .name = "BroadcastGradientArgs",
          .summary = "The axes over which gradients of inputs of shapes s0 and s1, which were "
                     "broadcast together, must be summed.",
          .inputs = {"s0: T", "s1: T"},
          .outputs = {"r0: T", "r1: T"},
          .types = {{"T", kIndexTypes}},
          .infer = [](InferContext& c) -> Status {
            for (int i = 0; i < 2; ++i) c.set_shape(i, {Dim::unknown()});
            return {};
          },
          .gradient = not_differentiable,
          .body = kernel(broadcast_gradient_args_kernel),
      });
}

// --- BroadcastArgs.

Status broadcast_args_shape(InferContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.shape(i).has_rank() && c.shape(i).rank() != 1) {
      return invalid_argument("In[", i, "] must be a vector.", c.shape(i).to_message());
    }
  }
  auto s0 = c.sizes(0), s1 = c.sizes(1);
  if (!s0 || !s1) {
    c.set_shape(0, {Dim::unknown()});
    return {};
  }
  c.set_shape(0, {Dim(static_cast<int64_t>(std::max(s0->size(), s1->size())))});
  if (!c.is_graph()) return {};
  // Where a size is not known or does not fit, the kernel finds out, if it ever runs.
  const bool first_is_longer = s0->size() >= s1->size();
  SymbolicValue sizes = first_is_longer ? *s0 : *s1;
  const SymbolicValue& others = first_is_longer ? *s1 : *s0;
  for (size_t i = 0; i < others.size(); ++i) {
    Dim& size = sizes[sizes.size() - 1 - i];
    const Dim other = others[others.size() - 1 - i];
    if (size == Dim(1)) {
      size = other;
    } else if (other != Dim(1) && other != size) {
      size = Dim::unknown();
    }
  }
  c.set_sizes(0, sizes);
  return {};
}

// "[2,3]".
std::string vector_text(const Tensor& vector) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < vector.num_elements(); ++i) all.push_back(integer_at(vector, i));
  return str_cat("[", str_join(all, ","), "]");
}

Status broadcast_args_kernel(KernelContext& c) {
  const Tensor *longer = &c.input(0), *shorter = &c.input(1);
  if (longer->num_elements() < shorter->num_elements()) std::swap(longer, shorter);
  const int64_t rank = longer->num_elements(), offset = rank - shorter->num_elements();
  std::vector<int64_t> sizes(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t a = integer_at(*longer, i), b = i < offset ? 1 : integer_at(*shorter, i - offset);
    if (a != b && a != 1 && b != 1) {
      return invalid_argument("Incompatible shapes: ", vector_text(c.input(0)), " vs. ",
                              vector_text(c.input(1)));
    }
    sizes[i] = a == 1 ? b : a;
  }
  RETURN_IF_ERROR(c.allocate_output(0, longer->dtype(), Shape{rank}));
  return give_integers(c, 0, sizes);
}

void define_broadcast_args(OpRegistry& ops) {
  ops.define(kBroadcastArgs, {
                                 .name = "BroadcastArgs",
                                 .summary = "The shape to which the shapes s0 and s1 broadcast.",
                                 .inputs = {"s0: T", "s1: T"},
                                 .outputs = {"r0: T"},
                                 .types = {{"T", kIndexTypes}},
                                 .infer = broadcast_args_shape,
                                 .body = kernel(broadcast_args_kernel),
                                 .allocates_outputs = true,
                             });
}

}  // namespace

void define_shape_ops(OpRegistry& ops) {
  define_shape_and_shape_n(ops);
  define_size_and_rank(ops);
  define_fill(ops);
  define_reshape(ops);
  define_broadcast_to_and_kin(ops);
  define_broadcast_args(ops);
}

}  // namespace graven::engine
