#include "graven/ops/linear_algebra_ops.h"

#include <algorithm>
#include <vector>

#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/ir/structural_ops.h"
#include "graven/kernels/matmul.h"
#include "graven/ops/batch_rules.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

// An error if an input is known to have fewer axes than a matrix.
Status check_has_matrices(const InferContext& c, int i) {
  const Shape& shape = c.shape(i);
  if (!shape.has_rank() || shape.rank() >= 2) return {};
  return invalid_argument("In[", i, "] ndims must be >= 2: ", shape.rank(), ". It has shape ",
                          shape.to_message());
}

// --- MatMul.

Status matmul_shape(InferContext& c) {
  const auto& attrs = c.attrs<MatMulAttrs>();
  const Shape &a = c.shape(0), &b = c.shape(1);
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = c.shape(i);
    RETURN_IF_ERROR(check_has_matrices(c, i));
    if (shape.has_rank() && shape.rank() > 2) {
      return invalid_argument("In[", i, "] is not a matrix. Instead it has shape ",
                              shape.to_message());
    }
  }
  auto size = [](const Shape& shape, bool transpose, int axis) {
    return shape.has_rank() ? shape[transpose ? 1 - axis : axis] : Dim::unknown();
  };
  Dim k_of_a = size(a, attrs.transpose_a, 1), k_of_b = size(b, attrs.transpose_b, 0);
  if (!c.merge(k_of_a, k_of_b).ok()) {
    if (!c.is_graph()) {
      return invalid_argument("Matrix size-incompatible: In[0]: ", a.to_message(),
                              ", In[1]: ", b.to_message());
    }
    return invalid_argument("Dimensions must be equal, but are ", k_of_a.number(), " and ",
                            k_of_b.number(), ": inner dimensions differ in shapes ", a.to_message(),
                            " and ", b.to_message());
  }
  c.set_shape(0, {size(a, attrs.transpose_a, 0), size(b, attrs.transpose_b, 1)});
  return {};
}

// With a' = conj(a): d a = dy b'^T and d b = a'^T dy, and the same formulas for inputs that were
// transposed.
void matmul_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<MatMulAttrs>();
  Formula dy(c, c.dy());
  if (c.wants(0)) {
    Formula b = conj(Formula(c, c.x(1)));
    c.set_dx(0, attrs.transpose_a
                    ? call(kMatMul, b, dy, {.transpose_a = attrs.transpose_b, .transpose_b = true})
                    : call(kMatMul, dy, b, {.transpose_b = !attrs.transpose_b}));
  }
  if (c.wants(1)) {
    Formula a = conj(Formula(c, c.x(0)));
    c.set_dx(1, attrs.transpose_b
                    ? call(kMatMul, dy, a, {.transpose_a = true, .transpose_b = attrs.transpose_a})
                    : call(kMatMul, a, dy, {.transpose_a = !attrs.transpose_a}));
  }
}

Status matmul_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<MatMulAttrs>();
  const Tensor &a = c.input(0), &b = c.input(1), &product = c.output(0);
  const int64_t offset = 0;
  return matmul({.dtype = product.dtype(),
                 .m = product.shape().size(0),
                 .n = product.shape().size(1),
                 .k = a.shape().size(attrs.transpose_a ? 0 : 1),
                 .transpose_a = attrs.transpose_a,
                 .transpose_b = attrs.transpose_b,
                 .a = a.raw_data(),
                 .b = b.raw_data(),
                 .c = product.mutable_raw_data(),
                 .a_offsets = {&offset, 1},
                 .b_offsets = {&offset, 1},
                 .done = c.done()});
}

// Each element of the product sums as many products as `terms` says.
double cost_of_sums(const Shape& product, double terms) {
  constexpr double kProductsPerNanosecond = 30;
  return guessed_elements(product) * terms / kProductsPerNanosecond;
}

double matmul_cost(const CostContext& c) {
  const Shape& x = c.input(0);
  const int first = c.attrs<MatMulAttrs>().transpose_a ? 0 : 1;
  const bool is_matrix = x.has_rank() && x.rank() == 2;
  return cost_of_sums(c.output(0), guessed_size(is_matrix ? x[first] : Dim::unknown()));
}

// True if each row's second factor is a column, and the first factor is the same for all rows.
bool multiplies_columns(const BatchContext& c) {
  const Shape row = c.row_shape(1);
  const int columns = c.attrs<MatMulAttrs>().transpose_b ? 0 : 1;
  return !c.is_batched(0) && row.has_rank() && row[columns] == Dim(1);
}

// The transpose of a batch of matrices is the conjugate one.
void batch_matmul(BatchContext& c) {
  const auto& attrs = c.attrs<MatMulAttrs>();
  if (multiplies_columns(c)) {  // they become the rows of one matrix
    const Tensor rows = c(kSqueeze, {c.x(1)}, {{attrs.transpose_b ? 1 : 2}});
    const Tensor product = c(kMatMul, {rows, c.x(0)}, {.transpose_b = !attrs.transpose_a});
    return c.set_y(0, c(kExpandDims, {product, c.constant(Tensor::scalar<int32_t>(2))}));
  }
  if (!c.is_batched(1) && !attrs.transpose_a && c.x(0).shape().has_rank()) {
    // The rows of all matrices as one matrix.
    const Tensor product = c(kMatMul, {folded(c, c.x(0)), c.x(1)}, attrs);
    return c.set_y(0, unfolded(c, product, 0));
  }
  if (!kBatchMatMulV2.op->type_params()[0].allowed.contains(c.dtype(0))) return c.use_loop();
  const auto operand = [&](int i, bool is_transposed) {
    const Formula x(c, c.x(i));
    return is_transposed ? conj(x).tensor() : x.tensor();
  };
  c.set_y(0, c(kBatchMatMulV2, {operand(0, attrs.transpose_a), operand(1, attrs.transpose_b)},
               {attrs.transpose_a, attrs.transpose_b}));
}

void define_mat_mul(OpRegistry& ops) {
  ops.define(kMatMul,
             {
                 .name = "MatMul",
                 .summary = "The product of two matrices, each transposed on request.",
                 .inputs = {"a: T", "b: T"},
                 .outputs = {"product: T"},
                 .types = {{"T", kFloatTypes | kComplexTypes | kUnsignedIntTypes | kIndexTypes}},
                 .infer = matmul_shape,
                 .gradient = matmul_gradient,
                 .batch = batch_matmul,
                 .body = kernel(matmul_kernel),
                 .panels = true,
                 .cost = matmul_cost,
             });
}

// --- BatchMatMul and BatchMatMulV2.

// The shape of the batch: without the last two sizes.
Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(std::max<size_t>(shape.dims().size(), 2) - 2));
}

template <bool broadcasts>
Status batch_matmul_shape(InferContext& c) {
  const auto& attrs = c.attrs<BatchMatMulAttrs>();
  const Shape &x = c.shape(0), &y = c.shape(1);
  RETURN_IF_ERROR(check_has_matrices(c, 0));
  RETURN_IF_ERROR(check_has_matrices(c, 1));
  if (!x.has_rank() || !y.has_rank()) {
    c.set_shape(0, Shape::unknown_rank());
    return {};
  }
  auto size = [](const Shape& shape, bool adjoint, int from_end) {
    return shape[shape.rank() - (adjoint ? 3 - from_end : from_end)];
  };
  Dim k_of_x = size(x, attrs.adj_x, 1), k_of_y = size(y, attrs.adj_y, 2);
  if (!c.merge(k_of_x, k_of_y).ok()) {
    if (!c.is_graph()) {
      return invalid_argument("Matrix size-incompatible: In[0]: ", x.to_message(),
                              ", In[1]: ", y.to_message());
    }
    return invalid_argument("Dimensions must be equal, but are ", k_of_x.number(), " and ",
                            k_of_y.number(), ": inner dimensions differ in shapes ", x.to_message(),
                            " and ", y.to_message());
  }
  auto batch =
      broadcasts ? c.broadcast(batch_of(x), batch_of(y)) : merge_shapes(batch_of(x), batch_of(y));
  if (!batch.ok()) {
    return invalid_argument("In[0] and In[1] must have ", broadcasts ? "compatible" : "the same",
                            " batch dimensions: ", x.to_message(), " vs. ", y.to_message());
  }
  Shape out = *batch;
  out.push_back(size(x, attrs.adj_x, 2));
  out.push_back(size(y, attrs.adj_y, 1));
  c.set_shape(0, std::move(out));
  return {};
}

// As of MatMul, summed over the batch dimensions along which an input was repeated.
void batch_matmul_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<BatchMatMulAttrs>();
  Formula dy(c, c.dy());
  if (c.wants(0)) {
    Formula y(c, c.x(1));
    Formula dx = attrs.adj_x ? call(kBatchMatMulV2, y, dy, {.adj_x = attrs.adj_y, .adj_y = true})
                             : call(kBatchMatMulV2, dy, y, {.adj_y = !attrs.adj_y});
    c.set_dx(0, reduce_to_shape(c, dx, 0));
  }
  if (c.wants(1)) {
    Formula x(c, c.x(0));
    Formula dx = attrs.adj_y ? call(kBatchMatMulV2, dy, x, {.adj_x = true, .adj_y = attrs.adj_x})
                             : call(kBatchMatMulV2, x, dy, {.adj_x = !attrs.adj_x});
    c.set_dx(1, reduce_to_shape(c, dx, 1));
  }
}

Status batch_matmul_kernel(KernelContext& c) {
  const auto& attrs = c.attrs<BatchMatMulAttrs>();
  const Tensor &x = c.input(0), &y = c.input(1), &out = c.output(0);
  if (out.num_elements() == 0) return {};
  MatMulArguments product = {.dtype = out.dtype(),
                             .m = out.shape().size(out.rank() - 2),
                             .n = out.shape().size(out.rank() - 1),
                             .k = x.shape().size(x.rank() - (attrs.adj_x ? 2 : 1)),
                             .transpose_a = attrs.adj_x,
                             .transpose_b = attrs.adj_y,
                             .conjugate_a = attrs.adj_x && is_complex(out.dtype()),
                             .conjugate_b = attrs.adj_y && is_complex(out.dtype()),
                             .a = x.raw_data(),
                             .b = y.raw_data(),
                             .c = out.mutable_raw_data(),
                             .a_offsets = {},
                             .b_offsets = {},
                             .done = c.done()};
  const Shape batch = batch_of(out.shape()), of_x = batch_of(x.shape()), of_y = batch_of(y.shape());
  if (of_y.num_elements() == 1 && !attrs.adj_x) {  // the rows of all matrices times one matrix
    const int64_t start = 0;
    product.m *= batch.num_elements();
    product.a_offsets = product.b_offsets = {&start, 1};
    return matmul(product);
  }
  std::vector<int64_t> a_offsets, b_offsets;
  for_each_broadcast<2>(batch, {&of_x, &of_y}, [&](int64_t, const std::array<int64_t, 2>& offsets) {
    a_offsets.push_back(offsets[0] * product.m * product.k);
    b_offsets.push_back(offsets[1] * product.k * product.n);
  });
  product.a_offsets = a_offsets;
  product.b_offsets = b_offsets;
  return matmul(product);
}

double batch_matmul_cost(const CostContext& c) {
  const Shape& x = c.input(0);
  const int from_end = c.attrs<BatchMatMulAttrs>().adj_x ? 2 : 1;
  const bool is_matrix = x.has_rank() && x.rank() >= 2;
  return cost_of_sums(c.output(0),
                      guessed_size(is_matrix ? x[x.rank() - from_end] : Dim::unknown()));
}

constexpr DTypeSet kProductTypes = kFloatTypes | kComplexTypes | kIndexTypes;

void define_batch_mat_mul_and_batch_mat_mul_v2(OpRegistry& ops) {
  ops.define(kBatchMatMul,
             {
                 .name = "BatchMatMul",
                 .summary = "The products of matrices in batches of one shape, each of them "
                            "conjugated and transposed on request.",
                 .inputs = {"x: T", "y: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kProductTypes}},
                 .infer = batch_matmul_shape</*broadcasts=*/false>,
                 .gradient = batch_matmul_gradient,
                 .batch = batch_leading_axes,
                 .body = kernel(batch_matmul_kernel),
                 .panels = true,
                 .cost = batch_matmul_cost,
             });
  ops.define(kBatchMatMulV2,
             {
                 .name = "BatchMatMulV2",
                 .summary = "The products of matrices in batches that broadcast, each of them "
                            "conjugated and transposed on request.",
                 .inputs = {"x: T", "y: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kProductTypes | DTypeSet{DType::kInt16},
                            kFloatTypes | kUnsignedIntTypes | kComplexTypes | kIndexTypes |
                                DTypeSet{DType::kInt16}}},
                 .infer = batch_matmul_shape</*broadcasts=*/true>,
                 .gradient = batch_matmul_gradient,
                 .batch = batch_broadcasting,
                 .body = kernel(batch_matmul_kernel),
                 .panels = true,
                 .cost = batch_matmul_cost,
             });
}

}  // namespace

void define_linear_algebra_ops(OpRegistry& ops) {
  define_mat_mul(ops);
  define_batch_mat_mul_and_batch_mat_mul_v2(ops);
}

}  // namespace graven::engine
