#include <algorithm>
#include <numeric>
#include <vector>

#include "graven/ir/structural_ops.h"
#include "graven/library/arithmetic.h"
#include "graven/library/axes.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/library/gathering.h"
#include "graven/ops/join_ops.h"
#include "graven/ops/linear_algebra_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/slice_ops.h"

namespace graven::engine {
namespace {

struct MatMulParameters {
  Tensor a, b;
  bool transpose_a = false, transpose_b = false, adjoint_a = false, adjoint_b = false;
  DType output_type = DType::kInvalid;
  static constexpr auto fields() {
    using P = MatMulParameters;
    constexpr const char* kHint = "A hint that changes no result.";
    return std::tuple(
        required_field("a", &P::a, "T", "Shape [..., m, k]."),
        required_field("b", &P::b, "like T",
                       "The same dtype, shape [..., k, n]; the leading axes broadcast."),
        field("transpose_a", &P::transpose_a, "Take a as [..., k, m]."),
        field("transpose_b", &P::transpose_b, "Take b as [..., n, k]."),
        field("adjoint_a", &P::adjoint_a, "Transpose a and take the complex conjugate."),
        field("adjoint_b", &P::adjoint_b, "Transpose b and take the complex conjugate."),
        ignored_field("a_is_sparse", kHint), ignored_field("b_is_sparse", kHint),
        field("output_type", &P::output_type,
              "int32 for int8 and uint8, float32 for half and bfloat16, or the dtype of both."),
        ignored_field("grad_a", kHint), ignored_field("grad_b", kHint));
  }
};

// The dtype to multiply in, if the operands have another.
DType product_type(FunctionContext& c, const Tensor& a, const Tensor& b, DType wanted) {
  const DType x = a.dtype(), y = b.dtype();
  if (wanted == DType::kInvalid || (wanted == x && wanted == y)) {
    const bool is_mixed = (x == DType::kBFloat16 && y == DType::kFloat32) ||
                          (x == DType::kFloat32 && y == DType::kBFloat16);
    return is_mixed && are_matrices(a, b) ? DType::kFloat32 : DType::kInvalid;
  }
  const auto widens = [&](DType dtype) {
    const bool is_byte = dtype == DType::kInt8 || dtype == DType::kUInt8;
    const bool is_short = dtype == DType::kHalf || dtype == DType::kBFloat16;
    return dtype == wanted || (is_byte && wanted == DType::kInt32) ||
           (is_short && wanted == DType::kFloat32);
  };
  if (widens(x) && widens(y)) return wanted;
  c.fail(Status(Code::kNotFound, str_cat("There is no product of ", dtype_name(x), " and ",
                                         dtype_name(y), " in ", dtype_name(wanted))));
  return DType::kInvalid;
}

Tensor matmul(FunctionContext& c, const MatMulParameters& p, std::string_view name = {}) {
  for (const auto& [transposes, adjoins, operand] :
       {std::tuple(p.transpose_a, p.adjoint_a, "a"), std::tuple(p.transpose_b, p.adjoint_b, "b")}) {
    if (!transposes || !adjoins) continue;
    return c.fail(value_error("Only one of `transpose_", operand, "` and `adjoint_", operand,
                              "` can be True."));
  }
  Tensor a = p.a, b = p.b;
  if (!a || !b) return {};
  const DType dtype = product_type(c, a, b, p.output_type);
  if (dtype != DType::kInvalid) {
    a = c.cast(a, dtype);
    b = c.cast(b, dtype);
    if (!a || !b) return {};
  }
  // MatMul transposes and BatchMatMul adjoins; a conjugate turns one into the other.
  if (are_matrices(a, b)) {
    if (p.adjoint_a) a = conj(c(a));
    if (p.adjoint_b) b = conj(c(b));
    return c(kMatMul, {a, b}, {p.transpose_a || p.adjoint_a, p.transpose_b || p.adjoint_b}, name);
  }
  if (p.transpose_a) a = conj(c(a));
  if (p.transpose_b) b = conj(c(b));
  return c(kBatchMatMulV2, {a, b}, {p.transpose_a || p.adjoint_a, p.transpose_b || p.adjoint_b},
           name);
}

struct MatVecParameters {
  Tensor a, b;
  bool transpose_a = false, adjoint_a = false;
  static constexpr auto fields() {
    using P = MatVecParameters;
    constexpr const char* kHint = "A hint that changes no result.";
    return std::tuple(
        required_field("a", &P::a, "T", "Shape [..., m, k]."),
        required_field("b", &P::b, "any", "The same dtype, shape [..., k]."),
        field("transpose_a", &P::transpose_a, "Take a as [..., k, m]."),
        field("adjoint_a", &P::adjoint_a, "Transpose a and take the complex conjugate."),
        ignored_field("a_is_sparse", kHint), ignored_field("b_is_sparse", kHint));
  }
};

Outputs matvec(FunctionContext& c, const MatVecParameters& p) {
  const Tensor columns = c(kExpandDims, {p.b, c.scalar(-1)});
  const Tensor product =
      matmul(c, {.a = p.a, .b = columns, .transpose_a = p.transpose_a, .adjoint_a = p.adjoint_a});
  return c(kSqueeze, {product}, {.squeeze_dims = {-1}});
}

struct TensordotParameters {
  Tensor a, b;
  AxisPairs axes;
  static constexpr auto fields() {
    using P = TensordotParameters;
    return std::tuple(required_field("a", &P::a, "T", "Of any shape."),
                      required_field("b", &P::b, "any", "The same dtype, any shape."),
                      required_field("axes", &P::axes,
                                     "A number: that many last axes of a and first axes of b; or "
                                     "two lists of axes, which go together pair by pair."));
  }
};

// A tensor as a matrix: one axis merges the contracted axes, the other the free ones. `free` has
// the sizes of those: numbers or ops if the rank is known, else a vector.
struct Matrix {
  Tensor matrix = {};
  SizeList free = {};
  Tensor free_vector = {};
};

// The contracted axes of a tensor: numbers, or a vector.
struct SummedAxes {
  std::vector<int64_t> numbers = {};
  Tensor vector = {};
};

Matrix matrix_of_known_rank(FunctionContext& c, const Tensor& x, const SummedAxes& axes,
                            bool is_first) {
  const int64_t rank = x.rank();
  std::vector<int64_t> summed, order(static_cast<size_t>(rank));
  for (int64_t axis : axes.numbers) {
    const int64_t place = axis < 0 ? axis + rank : axis;
    if (place >= rank) {
      c.fail(Status(Code::kInvalidArgument,
                    str_cat("`axes` of tensordot: a tensor of rank ", rank, " has no axis ", axis),
                    ErrorKind::kIndexError));
      return {};
    }
    if (place < 0 || std::ranges::find(summed, place) != summed.end()) {
      c.fail(value_error("`axes` of tensordot must be different ones in [", -rank, ", ", rank,
                         "), got ", axis));
      return {};
    }
    summed.push_back(place);
  }
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int64_t> places = order;
  std::erase_if(order, [&](int64_t i) { return std::ranges::find(summed, i) != summed.end(); });
  const SizeList sizes = c.sizes(x);
  Matrix result;
  for (int64_t axis : order) result.free.push_back(sizes[static_cast<size_t>(axis)]);
  Size inner(1);
  for (int64_t axis : summed) inner = multiply(c, inner, sizes[static_cast<size_t>(axis)]);
  const Size outer = product(c, result.free);
  order.insert(is_first ? order.begin() : order.end(), summed.begin(), summed.end());
  const Tensor moved = order == places ? x : c(kTranspose, {x, c.vector(order)});
  const Size shape[] = {is_first ? inner : outer, is_first ? outer : inner};
  const bool is_matrix = rank == 2 && summed.size() == 1;
  result.matrix = is_matrix ? moved : c(kReshape, {moved, vector_of(c, shape)});
  return result;
}

Matrix matrix_of(FunctionContext& c, const Tensor& x, const SummedAxes& axes, bool is_first) {
  if (!axes.vector && c.rank_if_known(x)) return matrix_of_known_rank(c, x, axes, is_first);
  const auto [others, summed] =
      axes.vector ? axes_apart(c, x, axes.vector) : axes_apart(c, x, axes.numbers);
  const Tensor sizes = c(kShape, {x});
  Matrix result;
  result.free_vector = gathered(c, sizes, others, 0);
  const Size outer = product_of(c, result.free_vector);
  const Size inner = product_of(c, gathered(c, sizes, summed, 0));
  const Size shape[] = {is_first ? inner : outer, is_first ? outer : inner};
  const Tensor order = is_first ? joined(c, summed, others) : joined(c, others, summed);
  result.matrix = c(kReshape, {c(kTranspose, {x, order}), vector_of(c, shape)});
  return result;
}

std::pair<SummedAxes, SummedAxes> summed_axes(FunctionContext& c, const TensordotParameters& p) {
  if (p.axes.tensor) {
    if (!is_integer(p.axes.tensor.dtype())) {
      c.fail(type_error("`axes` of tensordot must be integers, not ",
                        dtype_name(p.axes.tensor.dtype())));
      return {};
    }
    const Tensor axes = as_int32(c, p.axes.tensor);
    const Tensors rows = c.apply(kUnpack, {axes}, {.num = 2});
    if (rows.size() < 2) return {};
    return {{.vector = rows[0]}, {.vector = rows[1]}};
  }
  if (!p.axes.count) return {{p.axes.first}, {p.axes.second}};
  const int64_t count = *p.axes.count;
  for (const Tensor& x : {p.a, p.b}) {
    const auto rank = c.rank_if_known(x);
    if (count >= 0 && count <= rank.value_or(kMaxRank)) continue;
    c.fail(
        value_error("`axes` of tensordot must be at least 0 and not larger than the number of "
                    "dimensions of a tensor. Received: ",
                    count));
    return {};
  }
  std::vector<int64_t> last(static_cast<size_t>(count)), first = last;
  std::iota(last.begin(), last.end(), -count);
  std::iota(first.begin(), first.end(), 0);
  return {{last}, {first}};
}

Outputs tensordot(FunctionContext& c, const TensordotParameters& p) {
  const auto [of_a, of_b] = summed_axes(c, p);
  if (!c.status().ok()) return {};
  const Matrix a = matrix_of(c, p.a, of_a, false), b = matrix_of(c, p.b, of_b, true);
  const bool is_known = !a.free_vector && !b.free_vector;
  const bool is_product = is_known && a.free.size() == 1 && b.free.size() == 1;
  const Tensor product =
      matmul(c, {.a = a.matrix, .b = b.matrix}, is_product ? c.name() : std::string_view());
  if (is_product) return product;
  if (is_known) {
    SizeList free = a.free;
    free.insert(free.end(), b.free.begin(), b.free.end());
    return c(kReshape, {product, vector_of(c, free)}, {}, c.name());
  }
  const auto vector = [&](const Matrix& x) {
    return x.free_vector ? x.free_vector : vector_of(c, x.free);
  };
  return c(kReshape, {product, joined(c, vector(a), vector(b))}, {}, c.name());
}

}  // namespace

void define_products(FunctionRegistry& functions) {
  constexpr Raised kDoNotFit = {"InvalidArgumentError", "The inner sizes or the dtypes differ."};
  const DTypeSet types = kNumberTypes;
  functions.define({
      .names = "linalg.matmul, matmul",
      .scope = "MatMul",
      .types = {{"T", types}},
      .summary = "Multiplies matrices, or batches of them.",
      .returns = "The products, shape [..., m, n].",
      .raises = {kDoNotFit,
                 {"ValueError", "A matrix is to be both transposed and adjoint."},
                 {"NotFoundError", "There is no such output_type for these dtypes."}},
      .source = "OpDefs \"MatMul\" and \"BatchMatMulV2\"",
      .body = [](FunctionContext& c, const MatMulParameters& p) -> Outputs {
        return matmul(c, p, c.name());
      },
  });
  functions.define({
      .names = "linalg.matvec",
      .scope = "MatVec",
      .types = {{"T", types}},
      .summary = "Multiplies matrices by vectors.",
      .returns = "The products, shape [..., m].",
      .raises = {kDoNotFit, {"ValueError", "The matrix is to be both transposed and adjoint."}},
      .body = matvec,
  });
  functions.define({
      .names = "tensordot, linalg.tensordot",
      .scope = "Tensordot",
      .types = {{"T", types}},
      .summary = "Sums products over axes of two tensors.",
      .returns = "The sums, shape: the other axes of a, then those of b.",
      .raises = {kDoNotFit,
                 {"ValueError", "An axis is named twice, or there are not as many of each tensor."},
                 {"IndexError", "There is no such axis."}},
      .body = tensordot,
  });
}

}  // namespace graven::engine
