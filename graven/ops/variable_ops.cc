#include "graven/ops/variable_ops.h"

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/graph.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/formulas.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/variable_kernels.h"

namespace graven::engine {
namespace {

// --- Rules of several ops.

// The known part of the variable's value: its declared dtype and shape.
HeldType known_of(const InferContext& c, int input = 0) {
  auto data = c.handle_data(input);
  return data ? data->value() : HeldType();
}

// The declared shape with sizes that are unknown now, for outputs: the value's may differ from
// one read to the next, so eagerly only a declared shape without gaps is used.
Shape shape_of_value(const InferContext& c) {
  Shape shape = known_of(c).shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!shape[i].is_number()) shape.set(i, Dim::unknown());
  }
  return shape;
}

Status check_dtype(const InferContext& c, DType dtype) {
  DType held = known_of(c).dtype;
  if (held == DType::kInvalid || held == dtype) return {};
  return invalid_argument("The variable holds ", dtype_name(held), ", asked for ",
                          dtype_name(dtype));
}

// --- Scattering.

Status check_updates(InferContext& c, int num_index_dims, int64_t first_kept) {
  RETURN_IF_ERROR(check_dtype(c, c.dtype(2)));
  Shape value = shape_of_value(c);
  const Shape &indices = c.shape(1), &updates = c.shape(2);
  if (!value.has_rank() || !indices.has_rank() || !updates.has_rank() || updates.rank() == 0) {
    return {};
  }
  Shape expected;
  for (int i = 0; i < num_index_dims; ++i) expected.push_back(indices[i]);
  for (int i = static_cast<int>(first_kept); i < value.rank(); ++i) expected.push_back(value[i]);
  if (are_compatible(expected, updates)) return {};
  return invalid_argument("updates for a variable of shape ", value.to_message(),
                          " by indices of shape ", indices.to_message(),
                          " must be a scalar or have shape ", expected.to_message(), ", got ",
                          updates.to_message());
}

Status scatter_shapes(InferContext& c) { return check_updates(c, c.shape(1).rank(), 1); }

Status scatter_nd_shapes(InferContext& c) {
  const Shape& indices = c.shape(1);
  if (!indices.has_rank()) return {};
  if (indices.rank() == 0) return invalid_argument("indices must be at least a vector");
  Dim depth = indices[indices.rank() - 1];
  return depth.is_number() ? check_updates(c, indices.rank() - 1, depth.number()) : Status();
}

// --- VarHandleOp.

Status var_handle_shape(InferContext& c) {
  const auto& attrs = c.attrs<VarHandleAttrs>();
  c.set_shape(0, Shape());
  c.set_handle_data(0, {attrs.dtype, attrs.shape});
  return {};
}

// One variable for each node of a Program, whatever runs; eagerly each call makes a new one.
Status var_handle_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<VarHandleAttrs>();
  Ref<RefCounted>* kept = c.state();
  if (kept && *kept) {
    c.set_output(0, Tensor::of_resource(Ref<Resource>(static_cast<Resource*>(kept->get()))));
    return {};
  }
  const std::string& name = attrs.debug_name.empty() ? attrs.shared_name : attrs.debug_name;
  Ref<Resource> variable(new Variable(attrs.dtype, attrs.shape, name));
  if (kept) *kept = variable;
  c.set_output(0, Tensor::of_resource(std::move(variable)));
  return {};
}

void define_var_handle_op_and_kin(OpRegistry& ops) {
  kVarHandle = ops.define<VarHandleAttrs>({
      .name = "VarHandleOp",
      .summary = "A handle of a new variable, which holds no value yet.",
      .outputs = {"resource: resource"},
      .types = {{"dtype", kAllTypes}},
      .infer = var_handle_shape,
      .body = kernel(var_handle_kernel),
      .keeps_state = true,
      .effects = unordered_effects,
  });
  kVarIsInitialized = ops.define<NoAttrs>({
      .name = "VarIsInitializedOp",
      .summary = "Does the variable hold a value?",
      .inputs = {"resource: resource"},
      .outputs = {"is_initialized: bool"},
      .infer = scalar_output,
      .gradient = not_differentiable,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
        c.out<bool>(0)[0] = variable->is_initialized();
        return {};
      }),
      .effects = reads_resource_effects,
  });
}

Status destroy_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  if (!c.attrs<DestroyResourceAttrs>().ignore_lookup_error && !variable->is_initialized()) {
    return Status(Code::kNotFound,
                  str_cat("variable '", variable->name(), "' holds no value to destroy"));
  }
  variable->clear();
  return {};
}

void define_destroy_resource_op(OpRegistry& ops) {
  kDestroyResource = ops.define<DestroyResourceAttrs>({
      .name = "DestroyResourceOp",
      .summary = "Takes the variable's value away.",
      .inputs = {"resource: resource"},
      .infer = no_outputs,
      .body = kernel(destroy_kernel),
      .effects = writes_resource_effects,
  });
}

// --- Reads.

Status read_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  ASSIGN_OR_RETURN(Tensor value, variable->read());
  c.set_output(0, std::move(value));
  return {};
}

void define_read_variable_op(OpRegistry& ops) {
  kReadVariable = ops.define<ReadVariableAttrs>({
      .name = "ReadVariableOp",
      .summary = "The value of the variable, a snapshot.",
      .details = "Raises:\n  FailedPreconditionError: The variable holds no value.",
      .inputs = {"resource: resource"},
      .outputs = {"value: dtype"},
      .types = {{"dtype", kAllTypes}},
      .infer = [](InferContext& c) -> Status {
        RETURN_IF_ERROR(check_dtype(c, c.attrs<ReadVariableAttrs>().dtype));
        c.set_shape(0, shape_of_value(c));
        return {};
      },
      .gradient = [](GradientContext& c) { c.set_dx(0, c.dy()); },
      .body = kernel(read_kernel),
      .allocates_outputs = true,
      .effects = reads_resource_effects,
      .cost = [](const CostContext&) { return 0.0; },
  });
}

Status variable_shape_shape(InferContext& c) {
  Shape shape = shape_of_value(c);
  c.set_shape(0, {shape.has_rank() ? Dim(shape.rank()) : Dim::unknown()});
  if (!shape.has_rank()) return {};
  SymbolicValue sizes;
  for (Dim dim : shape.dims()) sizes.push_back(dim);
  c.set_sizes(0, std::move(sizes));
  return {};
}

Status variable_shape_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
  ASSIGN_OR_RETURN(Tensor value, variable->read());
  DType dtype = c.attrs<ShapeAttrs>().out_type;
  RETURN_IF_ERROR(c.allocate_output(0, dtype, Shape{Dim(value.rank())}));
  for (int i = 0; i < value.rank(); ++i) {
    if (dtype == DType::kInt32) {
      c.out<int32_t>(0)[i] = static_cast<int32_t>(value.shape().size(i));
    } else {
      c.out<int64_t>(0)[i] = value.shape().size(i);
    }
  }
  return {};
}

void define_variable_shape(OpRegistry& ops) {
  kVariableShape = ops.define<ShapeAttrs>({
      .name = "VariableShape",
      .summary = "The shape of the variable's value, as a vector.",
      .inputs = {"input: resource"},
      .outputs = {"output: out_type"},
      .types = {{"out_type", kIndexTypes}},
      .infer = variable_shape_shape,
      .gradient = not_differentiable,
      .body = kernel(variable_shape_kernel),
      .allocates_outputs = true,
      .effects = reads_resource_effects,
  });
}

// --- Gathering.

Status gather_shape(InferContext& c) {
  const auto& attrs = c.attrs<ResourceGatherAttrs>();
  RETURN_IF_ERROR(check_dtype(c, attrs.dtype));
  if (attrs.batch_dims < 0) {
    return invalid_argument("batch_dims must be >= 0, got ", attrs.batch_dims);
  }
  Shape value = shape_of_value(c);
  const Shape& indices = c.shape(1);
  c.set_shape(0, Shape::unknown_rank());
  if (!value.has_rank() || !indices.has_rank()) return {};
  const int64_t batch_dims = attrs.batch_dims;
  if (value.rank() <= batch_dims || indices.rank() < batch_dims) {
    return invalid_argument("a variable of shape ", value.to_message(), " and indices of shape ",
                            indices.to_message(), " have no row after ", batch_dims,
                            " batch dimensions");
  }
  Shape out = indices;
  for (int i = 0; i < batch_dims; ++i) {
    if (!out[i].is_number() && value[i].is_number()) out.set(i, value[i]);
  }
  for (int i = static_cast<int>(batch_dims) + 1; i < value.rank(); ++i) out.push_back(value[i]);
  c.set_shape(0, out);
  return {};
}

// The sizes in a vector from VariableShape, as far as they are known.
Shape known_sizes(const Tensor& shape) {
  if (shape.is_symbolic()) {
    const SymbolicTensor& known = symbolic(shape);
    const auto& sizes = known.node().output(known.output().index).sizes;
    return sizes ? Shape(std::span<const Dim>(*sizes)) : Shape::unknown_rank();
  }
  Shape sizes;
  for (int32_t size : shape.data<int32_t>()) sizes.push_back(size);
  return sizes;
}

// The gradient of rows that were read: `shape` is the variable's.
IndexedSlices rows_of_variable(GradientContext& c, const Tensor& shape, const Tensor& indices) {
  if (!shape) return {};
  const int32_t flat[] = {-1};
  Tensor rows = shape_of_rows(c, indices, known_sizes(shape), [&] { return shape; });
  return {.values = c(kReshape, {c.dy(), rows}),
          .indices = c(kReshape, {indices, int32_vector(c, flat)}),
          .dense_shape = shape};
}

void gather_gradient(GradientContext& c) {
  if (c.attrs<ResourceGatherAttrs>().batch_dims != 0) {
    return c.fail(unimplemented("The gradient of ResourceGather with batch_dims is not defined"));
  }
  c.set_dx(0, rows_of_variable(c, c(kVariableShape, {c.x(0)}), c.x(1)));
}

void batch_as_gathered(BatchContext& c) {
  if (gives_up_if_batched(c, {0})) return;
  const Tensor inputs[] = {c.x(0), c.x(1)};
  apply_to_rows(c, inputs);
}

void batch_resource_gather(BatchContext& c) {
  if (c.attrs<ResourceGatherAttrs>().batch_dims != 0) return c.use_loop();
  batch_as_gathered(c);
}

void define_resource_gather(OpRegistry& ops) {
  kResourceGather = ops.define<ResourceGatherAttrs>({
      .name = "ResourceGather",
      .summary = "Rows of the variable's value, by their indices.",
      .details = "Raises:\n  InvalidArgumentError: An index is outside [0, rows).",
      .inputs = {"resource: resource", "indices: Tindices"},
      .outputs = {"output: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kAllTypes}},
      .infer = gather_shape,
      .gradient = gather_gradient,
      .batch = batch_resource_gather,
      .body = kernel(gather_from_variable),
      .allocates_outputs = true,
      .effects = reads_resource_effects,
  });
}

// Scatters the gradients of the gathered slices back. Vectors of one integer name rows.
void gather_nd_gradient(GradientContext& c) {
  Tensor shape = c(kVariableShape, {c.x(0)}), indices = c.x(1);
  const Shape& vectors = c.static_shape_of_x(1);
  if (vectors.has_rank() && vectors.rank() > 0 && vectors[vectors.rank() - 1] == Dim(1)) {
    return c.set_dx(0, rows_of_variable(c, shape, indices));
  }
  const DType dtype = c.dtype_of_x(1) == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  c.set_dx(0, c(kScatterNd, {cast(c, indices, dtype), c.dy(), cast(c, shape, dtype)}));
}

Status gather_nd_shape(InferContext& c) {
  RETURN_IF_ERROR(check_dtype(c, c.attrs<ReadVariableAttrs>().dtype));
  Shape value = shape_of_value(c);
  const Shape& indices = c.shape(1);
  c.set_shape(0, Shape::unknown_rank());
  if (!value.has_rank() || !indices.has_rank()) return {};
  if (indices.rank() == 0) return invalid_argument("indices must be at least a vector");
  Dim depth = indices[indices.rank() - 1];
  if (!depth.is_number()) return {};
  if (depth.number() > value.rank()) {
    return invalid_argument("index vectors of ", depth.number(),
                            " integers do not fit a variable of shape ", value.to_message());
  }
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = static_cast<int>(depth.number()); i < value.rank(); ++i) out.push_back(value[i]);
  c.set_shape(0, out);
  return {};
}

void define_resource_gather_nd(OpRegistry& ops) {
  kResourceGatherNd = ops.define<ReadVariableAttrs>({
      .name = "ResourceGatherNd",
      .summary = "Slices of the variable's value, each named by a vector of indices.",
      .details = "Raises:\n  InvalidArgumentError: An index is outside of its dimension.",
      .inputs = {"resource: resource", "indices: Tindices"},
      .outputs = {"output: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kAllTypes}},
      .infer = gather_nd_shape,
      .gradient = gather_nd_gradient,
      .batch = batch_as_gathered,
      .body = kernel(gather_nd_from_variable),
      .allocates_outputs = true,
      .effects = reads_resource_effects,
  });
}

// --- Assigning.

Status assign_shapes(InferContext& c) {
  RETURN_IF_ERROR(check_dtype(c, c.dtype(1)));
  Shape shape = known_of(c).shape;
  if (are_compatible(shape, c.shape(1))) return {};
  return invalid_argument("Cannot assign value to variable: Shape mismatch. The variable shape ",
                          shape.to_text(), ", and the assigned value shape ", c.shape(1).to_text(),
                          " are incompatible.");
}

void define_assign_variable_op_and_kin(OpRegistry& ops) {
  kAssignVariable = ops.define<AssignVariableAttrs>({
      .name = "AssignVariableOp",
      .summary = "Makes the value the variable's.",
      .inputs = {"resource: resource", "value: dtype"},
      .types = {{"dtype", kAllTypes}},
      .infer = assign_shapes,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
        return variable->assign(c.input(1));
      }),
      .effects = writes_resource_effects,
  });
  kAssignAddVariable = ops.define<ReadVariableAttrs>({
      .name = "AssignAddVariableOp",
      .summary = "Adds the value, which has the variable's shape, to the variable.",
      .inputs = {"resource: resource", "value: dtype"},
      .types = {{"dtype", kNumberTypes, kAllTypes}},
      .infer = assign_shapes,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
        return variable->combine(*kAddV2, c.input(1));
      }),
      .effects = writes_resource_effects,
  });
  kAssignSubVariable = ops.define<ReadVariableAttrs>({
      .name = "AssignSubVariableOp",
      .summary = "Subtracts the value, which has the variable's shape, from the variable.",
      .inputs = {"resource: resource", "value: dtype"},
      .types = {{"dtype", kNumberTypes, kAllTypes}},
      .infer = assign_shapes,
      .body = kernel([](KernelContext& c) -> Status {
        ASSIGN_OR_RETURN(Variable * variable, variable_of(c));
        return variable->combine(*kSub, c.input(1));
      }),
      .effects = writes_resource_effects,
  });
}

// --- Writes of rows.

void define_resource_scatter_add_and_kin(OpRegistry& ops) {
  kResourceScatterAdd = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterAdd",
      .summary = "Adds updates to rows of a variable; where an index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kNumberTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kAdd>),
      .effects = writes_resource_effects,
  });
  kResourceScatterSub = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterSub",
      .summary = "Subtracts updates from rows of a variable; where an index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kNumberTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kSub>),
      .effects = writes_resource_effects,
  });
  kResourceScatterMul = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterMul",
      .summary = "Multiplies rows with updates of a variable; where an index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kNumberTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kMul>),
      .effects = writes_resource_effects,
  });
  kResourceScatterDiv = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterDiv",
      .summary = "Divides rows by updates of a variable; where an index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kNumberTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kDiv>),
      .effects = writes_resource_effects,
  });
  kResourceScatterMin = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterMin",
      .summary = "Replaces elements of rows by updates that are smaller of a variable; where an "
                 "index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kRealTypes, kNumberTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kMin>),
      .effects = writes_resource_effects,
  });
  kResourceScatterMax = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterMax",
      .summary = "Replaces elements of rows by updates that are larger of a variable; where an "
                 "index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kRealTypes, kNumberTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kMax>),
      .effects = writes_resource_effects,
  });
  kResourceScatterUpdate = ops.define<ReadVariableAttrs>({
      .name = "ResourceScatterUpdate",
      .summary = "Replaces rows by updates of a variable; where an index repeats, in order.",
      .inputs = {"resource: resource", "indices: Tindices", "updates: dtype"},
      .types = {{"Tindices", kIndexTypes}, {"dtype", kAllTypes}},
      .infer = scatter_shapes,
      .body = kernel(scatter_to_variable<ScatterKind::kUpdate>),
      .effects = writes_resource_effects,
  });
}

// --- Writes of slices.

void define_resource_scatter_nd_add_and_kin(OpRegistry& ops) {
  kResourceScatterNdAdd = ops.define<ResourceScatterNdAttrs>({
      .name = "ResourceScatterNdAdd",
      .summary = "Adds updates to slices of a variable, each named by a vector of indices.",
      .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
      .types = {{"Tindices", kIndexTypes}, {"T", kPlainTypes, kAllTypes}},
      .infer = scatter_nd_shapes,
      .body = kernel(scatter_nd_to_variable<ScatterKind::kAdd>),
      .effects = writes_resource_effects,
  });
  kResourceScatterNdSub = ops.define<ResourceScatterNdAttrs>({
      .name = "ResourceScatterNdSub",
      .summary = "Subtracts updates from slices of a variable, each named by a vector of indices.",
      .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
      .types = {{"Tindices", kIndexTypes}, {"T", kPlainTypes, kAllTypes}},
      .infer = scatter_nd_shapes,
      .body = kernel(scatter_nd_to_variable<ScatterKind::kSub>),
      .effects = writes_resource_effects,
  });
  kResourceScatterNdUpdate = ops.define<ResourceScatterNdAttrs>({
      .name = "ResourceScatterNdUpdate",
      .summary = "Replaces slices by updates of a variable, each named by a vector of indices.",
      .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
      .types = {{"Tindices", kIndexTypes}, {"T", kAllTypes}},
      .infer = scatter_nd_shapes,
      .body = kernel(scatter_nd_to_variable<ScatterKind::kUpdate>),
      .effects = writes_resource_effects,
  });
  kResourceScatterNdMin = ops.define<ResourceScatterNdAttrs>({
      .name = "ResourceScatterNdMin",
      .summary = "Replaces elements of slices by updates that are smaller of a variable, each "
                 "named by a vector of indices.",
      .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
      .types = {{"Tindices", kIndexTypes}, {"T", kRealTypes, kAllTypes}},
      .infer = scatter_nd_shapes,
      .body = kernel(scatter_nd_to_variable<ScatterKind::kMin>),
      .effects = writes_resource_effects,
  });
  kResourceScatterNdMax = ops.define<ResourceScatterNdAttrs>({
      .name = "ResourceScatterNdMax",
      .summary = "Replaces elements of slices by updates that are larger of a variable, each named "
                 "by a vector of indices.",
      .inputs = {"ref: resource", "indices: Tindices", "updates: T"},
      .types = {{"Tindices", kIndexTypes}, {"T", kRealTypes, kAllTypes}},
      .infer = scatter_nd_shapes,
      .body = kernel(scatter_nd_to_variable<ScatterKind::kMax>),
      .effects = writes_resource_effects,
  });
}

}  // namespace

void define_variable_ops(OpRegistry& ops) {
  define_var_handle_op_and_kin(ops);
  define_destroy_resource_op(ops);
  define_read_variable_op(ops);
  define_variable_shape(ops);
  define_resource_gather(ops);
  define_resource_gather_nd(ops);
  define_assign_variable_op_and_kin(ops);
  define_resource_scatter_add_and_kin(ops);
  define_resource_scatter_nd_add_and_kin(ops);
}

}  // namespace graven::engine
