#include "graven/ops/structural_ops.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "graven/ir/batch_context.h"
#include "graven/ir/bodies.h"
#include "graven/ir/fusion.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_call.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/formulas.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/shape_rules.h"
#include "graven/tensor/variant.h"

namespace graven::engine {
namespace {

// --- Identities.

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

// --- Placeholders and constants.

void define_placeholder(OpRegistry& ops) {
  kPlaceholder = ops.define<PlaceholderAttrs>({
      .name = "Placeholder",
      .summary = "A value that is fed when the graph runs.",
      .outputs = {"output: dtype"},
      .types = {{"dtype", kAllTypes}},
      .infer = [](InferContext& c) -> Status {
        c.set_shape(0, c.attrs<PlaceholderAttrs>().shape);
        return {};
      },
  });
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

void define_const_and_no_op(OpRegistry& ops) {
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
}

// --- Identities.

void pass_gradients_on(GradientContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.wants(i) && c.has_dy(i)) c.set_dx(i, c.dy(i));
  }
}

// A gradient of the user's is a function of one row: where there is one for all rows, no gradient
// comes here.
void batch_identities(BatchContext& c) {
  if (!c.node().custom_gradient()) return batch_any_shape(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    const bool flows = kDifferentiableTypes.contains(c.dtype(i));
    c.set_y(i,
            flows ? c(kPreventGradient, {c.x(i)},
                      {"vectorized_map does not know the gradient of a custom_gradient function"})
                  : c.x(i),
            c.is_batched(i));
  }
}

void define_identity_and_kin(OpRegistry& ops) {
  kIdentity = ops.define<NoAttrs>({
      .name = "Identity",
      .summary = "The input itself.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = outputs_are_inputs,
      .gradient = pass_gradients_on,
      .batch = batch_any_shape,
      .body = kernel(pass_inputs_on),
      .view_of = 0,
      .passes_on = passes_on_input_0,
  });
  kIdentityN = ops.define<IdentityNAttrs>({
      .name = "IdentityN",
      .summary = "All inputs themselves, of any dtypes and shapes.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .infer = [](InferContext& c) -> Status {
        if (c.num_inputs() > 0) return outputs_are_inputs(c);
        return invalid_argument("Length for attr 'T' of 0 must be at least minimum 1");
      },
      .gradient = pass_gradients_on,
      .batch = batch_identities,
      .body = kernel(pass_inputs_on),
  });
  kStopGradient = ops.define<NoAttrs>({
      .name = "StopGradient",
      .summary = "The input itself, through which no gradient flows.",
      .inputs = {"input: T"},
      .outputs = {"output: T"},
      .types = {{"T", kAllTypes}},
      .infer = outputs_are_inputs,
      .gradient = not_differentiable,
      .batch = batch_any_shape,
      .body = kernel(pass_inputs_on),
      .view_of = 0,
      .passes_on = passes_on_input_0,
  });
}

// --- PreventGradient.

void refuse_gradient(GradientContext& c) {
  c.fail(Status(
      Code::kInvalidArgument,
      str_cat("Gradient explicitly disabled. Reason: ", c.attrs<PreventGradientAttrs>().message),
      ErrorKind::kLookupError));
}

void define_prevent_gradient(OpRegistry& ops) {
  ops.define(kPreventGradient,
             {
                 .name = "PreventGradient",
                 .summary = "The input itself, of which asking for a gradient is a LookupError.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kAllTypes}},
                 .infer = outputs_are_inputs,
                 .gradient = refuse_gradient,
                 .batch = batch_any_shape,
                 .body = kernel(pass_inputs_on),
                 .view_of = 0,
                 .passes_on = passes_on_input_0,
             });
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

void batch_ensured_shape(BatchContext& c) {
  const Shape& expected = c.attrs<EnsureShapeAttrs>().shape;
  if (!expected.has_rank()) return batch_any_shape(c);
  Shape shape = {Dim::unknown()};
  for (int d = 0; d < expected.rank(); ++d) shape.push_back(expected[d]);
  c.set_y(0, c(kEnsureShape, {c.x(0)}, {shape}));
}

void define_ensure_shape(OpRegistry& ops) {
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
          .batch = batch_ensured_shape,
          .body = kernel(pass_inputs_on),
          .view_of = 0,
      });
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
  if (!(c.output(0) == c.input(0))) std::ranges::copy(c.in<Ref<Resource>>(0), sum.begin());
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

void define_add_n(OpRegistry& ops) {
  kAddN = ops.define<NoAttrs>({
      .name = "AddN",
      .python = "math.add_n, add_n",
      .summary = "The sum of tensors of one shape and dtype, added in order.",
      .inputs = {"inputs: N * T"},
      .outputs = {"sum: T"},
      .types = {{"T", kNumberTypes | DTypeSet{DType::kVariant}}},
      .infer = add_n_shape,
      .gradient =
          [](GradientContext& c) {
            for (int i = 0; i < c.num_inputs(); ++i) {
              if (c.wants(i)) c.set_dx(i, c.dy());
            }
          },
      .batch = batch_leading_axes,
      .body = elementwise_body(sum_of_all).with_kernel_for({DType::kVariant}, sum_of_variants),
      .passes_on = [](std::span<const DType> inputs,
                      AttrsRef) { return inputs.size() == 1 ? 0 : -1; },
      .overwrites = 0,
      .commutative = true,
  });
}

// Allocated strings are empty.
Status zeros_of_objects(KernelContext& c) {
  if (c.input(0).dtype() == DType::kString) return {};
  return zeros_like_variants(c.in<Ref<Resource>>(0), c.out<Ref<Resource>>(0));
}

void define_zeros_like_and_ones_like(OpRegistry& ops) {
  kZerosLike = ops.define<NoAttrs>({
      .name = "ZerosLike",
      .summary = "Zeros (false, empty strings) of the dtype and shape of x.",
      .inputs = {"x: T"},
      .outputs = {"y: T"},
      .types = {{"T", kPlainTypes | DTypeSet{DType::kString, DType::kVariant}, kAllTypes}},
      .infer = [](InferContext& c) -> Status {
        if (auto data = c.handle_data(0)) c.set_handle_data(0, *data);
        if (c.is_graph() && kIndexTypes.contains(c.dtype(0))) {
          if (auto sizes = c.sizes(0)) c.set_sizes(0, SymbolicValue(sizes->size(), Dim(0)));
        }
        return same_as_input(c);
      },
      .gradient = not_differentiable,
      .batch = batch_any_shape,
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
      .batch = batch_any_shape,
      .body = elementwise([](auto x) { return one_like(x); }),
  });
}

// --- Cast.

// The integers that a small constant of another dtype becomes; those below zero are unknown.
std::optional<SymbolicValue> sizes_of_constant(const Tensor& x) {
  if (!x || x.rank() > 1 || x.num_elements() > kMaxRank) return std::nullopt;
  if (!is_integer(x.dtype()) && !is_floating(x.dtype())) return std::nullopt;
  SymbolicValue sizes;
  visit_plain(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<std::is_arithmetic_v<T>, double, float>;  // of half, too
    if constexpr (std::is_constructible_v<Wide, T>) {
      for (T element : x.data<T>()) {
        const auto number = static_cast<Wide>(element);
        const bool is_size = number >= 0 && number < 0x1p31;
        sizes.push_back(is_size ? Dim(static_cast<int64_t>(number)) : Dim::unknown());
      }
    }
  });
  return sizes;
}

Status cast_shape(InferContext& c) {
  const auto& attrs = c.attrs<CastAttrs>();
  if (attrs.Truncate) {
    return unimplemented("Casting with Truncate is not supported: values are rounded to nearest");
  }
  c.set_shape(0, c.shape(0));
  if (!kIndexTypes.contains(attrs.DstT) || !c.is_graph()) return {};
  auto sizes = kIndexTypes.contains(c.dtype(0)) ? c.sizes(0) : sizes_of_constant(c.value(0));
  if (sizes) c.set_sizes(0, *std::move(sizes));
  return {};
}

void define_cast(OpRegistry& ops) {
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
          .gradient =
              [](GradientContext& c) {
                if (!kDifferentiableTypes.contains(c.dtype_of_x(0))) return;
                if (!kDifferentiableTypes.contains(c.attrs<CastAttrs>().DstT)) return;
                c.set_dx(0, cast(c, c.dy(), c.dtype_of_x(0)));
              },
          .body =
              elementwise<CastAttrs>([](const CastAttrs& a, auto x) { return cast(x, a.DstT); }),
          .passes_on =
              [](std::span<const DType> inputs, AttrsRef attrs) {
                return inputs[0] == attrs.as<CastAttrs>().DstT ? 0 : -1;
              },
      });
}

// --- Fusion.

// The optimiser, which makes a Fusion, says its shapes.
Status fusion_shapes(InferContext& c) {
  if (!c.attrs<FusionAttrs>().fusion) return invalid_argument("only the optimiser fuses");
  return unknown_outputs(c);
}

void define_fusion(OpRegistry& ops) {
  kFusion = ops.define<FusionAttrs>({
      .name = "Fusion",
      .summary = "Scalar bodies of ops, and reductions among them, computed together. Only the "
                 "optimiser makes it.",
      .inputs = {"args: Tin"},
      .outputs = {"results: Tout"},
      .infer = fusion_shapes,
  });
}

// --- Calls. Their gradients are calls of the gradient pair's halves, which autodiff makes.

void batch_call(BatchContext& c) {
  std::vector<BatchedTensor> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  const NodeBodies bodies = bodies_of(c.node());
  auto outputs = c.run_body(c.builder(), *bodies.all[0].body, inputs, c.num_rows());
  if (!outputs.ok()) return c.fail(outputs.status());
  for (size_t i = 0; i < outputs->size(); ++i) {
    c.set_y(static_cast<int>(i), (*outputs)[i].tensor, (*outputs)[i].is_batched);
  }
}

void define_partitioned_call_and_kin(OpRegistry& ops) {
  kPartitionedCall = ops.define<CallAttrs>({
      .name = "PartitionedCall",
      .summary = "Calls a function without effects.",
      .inputs = {"args: Tin"},
      .outputs = {"output: Tout"},
      .infer = infer_call,
      .batch = batch_call,
      .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}},
  });
  ops.define(kStatefulPartitionedCall,
             {
                 .name = "StatefulPartitionedCall",
                 .summary = "Calls a function; its effects are those of its body.",
                 .inputs = {"args: Tin"},
                 .outputs = {"output: Tout"},
                 .infer = infer_call,
                 .batch = batch_call,
                 .effects = effects_of_bodies,
                 .bodies = {BodyRun::kOnce, {{"f", "args", "output"}}},
             });
}

}  // namespace

void define_structural_ops(OpRegistry& ops) {
  define_placeholder(ops);
  define_const_and_no_op(ops);
  define_identity_and_kin(ops);
  define_prevent_gradient(ops);
  define_ensure_shape(ops);
  define_add_n(ops);
  define_zeros_like_and_ones_like(ops);
  define_cast(ops);
  define_fusion(ops);
  define_partitioned_call_and_kin(ops);
}

}  // namespace graven::engine
