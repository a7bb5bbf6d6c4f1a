#include <cmath>

#include "graven/ir/batch_context.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/formulas.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/matrix_formulas.h"
#include "graven/ops/matrix_kernels.h"
#include "graven/ops/matrix_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/slice_ops.h"

// Functions of whole matrices: the exponential by a Pade approximant (N. J. Higham, "The scaling
// and squaring method for the matrix exponential revisited", 2005), square root and logarithm by
// Schur factors (Higham, "Functions of Matrices", 2008, algorithms 6.3 and 11.9). A function of a
// transpose is the transpose of the function, so rows need not become columns for LAPACK.

namespace graven::engine {
namespace {

// The largest size of an element of each matrix, in its dtype and with its axes kept; 1 where all
// are 0. No gradient flows through it.
Formula largest_element(const Formula& x) {
  if (!x.tensor()) return x;  // after an error
  Emitter& emit = x.emit();
  const DType real = real_part_type(x.dtype());
  const Formula sizes =
      is_complex(x.dtype()) ? call(kComplexAbs, x, {.Tout = real}) : call(kAbs, x);
  const int32_t axes[] = {-2, -1};
  const Formula largest(emit, emit(kMax, {sizes, int32_vector(emit, axes)}, {.keep_dims = true}));
  const Tensor is_there = call(kGreater, largest, call(kZerosLike, largest));
  const Tensor scale = emit(kSelectV2, {is_there, largest, call(kOnesLike, largest)});
  return {emit, cast(emit, emit(kStopGradient, {scale}), x.dtype())};
}

// The gradient of a function f of matrices: f of [[A^H, dY], [0, A^H]] has it at the upper right
// (Higham, theorem 3.6). It is linear in dY, which is made as large as A for it: f's errors are
// as large as the block is, and one that stands out costs halvings and roots that A does not need.
void matrix_function_gradient(GradientContext& c) {
  Formula x = adjoint(Formula(c, c.x(0))), given(c, c.dy());
  const Formula size_of_x = largest_element(x), size_of_dy = largest_element(given);
  const Formula dy = given / size_of_dy * size_of_x;
  const Tensor last = constant(c, Tensor::scalar(int32_t{-1}));
  const Tensor rows = constant(c, Tensor::scalar(int32_t{-2}));
  const auto joined_columns = [&](const Tensor& a, const Tensor& b) {
    return c(kConcatV2, {a, b, last});
  };
  const Tensor block =
      c(kConcatV2, {joined_columns(x, dy), joined_columns(call(kZerosLike, x), x), rows});
  const Tensors y = c.apply(c.op(), {&block, 1}, c.raw_attrs());
  if (y.empty()) return;
  const Size zero(0), one(1), n(element_of(c, c.shape_of_x(0), -1));
  const auto vector = [&](const Size& row, const Size& column) {
    const Size all[] = {zero, row, column};
    return vector_of(c, all);
  };
  const Formula part(c, c(kStridedSlice, {y[0], vector(zero, n), vector(n, zero), vector(one, one)},
                          {.end_mask = 4, .ellipsis_mask = 1}));
  c.set_dx(0, part / size_of_x * size_of_dy);
}

// So many operations one takes for each element and column.
constexpr int kOperations = 20;

// Calls f(library, n, from, to) for each matrix; one with elements that are not finite gives NaN.
template <typename F>
Status for_each_matrix_function(KernelContext& c, F&& f) {
  const Tensor& x = c.input(0);
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(x));
  if (x.num_elements() == 0) return {};
  return visit_matrix_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t size = sizes.rows * sizes.rows;
    return for_each_matrix(sizes.count, kOperations * static_cast<double>(size * sizes.rows),
                           [&](const Lapack& library, int64_t matrix) {
                             const T* from = c.in<T>(0).data() + matrix * size;
                             T* to = c.out<T>(0).data() + matrix * size;
                             if (are_finite(from, size)) return f(library, sizes.rows, from, to);
                             std::fill_n(to, size, not_a_number<T>());
                             return Status();
                           });
  });
}

// The largest sum of sizes in a row.
template <typename T>
double largest_row(const T* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::abs(x[i * n + j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

// --- MatrixExponential.

template <typename T>
Status exponential(const Lapack& library, int64_t n, const T* from, T* to) {
  using R = RealOf<T>;
  constexpr const char* kNoExponential = "The matrix is too large to have an exponential.";
  constexpr double kLargest = 5.371920351148152;  // norm for which the approximant is exact
  constexpr double kPade[] = {64764752532480000.,
                              32382376266240000.,
                              7771770303897600.,
                              1187353796428800.,
                              129060195264000.,
                              10559470521600.,
                              670442572800.,
                              33522128640.,
                              1323241920.,
                              40840800.,
                              960960.,
                              16380.,
                              182.,
                              1.};
  const auto& routines = library.of<T>();
  const int64_t size = n * n;
  const auto rows = static_cast<int>(n);
  const MatrixScratch<T> memory(7 * size);
  const MatrixScratch<int> pivots(n);
  RETURN_IF_ERROR(memory.status());
  RETURN_IF_ERROR(pivots.status());
  T *a = memory.get(), *a2 = a + size, *a4 = a2 + size, *a6 = a4 + size, *sum = a6 + size,
    *u = sum + size, *v = u + size;
  const auto multiply = [&](const T* x, const T* y, T* z) {
    routines.multiply(Transform::kNone, Transform::kNone, rows, x, y, z);
  };
  const double norm = largest_row(from, n);
  if (std::isinf(norm)) {
    std::fill_n(to, size, not_a_number<T>());
    return {};
  }
  const int halvings =
      norm > kLargest ? static_cast<int>(std::ceil(std::log2(norm / kLargest))) : 0;
  // In two steps: the whole scale may be too small for a number with all its digits.
  const R half_of_scale = std::ldexp(R(1), -(halvings / 2)),
          rest_of_scale = std::ldexp(R(1), -(halvings - halvings / 2));
  for (int64_t i = 0; i < size; ++i) a[i] = from[i] * half_of_scale * rest_of_scale;
  multiply(a, a, a2);
  multiply(a2, a2, a4);
  multiply(a2, a4, a6);
  // The sums of even powers with the coefficients from kPade[first] on, times A^6 for the last.
  const auto even_powers = [&](int first, T* out) {
    // The first coefficient is exactly 1, so that nilpotent matrices, and zeros, are exact.
    const auto b = [&](int i) { return static_cast<R>(kPade[first + i] / kPade[0]); };
    for (int64_t i = 0; i < size; ++i) sum[i] = b(12) * a6[i] + b(10) * a4[i] + b(8) * a2[i];
    multiply(a6, sum, out);
    for (int64_t i = 0; i < size; ++i) out[i] += b(6) * a6[i] + b(4) * a4[i] + b(2) * a2[i];
    for (int64_t i = 0; i < n; ++i) out[i * n + i] += b(0);
  };
  even_powers(1, v);
  multiply(a, v, u);
  even_powers(0, v);
  for (int64_t i = 0; i < size; ++i) {
    a[i] = v[i] - u[i];
    to[i] = v[i] + u[i];
  }
  RETURN_IF_ERROR(lapack_status(routines.lu(rows, a, pivots.get()), kNoExponential));
  RETURN_IF_ERROR(lapack_status(
      routines.solve_lu(Transform::kNone, rows, rows, a, pivots.get(), to), kNoExponential));
  for (int i = 0; i < halvings; ++i) {
    multiply(to, to, sum);
    std::copy_n(sum, size, to);
  }
  return {};
}

// --- MatrixSquareRoot and MatrixLogarithm, by triangular matrices, column-major.

// The square root of an upper triangular matrix, column by column.
template <typename C>
void take_root(C* t, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    t[j * n + j] = std::sqrt(t[j * n + j]);
    for (int64_t i = j - 1; i >= 0; --i) {
      C rest = t[j * n + i];
      for (int64_t k = i + 1; k < j; ++k) rest -= t[k * n + i] * t[j * n + k];
      t[j * n + i] = rest / (t[i * n + i] + t[j * n + j]);
    }
  }
}

// The logarithm of an upper triangular matrix without a zero on its diagonal: of a root so high
// that it is near 1, by Gauss's quadrature of x / (1 + s x) over s.
template <typename C>
Status take_logarithm(const LapackRoutines<C>& routines, C* t, int64_t n) {
  using R = RealOf<C>;
  constexpr double kNodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                               0.9602898564975363};
  constexpr double kWeights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                 0.1012285362903763};
  constexpr double kNear = 0.25;
  constexpr int kMostRoots = 100;
  const int64_t size = n * n;
  const MatrixScratch<C> memory(3 * size + n);
  RETURN_IF_ERROR(memory.status());
  C *x = memory.get(), *divisor = x + size, *sum = divisor + size, *diagonal = sum + size;
  for (int64_t i = 0; i < n; ++i) diagonal[i] = std::log(t[i * n + i]);
  int roots = 0;
  for (;; ++roots) {
    std::copy_n(t, size, x);
    for (int64_t i = 0; i < n; ++i) x[i * n + i] -= R(1);
    if (largest_row(x, n) <= kNear || roots == kMostRoots) break;
    take_root(t, n);
  }
  std::fill_n(sum, size, C(0));
  for (int node = 0; node < 8; ++node) {
    const double sign = node < 4 ? -1 : 1;
    const auto at = static_cast<R>((1 + sign * kNodes[node % 4]) / 2);
    for (int64_t i = 0; i < size; ++i) divisor[i] = at * x[i];
    for (int64_t i = 0; i < n; ++i) divisor[i * n + i] += R(1);
    std::copy_n(x, size, t);
    routines.solve_triangular(true, Transform::kNone, static_cast<int>(n), static_cast<int>(n),
                              divisor, t);
    const auto weight = static_cast<R>(std::ldexp(kWeights[node % 4] / 2, roots));
    for (int64_t i = 0; i < size; ++i) sum[i] += weight * t[i];
  }
  std::copy_n(sum, size, t);
  for (int64_t i = 0; i < n; ++i) t[i * n + i] = diagonal[i];
  return {};
}

// f(A) = Q f(T) Q^H, where `take` replaces a triangular T by f(T). Where the result of a real
// matrix is not real, it is NaN.
template <typename T, typename F>
Status by_schur_factors(const Lapack& library, int64_t n, const T* from, T* to, F&& take) {
  using R = RealOf<T>;
  using C = std::complex<R>;
  const auto& routines = library.of<C>();
  const int64_t size = n * n;
  const auto rows = static_cast<int>(n);
  const MatrixScratch<C> memory(3 * size);
  RETURN_IF_ERROR(memory.status());
  C *t = memory.get(), *q = t + size, *product = q + size;
  std::copy_n(from, size, t);
  RETURN_IF_ERROR(lapack_status(routines.schur(rows, t, q), "The Schur factors do not converge."));
  RETURN_IF_ERROR(take(routines, t));
  routines.multiply(Transform::kNone, Transform::kNone, rows, q, t, product);
  routines.multiply(Transform::kNone, Transform::kAdjoint, rows, product, q, t);
  if constexpr (std::is_same_v<T, C>) {
    std::copy_n(t, size, to);
  } else {
    R largest = 0, imaginary = 0;
    for (int64_t i = 0; i < size; ++i) {
      largest = std::max(largest, std::abs(t[i]));
      imaginary = std::max(imaginary, std::abs(t[i].imag()));
    }
    const bool is_real = imaginary <= std::sqrt(std::numeric_limits<R>::epsilon()) * largest;
    for (int64_t i = 0; i < size; ++i) to[i] = is_real ? t[i].real() : not_a_number<T>();
  }
  return {};
}

Status exponential_kernel(KernelContext& c) {
  return for_each_matrix_function(c, [](const Lapack& library, int64_t n, const auto* from,
                                        auto* to) { return exponential(library, n, from, to); });
}

Status root_kernel(KernelContext& c) {
  return for_each_matrix_function(
      c, [](const Lapack& library, int64_t n, const auto* from, auto* to) {
        return by_schur_factors(library, n, from, to, [n](const auto&, auto* t) {
          take_root(t, n);
          return Status();
        });
      });
}

Status logarithm_kernel(KernelContext& c) {
  return for_each_matrix_function(
      c, [](const Lapack& library, int64_t n, const auto* from, auto* to) {
        return by_schur_factors(library, n, from, to, [n](const auto& routines, auto* t) {
          for (int64_t i = 0; i < n; ++i) {
            if (t[i * n + i] != decltype(t[0] + t[0])(0)) continue;
            std::fill_n(t, n * n, not_a_number<std::remove_reference_t<decltype(*t)>>());
            return Status();
          }
          return take_logarithm(routines, t, n);
        });
      });
}

}  // namespace

void define_matrix_function_ops(OpRegistry& ops) {
  ops.define(kMatrixExponential, {
                                     .name = "MatrixExponential",
                                     .python = "linalg.expm",
                                     .summary = "The exponentials of square matrices: the sums of "
                                                "A^k / k! over all k.",
                                     .inputs = {"input: T"},
                                     .outputs = {"output: T"},
                                     .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
                                     .infer = square_matrix_shape,
                                     .gradient = matrix_function_gradient,
                                     .batch = batch_leading_axes,
                                     .body = kernel(exponential_kernel),
                                     .cost = cubic_cost<kOperations>,
                                 });
  ops.define(kMatrixLogarithm, {
                                   .name = "MatrixLogarithm",
                                   .python = "linalg.logm",
                                   .summary = "The principal logarithms of square matrices, whose "
                                              "exponentials they are; NaN of singular ones.",
                                   .inputs = {"input: T"},
                                   .outputs = {"output: T"},
                                   .types = {{"T", kComplexTypes}},
                                   .infer = square_matrix_shape,
                                   .gradient = matrix_function_gradient,
                                   .batch = batch_leading_axes,
                                   .body = kernel(logarithm_kernel),
                                   .cost = cubic_cost<kOperations>,
                               });
  ops.define(kMatrixSquareRoot,
             {
                 .name = "MatrixSquareRoot",
                 .python = "linalg.sqrtm",
                 .summary = "The principal square roots of square matrices: X with X X = A; NaN of "
                            "real matrices where none is real.",
                 .inputs = {"input: T"},
                 .outputs = {"output: T"},
                 .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
                 .infer = square_matrix_shape,
                 .gradient = matrix_function_gradient,
                 .batch = batch_leading_axes,
                 .body = kernel(root_kernel),
                 .cost = cubic_cost<kOperations>,
             });
}

}  // namespace graven::engine
