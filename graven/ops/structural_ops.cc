#include "graven/ops/structural_ops.h"

#include <algorithm>
#include <numeric>

#include "graven/ir/bodies.h"
#include "graven/ir/body.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph.h"
#include "graven/ir/infer_call.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/ops/sizes.h"
#include "graven/ops/structural_kernels.h"
#include "graven/tensor/variant.h"

namespace graven::engine {
namespace {

// --- What several ops share.

// Output i is the very value of input i.
Status outputs_are_inputs(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_shape(i, c.shape(i));
    if (!c.is_graph()) continue;
    if (auto sizes = c.sizes(i)) c.set_sizes(i, *sizes);
    if (auto data = c.handle_data(i)) c.set_handle_data(i, *data);
  }
  return {};
}

// New tensors over the same elements: a tape tells tensors apart by their objects.
Status pass_inputs_on(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, c.input(i).with_shape(c.input(i).shape()));
  }
  return {};
}

void pass_gradients_on(GradientContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.wants(i) && c.has_dy(i)) c.set_dx(i, c.dy(i));
  }
}

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

// --- Placeholder and Const.

Status placeholder_shape(InferContext& c) {
  c.set_shape(0, c.attrs<PlaceholderAttrs>().shape);
  return {};
}

Status const_shape(InferContext& c) {
  const Tensor& value = c.attrs<ConstAttrs>().value;
  if (!value) return invalid_argument("the attribute 'value', a tensor, is not given");
  if (value.dtype() != c.attrs<ConstAttrs>().dtype) {
    return invalid_argument("the attribute 'dtype' is ", dtype_name(c.attrs<ConstAttrs>().dtype),
                            ", and that of 'value' ", dtype_name(value.dtype()));
  }
  c.set_shape(0, value.shape());
  return {};
}

// --- PreventGradient.

void refuse_gradient(GradientContext& c) {
  c.fail(Status(
      Code::kInvalidArgument,
      str_cat("Gradient explicitly disabled. Reason: ", c.attrs<PreventGradientAttrs>().message),
      ErrorKind::kLookupError));
}

// --- EnsureShape.

Status ensured_shape(InferContext& c) {
  const Shape& expected = c.attrs<EnsureShapeAttrs>().shape;
  auto both = merge_shapes(c.shape(0), expected);
  if (!both.ok()) {
    return invalid_argument("Shape of tensor ", c.shape(0).to_message(),
                            " is not compatible with expected shape ", expected.to_message());
  }
  c.set_shape(0, *both);
  if (!c.is_graph()) return {};
  if (auto sizes = c.sizes(0)) c.set_sizes(0, *sizes);
  return {};
}

// --- AddN.

Status add_n_shape(InferContext& c) {
  if (c.num_inputs() == 0) return invalid_argument("AddN needs at least one input");
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    auto merged = merge_shapes(shape, c.shape(i));
    if (!merged.ok()) {
      return invalid_argument("Inputs must all have the same shape: input 0 has shape ",
                              c.shape(0).to_message(), ", input ", i, " has shape ",
                              c.shape(i).to_message());
    }
    shape = *merged;
  }
  c.set_shape(0, shape);
  if (auto data = c.handle_data(0)) c.set_handle_data(0, *data);
  return {};
}

Scalar sum_of_all(std::span<const Scalar> x, AttrsRef) {
  Scalar sum = x[0];
  for (size_t i = 1; i < x.size(); ++i) sum = sum + x[i];
  return sum;
}

Status sum_of_variants(KernelContext& c) {
  auto sum = c.out<Ref<Resource>>(0);
  std::ranges::copy(c.in<Ref<Resource>>(0), sum.begin());
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (!(c.input(i).shape() == c.input(0).shape())) {
      return invalid_argument("Inputs must all have the same shape: input 0 has shape ",
                              c.input(0).shape().to_message(), ", input ", i, " has shape ",
                              c.input(i).shape().to_message());
    }
    RETURN_IF_ERROR(add_variants(sum, c.in<Ref<Resource>>(i), sum));
  }
  return {};
}

void add_n_gradient(GradientContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.wants(i)) c.set_dx(i, c.dy());
  }
}

// --- ZerosLike.

Status zeros_like_shape(InferContext& c) {
  if (auto data = c.handle_data(0)) c.set_handle_data(0, *data);
  return same_as_input(c);
}

// Allocated strings are empty.
Status zeros_of_objects(KernelContext& c) {
  if (c.input(0).dtype() == DType::kString) return {};
  return zeros_like_variants(c.in<Ref<Resource>>(0), c.out<Ref<Resource>>(0));
}

// --- Cast.

Status cast_shape(InferContext& c) {
  const auto& attrs = c.attrs<CastAttrs>();
  if (attrs.Truncate) {
    return unimplemented("Casting with Truncate is not supported: values are rounded to nearest");
  }
  c.set_shape(0, c.shape(0));
  bool keeps_sizes = kIndexTypes.contains(c.dtype(0)) && kIndexTypes.contains(attrs.DstT);
  if (!keeps_sizes || !c.is_graph()) return {};
  if (auto sizes = c.sizes(0)) c.set_sizes(0, *sizes);
  return {};
}

void cast_gradient(GradientContext& c) {
  if (!kDifferentiableTypes.contains(c.dtype_of_x(0))) return;
  if (!kDifferentiableTypes.contains(c.attrs<CastAttrs>().DstT)) return;
  c.set_dx(0, cast(c, c.dy(), c.dtype_of_x(0)));
}

// --- Shape, ShapeN, Size, Rank.

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

Status size_shape(InferContext& c) {
  c.set_shape(0, Shape());
  if (!c.shape(0).has_rank()) return {};
  Dim size(1);
  for (Dim dim : c.shape(0).dims()) size = c.multiply(size, dim);
  c.set_sizes(0, {size});
  return {};
}

Status size_kernel(KernelContext& c) {
  const int64_t size = c.input(0).num_elements();
  return give_integers(c, 0, {&size, 1});
}

Status rank_shape(InferContext& c) {
  c.set_shape(0, Shape());
  if (c.shape(0).has_rank()) c.set_sizes(0, {Dim(c.shape(0).rank())});
  return {};
}

Status rank_kernel(KernelContext& c) {
  const int64_t rank = c.input(0).rank();
  return give_integers(c, 0, {&rank, 1});
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

void fill_gradient(GradientContext& c) {
  if (!c.wants(1)) return;
  const int32_t flat[] = {-1}, all[] = {0};
  c.set_dx(1, c(kSum, {c(kReshape, {c.dy(), int32_vector(c, flat)}), int32_vector(c, all)}));
}

// --- Reshape.

// What is left of a product of sizes when equal ones are struck out of both lists: the size that
// -1 stands for is the quotient of the rest.
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
  if (divisor == Dim(0)) return Dim::unknown();
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
  if (!c.is_graph() || out.rank() > 1) return {};
  if (auto value = c.sizes(0)) c.set_sizes(0, *value);
  return {};
}

Status reshape_kernel(KernelContext& c) {
  c.set_output(0, c.input(0).with_shape(c.output(0).shape()));
  return {};
}

void reshape_gradient(GradientContext& c) { c.set_dx(0, c(kReshape, {c.dy(), c.shape_of_x(0)})); }

// --- ConcatV2.

Status concat_shape(InferContext& c) {
  const int n = c.num_inputs() - 1;
  if (n == 0) return invalid_argument("ConcatV2 needs at least one value");
  int rank = -1;
  for (int i = 0; i < n; ++i) {
    if (!c.shape(i).has_rank()) continue;
    if (c.shape(i).rank() == 0) {
      return invalid_argument("Can't concatenate scalars (use tf.stack instead)");
    }
    if (rank >= 0 && c.shape(i).rank() != rank) {
      return invalid_argument(
          "Ranks of all inputs should match: shape[0] = ", c.shape(0).to_message(), " vs. shape[",
          i, "] = ", c.shape(i).to_message());
    }
    rank = c.shape(i).rank();
  }
  Tensor axis_value = c.value(n);
  if (rank < 0 || !axis_value) {
    Shape out = Shape::unknown_rank();
    if (rank >= 0) out = Shape();
    for (int i = 0; i < rank; ++i) out.push_back(Dim::unknown());
    c.set_shape(0, out);
    return {};
  }
  if (axis_value.num_elements() != 1) {
    return invalid_argument("axis must be a scalar, got shape ", axis_value.shape().to_message());
  }
  int64_t given_axis = integer_at(axis_value, 0);
  if (given_axis < -rank || given_axis >= rank) {
    return invalid_argument("ConcatOp : Expected concatenating dimensions in the range [", -rank,
                            ", ", rank, "), but got ", given_axis);
  }
  int axis = static_cast<int>(given_axis < 0 ? given_axis + rank : given_axis);
  Shape out;
  for (int d = 0; d < rank; ++d) {
    Dim size = d == axis ? Dim(0) : Dim::unknown();
    for (int i = 0; i < n; ++i) {
      Dim next = c.shape(i).has_rank() ? c.shape(i)[d] : Dim::unknown();
      if (d == axis) {
        size = c.add(size, next);
        continue;
      }
      auto merged = c.merge(size, next);
      if (!merged.ok()) {
        return invalid_argument("ConcatOp : Dimension ", d, " in both shapes must be equal: ",
                                "shape[0] = ", c.shape(0).to_message(), " vs. shape[", i,
                                "] = ", c.shape(i).to_message());
      }
      size = *merged;
    }
    out.push_back(size);
  }
  c.set_shape(0, out);
  if (rank != 1 || !c.is_graph()) return {};
  SymbolicValue all;
  for (int i = 0; i < n; ++i) {
    auto part = c.sizes(i);
    if (!part) return {};
    for (Dim dim : *part) all.push_back(dim);
  }
  c.set_sizes(0, all);
  return {};
}

// The pieces of dy, cut where the values were joined.
void concat_gradient(GradientContext& c) {
  const int n = c.num_inputs() - 1;
  Tensor axis = c.x(n);
  Tensor known_axis = known_value(axis);
  std::vector<Size> sizes;
  for (int i = 0; i < n; ++i) {
    const Shape& x = c.static_shape_of_x(i);
    if (known_axis && x.has_rank()) {
      auto at = normalized_axis(integer_at(known_axis, 0), x.rank());
      if (!at.ok()) return c.fail(at.status());
      Dim size = x[*at];
      sizes.push_back(size.is_number() ? Size(size.number())
                                       : Size(element_of(c, c.shape_of_x(i), *at)));
    } else {
      Tensor shape = c.shape_of_x(i);
      Tensor rank = c(kSize, {shape});
      Tensor at = c(kFloorMod, {cast(c, axis, DType::kInt32), rank});
      sizes.push_back(Size(c(kGatherV2, {shape, at, constant(c, Tensor::scalar<int32_t>(0))})));
    }
  }
  Tensors pieces = c.apply(*kSplitV, {{c.dy(), vector_of(c, sizes), cast(c, axis, DType::kInt32)}},
                           SplitAttrs{n});
  for (int i = 0; i < static_cast<int>(pieces.size()); ++i) {
    if (c.wants(i)) c.set_dx(i, pieces[i]);
  }
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
    // Any size but 1 can only stay what it is.
    if (x[i].is_number() && x[i] != Dim(1) && out[at].is_unknown()) out.set(at, x[i]);
  }
  c.set_shape(0, out);
  if (!fits) {
    return invalid_argument("Incompatible shapes: ", x.to_message(), " vs. ", out.to_message());
  }
  return {};
}

void broadcast_to_gradient(GradientContext& c) { c.set_dx(0, reduce_to_shape(c, c.dy(), 0)); }

Status two_vectors(InferContext& c) {
  for (int i = 0; i < 2; ++i) c.set_shape(i, {Dim::unknown()});
  return {};
}

// --- UnsortedSegmentSum.

Status segment_sum_shape(InferContext& c) {
  const Shape &data = c.shape(0), &ids = c.shape(1);
  if (!data.has_rank() || !ids.has_rank()) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) fits = c.merge(data[i], ids[i]).ok();
  if (!fits) {
    return invalid_argument("data.shape = ", data.to_message(),
                            " does not start with segment_ids.shape = ", ids.to_message());
  }
  if (c.shape(2).has_rank() && c.shape(2).rank() != 0) {
    return invalid_argument("num_segments must be a scalar, got shape ", c.shape(2).to_message());
  }
  auto num_segments = c.sizes(2);
  if (Tensor value = c.value(2); value && integer_at(value, 0) < 0) {
    return invalid_argument("num_segments must be >= 0, got ", integer_at(value, 0));
  }
  Shape out = {num_segments ? (*num_segments)[0] : Dim::unknown()};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  c.set_shape(0, out);
  return {};
}

// Each row has the gradient of the sum that it went into, none if it was dropped. A vector of
// conditions chooses rows, whatever the rank of the rest.
void segment_sum_gradient(GradientContext& c) {
  const int32_t flat[] = {-1};
  Formula id(c, c(kReshape, {c.x(1), int32_vector(c, flat)}));
  if (id.dtype() == DType::kInt16) id = Formula(c, cast(c, id, DType::kInt32));
  Formula zero = constant_like(id, 0);
  Tensor axis = constant(c, Tensor::scalar<int32_t>(0));
  Tensor rows = c(kGatherV2, {c.dy(), call(kMaximum, id, zero), axis});
  Tensor kept = c(kSelect, {call(kGreaterEqual, id, zero), rows, c(kZerosLike, {rows})});
  c.set_dx(0, c(kReshape, {kept, c.shape_of_x(0)}));
}

// The optimiser, which makes a Fusion, says its shapes.
Status fusion_shapes(InferContext& c) {
  if (!c.attrs<FusionAttrs>().fusion) return invalid_argument("only the optimiser fuses");
  return unknown_outputs(c);
}

}  // namespace

void define_structural_ops(OpRegistry& ops) {
  // --- What is fed, what is known.

  kPlaceholder = ops.define<PlaceholderAttrs>({
      .name = "Placeholder",
      .summary = "A value that is fed when the graph runs.",
      .outputs = {"output: dtype"},
      .types = {{"dtype", kAllTypes}},
      .infer = placeholder_shape,
  });
  kConst = ops.define<ConstAttrs>({
      .name = "Const",
      .summary = "A constant tensor.",
      .outputs = {"output: dtype"},
      .types = {{"dtype", kAllTypes}},
      .infer = const_shape,
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        c.set_output(0, c.attrs<ConstAttrs>().value);
        return {};
      }),
  });
  kNoOp = ops.define<NoAttrs>({
      .name = "NoOp",
      .python = "no_op",
      .summary = "Does nothing: a place for control dependencies to meet.",
      .infer = no_outputs,
      .body = kernel([](KernelContext&) -> Status { return {}; }),
  });

  // --- Identities.

  kIdentity = ops.define<NoAttrs>({
      .name = "Identity",
      .python = "identity",
      .summary = "The input itself.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = outputs_are_inputs,
      .gradient = pass_gradients_on,
      .body = kernel(pass_inputs_on),
      .view_of = 0,
      .passes_on = passes_on_input_0,
  });
  kIdentityN = ops.define<IdentityNAttrs>({
      .name = "IdentityN",
      .summary = "All inputs themselves, of any dtypes and shapes.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .infer = outputs_are_inputs,
      .gradient = pass_gradients_on,
      .body = kernel(pass_inputs_on),
  });
  kStopGradient = ops.define<NoAttrs>({
      .name = "StopGradient",
      .python = "stop_gradient",
      .summary = "The input itself, through which no gradient flows.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = outputs_are_inputs,
      .gradient = not_differentiable,
      .body = kernel(pass_inputs_on),
      .view_of = 0,
      .passes_on = passes_on_input_0,
  });
  ops.define(kPreventGradient,
             {
                 .name = "PreventGradient",
                 .summary = "The input itself, of which asking for a gradient is a LookupError.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kAllTypes}},
                 .infer = outputs_are_inputs,
                 .gradient = refuse_gradient,
                 .body = kernel(pass_inputs_on),
                 .view_of = 0,
                 .passes_on = passes_on_input_0,
             });
  ops.define(
      kEnsureShape,
      {
          .name = "EnsureShape",
          .summary =
              "The input itself, whose shape is checked, when tracing as far as it is known then.",
          .inputs = {"input: T"},
          .outputs = {"output: T"},
          .types = {{"T", kAllTypes}},
          .infer = ensured_shape,
          .gradient = pass_gradients_on,
          .body = kernel(pass_inputs_on),
          .view_of = 0,
      });

  // --- Zeros, ones, sums, casts.

  kAddN = ops.define<NoAttrs>({
      .name = "AddN",
      .python = "math.add_n, add_n",
      .summary = "The sum of tensors of one shape and dtype, added in order.",
      .inputs = {"inputs: N * T"},
      .outputs = {"sum: T"},
      .types = {{"T", kNumberTypes | DTypeSet{DType::kVariant}}},
      .infer = add_n_shape,
      .gradient = add_n_gradient,
      .body = elementwise_body(sum_of_all).with_kernel_for({DType::kVariant}, sum_of_variants),
      .passes_on = [](std::span<const DType> inputs,
                      AttrsRef) { return inputs.size() == 1 ? 0 : -1; },
      .commutative = true,
  });
  kZerosLike = ops.define<NoAttrs>({
      .name = "ZerosLike",
      .summary = "Zeros (false, empty strings) of the dtype and shape of x.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString, DType::kVariant}}},
      .infer = zeros_like_shape,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) {
                return zero_like(x);
              }).with_kernel_for({DType::kString, DType::kVariant}, zeros_of_objects),
  });
  kOnesLike = ops.define<NoAttrs>({
      .name = "OnesLike",
      .summary = "Ones (true) of the dtype and shape of x.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kPlainTypes}},
      .infer = same_as_input,
      .gradient = not_differentiable,
      .body = elementwise([](auto x) { return one_like(x); }),
  });
  ops.define(
      kCast,
      {
          .name = "Cast",
          .summary = "The elements of x as another dtype.",
          .details =
              "Floats are rounded to nearest, and truncated towards zero to become integers, "
              "where values out of range give any number. Of a complex number the real part is "
              "taken. Anything but zero is true.",
          .inputs = {"x: SrcT"},
          .outputs = {"y: DstT"},
          .types = {{"SrcT", kPlainTypes}, {"DstT", kPlainTypes}},
          .infer = cast_shape,
          .gradient = cast_gradient,
          .body =
              elementwise<CastAttrs>([](const CastAttrs& a, auto x) { return cast(x, a.DstT); }),
          .passes_on =
              [](std::span<const DType> inputs, AttrsRef attrs) {
                return inputs[0] == attrs.as<CastAttrs>().DstT ? 0 : -1;
              },
      });
  ops.define(kFill,
             {
                 .name = "Fill",
                 .python = "fill",
                 .summary = "A tensor of the given shape, all of whose elements are one value.",
                 .inputs = {"dims: index_type", "value: T"},
                 .outputs = {"output: T"},
                 .types = {{"index_type", kIndexTypes}, {"T", kAllTypes}},
                 .infer = fill_shape,
                 .gradient = fill_gradient,
                 .body = kernel(fill_kernel),
                 .values_for_inference = {0},
                 .reads = fill_reads,
             });

  // --- Shapes.

  kShape = ops.define<ShapeAttrs>({
      .name = "Shape",
      .summary = "The shape of the input, as a vector.",
      .inputs = {"input: T"},
      .outputs = {"output: out_type"},
      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
      .infer = shapes_of_inputs,
      .gradient = not_differentiable,
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
      .body = kernel(shape_kernel),
  });
  kSize = ops.define<ShapeAttrs>({
      .name = "Size",
      .python = "size",
      .summary = "The number of elements of the input.",
      .inputs = {"input: T"},
      .outputs = {"output: out_type"},
      .types = {{"T", kAllTypes}, {"out_type", kIndexTypes}},
      .infer = size_shape,
      .gradient = not_differentiable,
      .body = kernel(size_kernel),
  });
  kRank = ops.define<NoAttrs>({
      .name = "Rank",
      .python = "rank",
      .summary = "The number of dimensions of the input.",
      .inputs = {"input: T"},
      .outputs = {"output: int32"},
      .types = {{"T", kAllTypes}},
      .infer = rank_shape,
      .gradient = not_differentiable,
      .body = kernel(rank_kernel),
  });
  kReshape = ops.define<NoAttrs>({
      .name = "Reshape",
      .python = "reshape",
      .summary = "The elements of a tensor, in order, under another shape.",
      .details = "One size may be -1: it is found from the others.",
      .inputs = {"tensor: T", "shape: Tshape"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tshape", kIndexTypes}},
      .infer = reshaped,
      .gradient = reshape_gradient,
      .body = kernel(reshape_kernel),
      .values_for_inference = {1},
      .view_of = 0,
      .views_any_shape = true,
      .reads = reshape_reads,
  });
  ops.define(kBroadcastTo,
             {
                 .name = "BroadcastTo",
                 .python = "broadcast_to",
                 .summary = "The input repeated along axes of size 1, and along new leading axes.",
                 .inputs = {"input: T", "shape: Tidx"},
                 .outputs = {"output: T"},
                 .types = {{"T", kAllTypes}, {"Tidx", kIndexTypes}},
                 .infer = broadcast_to_shape,
                 .gradient = broadcast_to_gradient,
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
          .infer = two_vectors,
          .gradient = not_differentiable,
          .body = kernel(broadcast_gradient_args_kernel),
      });

  // --- Movement that gradients of slices need.

  kConcatV2 = ops.define<NoAttrs>({
      .name = "ConcatV2",
      .python = "concat",
      .summary = "The values one after another along an axis.",
      .inputs = {"values: N * T", "axis: Tidx"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}, {"Tidx", kIndexTypes}},
      .infer = concat_shape,
      .gradient = concat_gradient,
      .body = kernel(concat_kernel),
      .values_for_inference = {-1},
      .reads = concat_reads,
      .default_node_name = "concat",
  });
  ops.define(kUnsortedSegmentSum,
             {
                 .name = "UnsortedSegmentSum",
                 .python = "math.unsorted_segment_sum",
                 .summary = "output[i] is the sum of the rows of data whose segment id is i.",
                 .details = "Rows of a negative id are dropped; a segment without rows is 0.",
                 .inputs = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"},
                 .outputs = {"output: T"},
                 .types = {{"T", kNumberTypes},
                           {"Tindices", kIndexTypes | DTypeSet{DType::kInt16}},
                           {"Tnumsegments", kIndexTypes}},
                 .infer = segment_sum_shape,
                 .gradient = segment_sum_gradient,
                 .body = kernel(unsorted_segment_sum_kernel),
                 .values_for_inference = {2},
             });

  kFusion = ops.define<FusionAttrs>({
      .name = "Fusion",
      .summary = "Scalar bodies of ops, and reductions among them, computed together. Only the "
                 "optimiser makes it.",
      .inputs = {"args: Tin"},
      .outputs = {"results: Tout"},
      .infer = fusion_shapes,
  });

  // --- Calls. Their gradients are calls of the gradient pair's halves, which autodiff makes.

  kPartitionedCall = ops.define<CallAttrs>({
      .name = "PartitionedCall",
      .summary = "Calls a function without effects.",
      .inputs = {"args: Tin"},
      .outputs = {"output: Tout"},
      .infer = infer_call,
      .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}},
  });
  ops.define(kStatefulPartitionedCall,
             {
                 .name = "StatefulPartitionedCall",
                 .summary = "Calls a function; its effects are those of its body.",
                 .inputs = {"args: Tin"},
                 .outputs = {"output: Tout"},
                 .infer = infer_call,
                 .effects = effects_of_bodies,
                 .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}},
             });
}

}  // namespace graven::engine
