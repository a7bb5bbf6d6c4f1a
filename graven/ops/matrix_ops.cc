#include "graven/ops/matrix_ops.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "graven/ir/batch_context.h"
#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/diagonal_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/matrix_formulas.h"
#include "graven/ops/matrix_kernels.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/register_ops.h"

namespace graven::engine {
namespace {

// --- Cholesky.

Status cholesky_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &out = c.output(0);
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(x));
  if (x.num_elements() == 0) return {};
  return visit_matrix_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = sizes.rows, size = n * n;
    return for_each_matrix(sizes.count, static_cast<double>(size * n),
                           [&](const Lapack& library, int64_t matrix) {
                             T* y = out.mutable_data<T>().data() + matrix * size;
                             const T* from = x.data<T>().data() + matrix * size;
                             if (y != from) std::copy_n(from, size, y);
                             // OpenBLAS loses NaN on the way.
                             bool has_nan = false;
                             for (int64_t i = 0; i < n; ++i) has_nan |= any_nan(y + i * n, i + 1);
                             // The rows of a lower triangle are the columns of an upper one.
                             const int info = has_nan ? 1 : library.of<T>().cholesky(sizes.n(), y);
                             if (info < 0) return lapack_status(info, "");
                             for (int64_t i = 0; i < n; ++i) {
                               if (info != 0) std::fill_n(y + i * n, i + 1, not_a_number<T>());
                               std::fill_n(y + i * n + i + 1, n - i - 1, T(0));
                             }
                             return Status();
                           });
  });
}

// With L the factor: half of M + M^H for M = L^-H P L^-1, where P is the lower triangle of L^H dL
// with half of its diagonal (S. F. Smith, 1995, in matrices).
void cholesky_gradient(GradientContext& c) {
  Formula l(c, c.y(0)), dy(c, c.dy());
  Formula inverse(c, c(kMatrixInverse, {l}));
  Formula p = lower_part(half_diagonal(product(l, dy, Adjoint::kFirst)));
  Formula m = product(product(inverse, p, Adjoint::kFirst), inverse);
  c.set_dx(0, 0.5 * (m + adjoint(m)));
}

void define_cholesky(OpRegistry& ops) {
  ops.define(
      kCholesky,
      {
          .name = "Cholesky",
          .python = "linalg.cholesky",
          .summary = "The lower triangular L of Hermitian, positive definite A = L L^H.",
          .details = "Only the lower triangle of the input is read. Where it is not positive "
                     "definite or has a NaN, the lower triangle of the result is NaN.",
          .inputs = {"input: T"},
          .outputs = {"output: T"},
          .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
          .infer = square_matrix_shape,
          .gradient = cholesky_gradient,
          .batch = batch_leading_axes,
          .body = kernel(cholesky_kernel),
          .overwrites = 0,
          .cost = cubic_cost<1>,
      });
}

// --- Ops by LU factors.

constexpr const char* kNotInvertible = "Input is not invertible.";

// Column-major factors of one matrix and its pivots.
template <typename T>
struct Factors {
  explicit Factors(int64_t n) : lu(n * n), pivots(n) {}
  MatrixScratch<T> lu;
  MatrixScratch<int> pivots;
  int info = 0;  // of LAPACK
  bool has_nan = false;
  // Solutions of a matrix with a NaN are NaN, but it has no inverse, as in TensorFlow.
  Status check_invertible() const {
    return has_nan ? invalid_argument(kNotInvertible) : lapack_status(info, kNotInvertible);
  }
};
// The factors of a row-major matrix. Those of a matrix with a NaN, which OpenBLAS loses on the way,
// are NaN.
template <typename T, typename Stored>
Status factorize(const Lapack& library, const Stored* x, int64_t n, Factors<T>& factors) {
  RETURN_IF_ERROR(factors.lu.status());
  RETURN_IF_ERROR(factors.pivots.status());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) factors.lu[j * n + i] = static_cast<T>(x[i * n + j]);
  }
  if (any_nan(factors.lu.get(), n * n)) {
    std::fill_n(factors.lu.get(), n * n, not_a_number<T>());
    std::iota(factors.pivots.get(), factors.pivots.get() + n, 1);
    factors.has_nan = true;
    return {};
  }
  factors.info = library.of<T>().lu(static_cast<int>(n), factors.lu.get(), factors.pivots.get());
  return factors.info < 0 ? lapack_status(factors.info, "") : Status();
}

// Calls f(matrix, factors) for each matrix of x, where f returns a Status. The elements of x are of
// type Stored, the factors of type T.
template <typename T, typename Stored, typename F>
Status for_each_factors(const Tensor& x, const MatrixSizes& sizes, F&& f) {
  const int64_t n = sizes.rows;
  return for_each_matrix(sizes.count, static_cast<double>(n * n * n),
                         [&](const Lapack& library, int64_t matrix) {
                           Factors<T> factors(n);
                           const Stored* from = x.data<Stored>().data() + matrix * n * n;
                           RETURN_IF_ERROR((factorize<T, Stored>(library, from, n, factors)));
                           return f(library.of<T>(), matrix, factors);
                         });
}

template <typename T, typename Stored>
Status invert(KernelContext& c, const MatrixSizes& sizes) {
  const bool adjoint = c.attrs<AdjointAttrs>().adjoint;
  const int64_t n = sizes.rows;
  Stored* y = c.out<Stored>(0).data();
  return for_each_factors<T, Stored>(
      c.input(0), sizes, [&](const auto& routines, int64_t matrix, Factors<T>& factors) {
        RETURN_IF_ERROR(factors.check_invertible());
        MatrixScratch<T>& inverse = factors.lu;
        const int info = routines.invert_lu(sizes.n(), inverse.get(), factors.pivots.get());
        Stored* to = y + matrix * n * n;
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            to[i * n + j] =
                static_cast<Stored>(adjoint ? conjugate(inverse[i * n + j]) : inverse[j * n + i]);
          }
        }
        return lapack_status(info, kNotInvertible);
      });
}

Status inverse_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  if (c.input(0).num_elements() == 0) return {};
  if (c.input(0).dtype() == DType::kHalf) return invert<float, Half>(c, sizes);
  return visit_matrix_type(c.input(0).dtype(), [&](auto zero) {
    return invert<decltype(zero), decltype(zero)>(c, sizes);
  });
}

// -Y^H dY Y^H; for the inverse of the adjoint -Y dY^H Y.
void inverse_gradient(GradientContext& c) {
  Formula y(c, c.y(0)), dy(c, c.dy());
  c.set_dx(0, c.attrs<AdjointAttrs>().adjoint
                  ? -product(product(y, dy, Adjoint::kSecond), y)
                  : -product(product(y, dy, Adjoint::kFirst), y, Adjoint::kSecond));
}

void define_matrix_inverse(OpRegistry& ops) {
  ops.define(kMatrixInverse,
             {
                 .name = "MatrixInverse",
                 .python = "linalg.inv",
                 .summary = "The inverses of square matrices, or of their conjugate transposes.",
                 .details = "Raises: InvalidArgumentError: A matrix is singular.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kMatrixTypes | DTypeSet{DType::kHalf}}},
                 .infer = square_matrix_shape,
                 .gradient = inverse_gradient,
                 .batch = batch_leading_axes,
                 .body = kernel(inverse_kernel),
                 .cost = cubic_cost<1>,
             });
}

// --- MatrixDeterminant and LogMatrixDeterminant.

Status determinant_shape(InferContext& c) {
  RETURN_IF_ERROR(check_is_square(c, 0));
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_shape(i, c.shape(0).has_rank() ? batch_of_matrices(c.shape(0)) : Shape::unknown_rank());
  }
  return {};
}

// Calls f(matrix, pivot) for each element of type T on the diagonal of U, the sign of the
// permutation taken into the first.
template <typename T, typename F>
Status for_each_pivot(KernelContext& c, F&& f) {
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  if (c.input(0).num_elements() == 0) return {};
  return for_each_factors<T, T>(c.input(0), sizes,
                                [&](const auto&, int64_t matrix, const Factors<T>& factors) {
                                  bool is_odd = false;
                                  for (int64_t i = 0; i < sizes.rows; ++i)
                                    is_odd ^= factors.pivots[i] != i + 1;
                                  for (int64_t i = 0; i < sizes.rows; ++i) {
                                    const T pivot = factors.lu[i * sizes.rows + i];
                                    f(matrix, i == 0 && is_odd ? -pivot : pivot);
                                  }
                                  return Status();
                                });
}

// A product with its exponent apart, which may leave the range of T on the way.
template <typename T>
struct Product {
  T factor = T(1);
  int exponent = 0;
  void multiply(T by) {
    factor *= scaled(by);
    factor = scaled(factor);
  }
  T value() const { return scaled(factor, exponent); }

 private:
  // x times 2^by.
  static T scaled(T x, int by) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::ldexp(x, by);
    } else {
      return {std::ldexp(x.real(), by), std::ldexp(x.imag(), by)};
    }
  }
  // x near 1, the rest of it in the exponent.
  T scaled(T x) {
    const auto size = std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
    if (size == 0 || !std::isfinite(size)) return x;
    const int own = std::ilogb(size);
    exponent += own;
    return scaled(x, -own);
  }
};

Status determinant_kernel(KernelContext& c) {
  return visit_matrix_type(c.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> y = c.out<T>(0);
    std::vector<Product<T>> products(y.size());
    RETURN_IF_ERROR(for_each_pivot<T>(
        c, [&products](int64_t matrix, T pivot) { products[matrix].multiply(pivot); }));
    std::ranges::transform(products, y.begin(), &Product<T>::value);
    return Status();
  });
}

Status log_determinant_kernel(KernelContext& c) {
  return visit_matrix_type(c.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    T *sign = c.out<T>(0).data(), *log = c.out<T>(1).data();
    std::fill_n(sign, c.output(0).num_elements(), T(1));
    std::fill_n(log, c.output(1).num_elements(), T(0));
    return for_each_pivot<T>(c, [sign, log](int64_t matrix, T pivot) {
      const auto size = std::abs(pivot);
      sign[matrix] *= size == 0          ? T(0)
                      : std::isinf(size) ? T(std::real(pivot) < 0 ? -1 : 1)
                                         : pivot / size;
      log[matrix] += T(std::log(size));
    });
  });
}

// Numbers of the matrices, one each, as matrices of one element.
Formula for_matrices(const Formula& x) {
  Emitter& emit = x.emit();
  const Tensor last = constant(emit, Tensor::scalar(int32_t{-1}));
  return {emit, emit(kExpandDims, {emit(kExpandDims, {x, last}), last})};
}

void define_determinants(OpRegistry& ops) {
  ops.define(kMatrixDeterminant,
             {
                 .name = "MatrixDeterminant",
                 .python = "linalg.det",
                 .summary = "The determinants of square matrices.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
                 .infer = determinant_shape,
                 .gradient =
                     [](GradientContext& c) {
                       Formula factor = Formula(c, c.dy()) * conj(Formula(c, c.y(0)));
                       c.set_dx(0, for_matrices(factor) *
                                       call(kMatrixInverse, Formula(c, c.x(0)), {true}));
                     },
                 .batch = batch_leading_axes,
                 .body = kernel(determinant_kernel),
                 .cost = cubic_cost<1>,
             });
  ops.define(kLogMatrixDeterminant,
             {
                 .name = "LogMatrixDeterminant",
                 .python = "linalg.slogdet",
                 .summary = "The signs of the determinants of square matrices, and the logarithms "
                            "of their sizes.",
                 .details = "Of complex matrices the sign is the determinant divided by its size. "
                            "No gradient flows through the sign.",
                 .inputs = {"input: T"},
                 .outputs = {"sign: T", "log_abs_determinant: T"},
                 .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
                 .infer = determinant_shape,
                 .gradient =
                     [](GradientContext& c) {
                       c.set_dx(0, for_matrices(Formula(c, c.dy(1))) *
                                       call(kMatrixInverse, Formula(c, c.x(0)), {true}));
                     },
                 .batch = batch_leading_axes,
                 .body = kernel(log_determinant_kernel),
                 .cost = cubic_cost<1>,
             });
}

// --- MatrixSolve.

Status solve_shape(InferContext& c) {
  RETURN_IF_ERROR(check_is_square(c, 0, "First input (lhs) must be a square matrix."));
  const Shape &matrix = c.shape(0), &rhs = c.shape(1);
  c.set_shape(0, rhs);
  if (!matrix.has_rank() || !rhs.has_rank()) return {};
  if (matrix.rank() != rhs.rank()) {
    return invalid_argument("All input tensors must have the same rank. They have shapes ",
                            matrix.to_message(), " and ", rhs.to_message());
  }
  auto batch = merge_shapes(batch_of_matrices(matrix), batch_of_matrices(rhs));
  if (!batch.ok()) {
    return invalid_argument(
        "All input tensors must have the same outer dimensions. They have shapes ",
        matrix.to_message(), " and ", rhs.to_message());
  }
  auto rows = c.merge(matrix[matrix.rank() - 1], rhs[rhs.rank() - 2]);
  if (!rows.ok()) {
    return invalid_argument("Input matrix and rhs are incompatible. They have shapes ",
                            matrix.to_message(), " and ", rhs.to_message());
  }
  batch->push_back(*rows);
  batch->push_back(rhs[rhs.rank() - 1]);
  c.set_shape(0, *batch);
  return {};
}

Status solve_kernel(KernelContext& c) {
  const Tensor& out = c.output(0);
  const bool adjoint = c.attrs<AdjointAttrs>().adjoint;
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  RETURN_IF_ERROR(sizes_of_matrices(out).status());
  if (out.num_elements() == 0) return {};
  return visit_matrix_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = sizes.rows, columns = out.shape().size(out.rank() - 1), size = n * columns;
    return for_each_factors<T, T>(
        c.input(0), sizes, [&](const auto& routines, int64_t matrix, const Factors<T>& factors) {
          RETURN_IF_ERROR(lapack_status(factors.info, "Input matrix is not invertible."));
          MatrixScratch<T> x(size);
          RETURN_IF_ERROR(x.status());
          transpose_matrix(c.in<T>(1).data() + matrix * size, n, columns, x.get());
          const int info = routines.solve_lu(adjoint ? Transform::kAdjoint : Transform::kNone,
                                             sizes.n(), static_cast<int>(columns), factors.lu.get(),
                                             factors.pivots.get(), x.get());
          transpose_matrix(x.get(), columns, n, c.out<T>(0).data() + matrix * size);
          return lapack_status(info, "Input matrix is not invertible.");
        });
  });
}

// dB = A^-H dY and dA = -dB Y^H, or with `adjoint` the adjoint of that dA.
template <typename Attrs>
std::pair<Formula, Formula> solve_gradients(GradientContext& c, const OpHandle<Attrs>& op,
                                            Attrs attrs) {
  const bool adjoint = attrs.adjoint;
  attrs.adjoint = !adjoint;
  Formula y(c, c.y(0)), db(c, c(op, {c.x(0), c.dy()}, attrs));
  return {adjoint ? -product(y, db, Adjoint::kSecond) : -product(db, y, Adjoint::kSecond), db};
}

void define_matrix_solve(OpRegistry& ops) {
  ops.define(kMatrixSolve,
             {
                 .name = "MatrixSolve",
                 .python = "linalg.solve",
                 .summary = "The solutions X of A X = B for square matrices A, or of A^H X = B.",
                 .details = "Raises: InvalidArgumentError: A matrix is singular.",
                 .inputs = {"matrix: T", "rhs: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
                 .infer = solve_shape,
                 .gradient =
                     [](GradientContext& c) {
                       auto [da, db] = solve_gradients(c, kMatrixSolve, c.attrs<AdjointAttrs>());
                       if (c.wants(0)) c.set_dx(0, da);
                       if (c.wants(1)) c.set_dx(1, db);
                     },
                 .batch = batch_leading_axes,
                 .body = kernel(solve_kernel),
                 .cost = cubic_cost<1>,
             });
}

// --- MatrixTriangularSolve.

Status triangular_solve_shape(InferContext& c) {
  const Shape &matrix = c.shape(0), &rhs = c.shape(1);
  for (int i = 0; i < 2; ++i) {
    if (!c.shape(i).has_rank() || c.shape(i).rank() >= 2) continue;
    return invalid_argument("In[", i, "] ndims must be >= 2: ", c.shape(i).rank());
  }
  RETURN_IF_ERROR(check_is_square(c, 0, "In[0] matrices in the last dimensions must be square."));
  c.set_shape(0, Shape::unknown_rank());
  if (!matrix.has_rank() || !rhs.has_rank()) return {};
  auto rows = c.merge(matrix[matrix.rank() - 1], rhs[rhs.rank() - 2]);
  if (!rows.ok()) {
    return invalid_argument("In[0] mismatch In[1] shape: ", matrix.to_message(), " ",
                            rhs.to_message());
  }
  auto batch = c.broadcast(batch_of_matrices(matrix), batch_of_matrices(rhs));
  if (!batch.ok()) {
    return invalid_argument("In[0] and In[1] must have compatible batch dimensions: ",
                            matrix.to_message(), " vs. ", rhs.to_message());
  }
  batch->push_back(*rows);
  batch->push_back(rhs[rhs.rank() - 1]);
  c.set_shape(0, *batch);
  return {};
}

Status triangular_solve_kernel(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1), &out = c.output(0);
  const auto& attrs = c.attrs<TriangularSolveAttrs>();
  for (const Tensor* x : {&a, &b, &out}) RETURN_IF_ERROR(sizes_of_matrices(*x).status());
  if (out.num_elements() == 0) return {};
  const int64_t n = out.shape().size(out.rank() - 2), columns = out.shape().size(out.rank() - 1);
  const Shape batch = batch_of_matrices(out.shape()), of_a = batch_of_matrices(a.shape()),
              of_b = batch_of_matrices(b.shape());
  std::vector<std::array<int64_t, 2>> places;
  for_each_broadcast<2>(batch, {&of_a, &of_b},
                        [&](int64_t, const auto& offsets) { places.push_back(offsets); });
  return visit_matrix_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto count = static_cast<int64_t>(places.size());
    return for_each_matrix(
        count, static_cast<double>(n * n * columns), [&](const Lapack& library, int64_t matrix) {
          const auto [place_of_a, place_of_b] = places[static_cast<size_t>(matrix)];
          T* x = c.out<T>(0).data() + matrix * n * columns;
          std::copy_n(c.in<T>(1).data() + place_of_b * n * columns, n * columns, x);
          // Read by columns, all three are transposed: X^T A^T = B^T.
          library.of<T>().solve_triangular(attrs.lower,
                                           attrs.adjoint ? Transform::kAdjoint : Transform::kNone,
                                           static_cast<int>(columns), static_cast<int>(n),
                                           c.in<T>(0).data() + place_of_a * n * n, x);
          return Status();
        });
  });
}

void triangular_solve_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<TriangularSolveAttrs>();
  auto [da, db] = solve_gradients(c, kMatrixTriangularSolve, attrs);
  if (c.wants(0)) {
    c.set_dx(0, reduce_to_shape(c, attrs.lower ? lower_part(da) : upper_part(da), 0));
  }
  if (c.wants(1)) c.set_dx(1, reduce_to_shape(c, db, 1));
}

void define_matrix_triangular_solve(OpRegistry& ops) {
  ops.define(
      kMatrixTriangularSolve,
      {
          .name = "MatrixTriangularSolve",
          .summary = "The solutions X of A X = B for triangular matrices A, or of A^H X = B.",
          .details = "Of A only the triangle is read. The matrices of both broadcast. A zero "
                     "on the diagonal gives elements that are not finite.",
          .inputs = {"matrix: T", "rhs: T"},
          .outputs = {"output: T"},
          .types = {{"T", kMatrixTypes, kFloatTypes | kComplexTypes}},
          .infer = triangular_solve_shape,
          .gradient = triangular_solve_gradient,
          .batch = batch_broadcasting,
          .body = kernel(triangular_solve_kernel),
          .cost = cubic_cost<1>,
      });
}

// --- Lu.

Status lu_shape(InferContext& c) {
  RETURN_IF_ERROR(check_is_square(c, 0));
  const Shape& x = c.shape(0);
  c.set_shape(0, x);
  c.set_shape(1, Shape::unknown_rank());
  if (!x.has_rank()) return {};
  Shape rows = batch_of_matrices(x);
  rows.push_back(x[x.rank() - 1]);
  c.set_shape(1, std::move(rows));
  return {};
}

Status lu_kernel(KernelContext& c) {
  const Tensor &x = c.input(0), &order = c.output(1);
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(x));
  if (x.num_elements() == 0) return {};
  return visit_matrix_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = sizes.rows;
    return for_each_factors<T, T>(
        x, sizes, [&](const auto&, int64_t matrix, const Factors<T>& factors) {
          RETURN_IF_ERROR(factors.check_invertible());
          transpose_matrix(factors.lu.get(), n, n, c.out<T>(0).data() + matrix * n * n);
          const auto write_order = [&](auto* rows) {
            std::iota(rows, rows + n, 0);
            for (int64_t i = 0; i < n; ++i) std::swap(rows[i], rows[factors.pivots[i] - 1]);
          };
          if (order.dtype() == DType::kInt32) {
            write_order(c.out<int32_t>(1).data() + matrix * n);
          } else {
            write_order(c.out<int64_t>(1).data() + matrix * n);
          }
          return Status();
        });
  });
}

void define_lu(OpRegistry& ops) {
  ops.define(
      kLu,
      {
          .name = "Lu",
          .python = "linalg.lu",
          .summary = "The triangular factors L and U of square matrices with reordered rows.",
          .details = "lu: U in the upper triangle, L without its diagonal of ones below. p: "
                     "row i of L U is row p[i] of the input. Raises: InvalidArgumentError: A "
                     "matrix is singular.",
          .inputs = {"input: T"},
          .outputs = {"lu: T", "p: output_idx_type"},
          .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}, {"output_idx_type", kIndexTypes}},
          .infer = lu_shape,
          .batch = batch_leading_axes,
          .body = kernel(lu_kernel),
          .cost = cubic_cost<1>,
      });
}

}  // namespace

void define_matrix_ops(OpRegistry& ops) {
  define_cholesky(ops);
  define_matrix_inverse(ops);
  define_determinants(ops);
  define_matrix_solve(ops);
  define_matrix_triangular_solve(ops);
  define_lu(ops);
}

}  // namespace graven::engine
