#include "graven/ops/linear_algebra_ops.h"

#include "graven/ir/gradient_context.h"
#include "graven/ir/infer_context.h"
#include "graven/ir/kernel.h"
#include "graven/kernels/matmul.h"
#include "graven/ops/formulas.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

// --- MatMul.

Status matmul_shape(InferContext& c) {
  const auto& attrs = c.attrs<MatMulAttrs>();
  const Shape &a = c.shape(0), &b = c.shape(1);
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = c.shape(i);
    if (shape.has_rank() && shape.rank() != 2) {
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

// With a' = conj(a): d a = dy b'^T and d b = a'^T dy, and what that means for inputs that were
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
                 .epilogue = {}});
}

}  // namespace

void define_linear_algebra_ops(OpRegistry& ops) {
  ops.define(kMatMul,
             {
                 .name = "MatMul",
                 .summary = "The product of two matrices, each transposed on request.",
                 .inputs = {"a: T", "b: T"},
                 .outputs = {"product: T"},
                 .types = {{"T", kFloatTypes | kComplexTypes | kUnsignedIntTypes | kIndexTypes}},
                 .infer = matmul_shape,
                 .gradient = matmul_gradient,
                 .body = kernel(matmul_kernel),
             });
}

}  // namespace graven::engine
