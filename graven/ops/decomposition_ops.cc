#include "graven/ops/decomposition_ops.h"

#include "graven/ir/batch_context.h"
#include "graven/ir/cost.h"
#include "graven/ir/gradient_context.h"
#include "graven/ir/structural_ops.h"
#include "graven/ops/elements.h"
#include "graven/ops/formulas.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/matrix_formulas.h"
#include "graven/ops/matrix_kernels.h"
#include "graven/ops/matrix_ops.h"
#include "graven/ops/register_ops.h"
#include "graven/ops/sizes.h"
#include "graven/ops/slice_ops.h"

namespace graven::engine {
namespace {

// So many operations a decomposition takes for each element and row or column, of which there are
// fewer.
constexpr int kOperationsOfQr = 4, kOperationsOfSvd = 16, kOperationsOfEigh = 8,
              kOperationsOfEig = 25;

// The batch axes of x with other sizes behind them.
Shape batch_with(const Shape& x, std::initializer_list<Dim> sizes) {
  Shape out = batch_of_matrices(x);
  for (Dim size : sizes) out.push_back(size);
  return out;
}

// The smaller size of matrices.
Dim smaller(const Shape& x) {
  const Dim m = x[x.rank() - 2], n = x[x.rank() - 1];
  if (m == n) return m;
  return m.is_number() && n.is_number() ? Dim(std::min(m.number(), n.number())) : Dim::unknown();
}

// A column-major copy of matrix i of x, in memory of its own.
template <typename T, typename Stored>
void copy_columns(const Tensor& x, const MatrixSizes& sizes, int64_t i, T* to) {
  const Stored* from = x.data<Stored>().data() + i * sizes.rows * sizes.columns;
  for (int64_t column = 0; column < sizes.columns; ++column) {
    for (int64_t row = 0; row < sizes.rows; ++row) {
      to[column * sizes.rows + row] = static_cast<T>(from[row * sizes.columns + column]);
    }
  }
}

// The number of operations of a method: `factor` times rows, columns and the smaller of both.
double operations(const MatrixSizes& sizes, double factor) {
  return factor * static_cast<double>(sizes.rows * sizes.columns) *
         static_cast<double>(std::min(sizes.rows, sizes.columns));
}

// 1 / (x_j - x_i), 0 where both are equal.
Formula inverse_differences(const Formula& x) {
  Formula differences = as_rows(x) - as_columns(x);
  return call(kDivNoNan, call(kOnesLike, differences), differences);
}

// --- Qr.

Status qr_shape(InferContext& c) {
  RETURN_IF_ERROR(check_is_matrix(c, 0));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return unknown_outputs(c);
  const Dim m = x[x.rank() - 2], n = x[x.rank() - 1];
  const Dim k = c.attrs<QrAttrs>().full_matrices ? m : smaller(x);
  c.set_shape(0, batch_with(x, {m, k}));
  c.set_shape(1, batch_with(x, {k, n}));
  return {};
}

template <typename T, typename Stored>
Status factor_qr(KernelContext& c, const MatrixSizes& sizes) {
  const int64_t m = sizes.rows, n = sizes.columns;
  const int64_t k = c.output(1).shape().size(c.output(1).rank() - 2);
  return for_each_matrix(
      sizes.count, operations(sizes, kOperationsOfQr), [&](const Lapack& library, int64_t matrix) {
        const MatrixScratch<T> a(m * n), q(m * k);
        RETURN_IF_ERROR(a.status());
        RETURN_IF_ERROR(q.status());
        copy_columns<T, Stored>(c.input(0), sizes, matrix, a.get());
        int info = 0;
        if (are_finite(a.get(), m * n)) {
          info = library.of<T>().qr(sizes.m(), sizes.n(), static_cast<int>(k), a.get(), q.get());
        } else {  // OpenBLAS loses NaN on the way.
          std::fill_n(a.get(), m * n, not_a_number<T>());
          std::fill_n(q.get(), m * k, not_a_number<T>());
        }
        Stored* to_q = c.out<Stored>(0).data() + matrix * m * k;
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < k; ++j) to_q[i * k + j] = static_cast<Stored>(q[j * m + i]);
        }
        Stored* to_r = c.out<Stored>(1).data() + matrix * k * n;
        for (int64_t i = 0; i < k; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            to_r[i * n + j] = static_cast<Stored>(i <= j ? a[j * m + i] : T(0));
          }
        }
        return lapack_status(info, "There are no QR factors.");
      });
}

// Ones on the diagonal of all matrices of a tensor, zeros elsewhere.
template <typename T>
void set_identity(const Tensor& x) {
  T* to = x.mutable_data<T>().data();
  const int64_t n = x.num_elements() == 0 ? 0 : x.shape().size(x.rank() - 1);
  std::fill_n(to, x.num_elements(), T(0));
  for (int64_t i = 0; n > 0 && i < x.num_elements() / n; ++i) {
    to[i * n + i % x.shape().size(x.rank() - 2)] = T(1);
  }
}

Status qr_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  const DType dtype = c.input(0).dtype();
  if (c.input(0).num_elements() == 0) {
    if (dtype == DType::kHalf) return set_identity<Half>(c.output(0)), Status();
    visit_matrix_type(dtype, [&](auto zero) { set_identity<decltype(zero)>(c.output(0)); });
    return {};
  }
  if (dtype == DType::kHalf) return factor_qr<float, Half>(c, sizes);
  return visit_matrix_type(
      dtype, [&](auto zero) { return factor_qr<decltype(zero), decltype(zero)>(c, sizes); });
}

// x r^-H for upper triangular r.
Formula divided_by_adjoint(const Formula& x, const Formula& r) {
  return adjoint(call(kMatrixTriangularSolve, r, adjoint(x), {.lower = false}));
}

// Of A = Q R with at least as many rows as columns. With C = Q^H dA R^-1, dR = (C - W) R and
// dQ = Q W + (1 - Q Q^H) dA R^-1, where W = L - L^H + i Im(diag C) and L is C below its diagonal:
// the diagonal of R is real. `gq` and `gr` are the gradients of Q and R.
Formula qr_gradient_of_tall(const Formula& q, const Formula& r, const Formula& gq,
                            const Formula& gr) {
  Formula of_q = product(q, gq, Adjoint::kFirst), of_r = product(gr, r, Adjoint::kSecond);
  Formula m = of_q - of_r;
  Formula of_c = of_r + lower_part(half_diagonal(m - adjoint(m)));
  return divided_by_adjoint(product(q, of_c - of_q) + gq, r);
}

// The columns of matrices before, or behind, the first `count`.
Formula columns_of(const Formula& x, const Size& count, bool are_first) {
  Emitter& emit = x.emit();
  const Size zero(0), one(1);
  const auto vector = [&](const Size& first, const Size& second) {
    const Size both[] = {first, second};
    return vector_of(emit, both);
  };
  return {emit, emit(kStridedSlice,
                     {x, vector(zero, are_first ? zero : count),
                      vector(zero, are_first ? count : zero), vector(one, one)},
                     {.end_mask = are_first ? 0 : 2, .ellipsis_mask = 1})};
}

// A wide matrix is [X, Y] = Q [U, V], with X = Q U and V = Q^H Y; of a tall one Y and V are empty.
void qr_gradient(GradientContext& c) {
  const Shape& x = c.static_shape_of_x(0);
  const bool is_known = x.has_rank() && x[x.rank() - 2].is_number() && x[x.rank() - 1].is_number();
  const int64_t m = is_known ? x[x.rank() - 2].number() : 0;
  const int64_t n = is_known ? x[x.rank() - 1].number() : 0;
  if (c.attrs<QrAttrs>().full_matrices && m > n) {
    return c.fail(Status(Code::kUnimplemented,
                         "[Qr] the gradient needs full_matrices=False where there are more rows "
                         "than columns",
                         ErrorKind::kNotImplementedError));
  }
  Formula q(c, c.y(0)), r(c, c.y(1)), gq(c, c.dy(0)), gr = upper_part(Formula(c, c.dy(1)));
  if (is_known && m >= n) return c.set_dx(0, qr_gradient_of_tall(q, r, gq, gr));
  const Size rows = is_known ? Size(m) : Size(element_of(c, c.shape_of_y(1), -2));
  Formula y = columns_of(Formula(c, c.x(0)), rows, false), gv = columns_of(gr, rows, false);
  Formula gx =
      qr_gradient_of_tall(q, columns_of(r, rows, true), gq + product(y, gv, Adjoint::kSecond),
                          columns_of(gr, rows, true));
  c.set_dx(0, c(kConcatV2, {gx, product(q, gv), constant(c, Tensor::scalar(int32_t{-1}))}));
}

// Outputs that the attributes leave empty are the same for all rows.
void batch_decomposition(BatchContext& c) {
  const Tensor inputs[] = {c.x(0)};
  const Tensors made = c.apply(c.op(), inputs, c.raw_attrs());
  for (size_t i = 0; i < made.size(); ++i) {
    const auto number = static_cast<int>(i);
    c.set_y(number, made[i], c.row_shape_of_y(number) != Shape{0});
  }
}

void define_qr(OpRegistry& ops) {
  ops.define(kQr, {
                      .name = "Qr",
                      .python = "linalg.qr",
                      .summary = "Matrices as products of Q, whose columns are orthonormal, and an "
                                 "upper triangular R.",
                      .details = "full_matrices: Q is square, instead of of the smaller size.",
                      .inputs = {"input: T"},
                      .outputs = {"q: T", "r: T"},
                      .types = {{"T", kMatrixTypes | DTypeSet{DType::kHalf}}},
                      .infer = qr_shape,
                      .gradient = qr_gradient,
                      .batch = batch_leading_axes,
                      .body = kernel(qr_kernel),
                      .cost = cubic_cost<kOperationsOfQr>,
                  });
}

// --- Svd.

Status svd_shape(InferContext& c) {
  RETURN_IF_ERROR(check_is_matrix(c, 0));
  const auto& attrs = c.attrs<SvdAttrs>();
  const Shape& x = c.shape(0);
  for (int i = 0; i < 3; ++i) c.set_shape(i, Shape::unknown_rank());
  if (!attrs.compute_uv) {
    c.set_shape(1, {0});
    c.set_shape(2, {0});
  }
  if (!x.has_rank()) return {};
  const Dim m = x[x.rank() - 2], n = x[x.rank() - 1], k = smaller(x);
  c.set_shape(0, batch_with(x, {k}));
  if (!attrs.compute_uv) return {};
  c.set_shape(1, batch_with(x, {m, attrs.full_matrices ? m : k}));
  c.set_shape(2, batch_with(x, {n, attrs.full_matrices ? n : k}));
  return {};
}

template <typename T>
Status factor_svd(KernelContext& c, const MatrixSizes& sizes) {
  const auto& attrs = c.attrs<SvdAttrs>();
  const int64_t m = sizes.rows, n = sizes.columns, k = std::min(m, n);
  const int64_t columns_of_u = attrs.full_matrices ? m : k,
                rows_of_vh = attrs.full_matrices ? n : k;
  const Vectors vectors = !attrs.compute_uv     ? Vectors::kNone
                          : attrs.full_matrices ? Vectors::kAll
                                                : Vectors::kThin;
  return for_each_matrix(
      sizes.count, operations(sizes, kOperationsOfSvd), [&](const Lapack& library, int64_t matrix) {
        const MatrixScratch<T> a(m * n), u(attrs.compute_uv ? m * columns_of_u : 0);
        const MatrixScratch<RealOf<T>> s(k);
        RETURN_IF_ERROR(a.status());
        RETURN_IF_ERROR(u.status());
        RETURN_IF_ERROR(s.status());
        copy_columns<T, T>(c.input(0), sizes, matrix, a.get());
        T* to_s = c.out<T>(0).data() + matrix * k;
        // Read by columns, the conjugate of V^H is V by rows.
        T none = {};
        T* v = attrs.compute_uv ? c.out<T>(2).data() + matrix * n * rows_of_vh : &none;
        T* to_u = attrs.compute_uv ? c.out<T>(1).data() + matrix * m * columns_of_u : &none;
        if (!are_finite(a.get(), m * n)) {
          std::fill_n(to_s, k, not_a_number<T>());
          if (!attrs.compute_uv) return Status();
          std::fill_n(to_u, m * columns_of_u, not_a_number<T>());
          std::fill_n(v, n * rows_of_vh, not_a_number<T>());
          return Status();
        }
        const int info =
            library.of<T>().svd(vectors, sizes.m(), sizes.n(), a.get(), s.get(), u.get(), v);
        for (int64_t i = 0; i < k; ++i) to_s[i] = T(s[i]);
        if (attrs.compute_uv) {
          transpose_matrix(u.get(), columns_of_u, m, to_u);
          for (int64_t i = 0; i < n * rows_of_vh; ++i) v[i] = conjugate(v[i]);
        }
        return lapack_status(info, "The singular values do not converge.");
      });
}

Status svd_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  if (c.input(0).num_elements() == 0) {
    if (!c.attrs<SvdAttrs>().compute_uv) return {};
    visit_matrix_type(c.input(0).dtype(), [&](auto zero) {
      for (int i = 1; i < 3; ++i) set_identity<decltype(zero)>(c.output(i));
    });
    return {};
  }
  return visit_matrix_type(c.input(0).dtype(),
                           [&](auto zero) { return factor_svd<decltype(zero)>(c, sizes); });
}

// With J = F * (U^H dU), K = F * (V^H dV), F = 1 / (s_j^2 - s_i^2): U ((J + J^H) S + S (K + K^H) +
// diag(ds)) V^H, and what dU and dV have outside of the spaces of U and V (J. Townsend, 2016). Of
// complex matrices the phase of each pair of vectors is free, so the imaginary diagonal of V^H dV
// counts half, divided by S.
void svd_gradient(GradientContext& c) {
  const auto& attrs = c.attrs<SvdAttrs>();
  Formula ds(c, c.dy(0));
  if (!attrs.compute_uv) {
    const Tensors parts = c.apply(kSvd, {c.x(0)});
    if (parts.empty()) return;
    Formula u(c, parts[1]), v(c, parts[2]);
    return c.set_dx(0, product(u * as_rows(ds), v, Adjoint::kSecond));
  }
  const Shape& x = c.static_shape_of_x(0);
  if (attrs.full_matrices &&
      !(x.has_rank() && x[x.rank() - 2] == x[x.rank() - 1] && !x[x.rank() - 1].is_unknown())) {
    return c.fail(Status(Code::kUnimplemented,
                         "[Svd] the gradient with full_matrices needs square matrices",
                         ErrorKind::kNotImplementedError));
  }
  Formula s(c, c.y(0)), u(c, c.y(1)), v(c, c.y(2)), du(c, c.dy(1)), dv(c, c.dy(2));
  Formula f = inverse_differences(s * s);
  Formula inverse = call(kDivNoNan, call(kOnesLike, s), s);
  Formula of_u = product(u, du, Adjoint::kFirst), of_v = product(v, dv, Adjoint::kFirst);
  Formula j = f * of_u, k = f * of_v;
  Formula middle = (j + adjoint(j)) * as_rows(s) + as_columns(s) * (k + adjoint(k));
  Formula diagonal = ds;
  if (is_complex(s.dtype())) {
    Formula phase = diagonal_of(of_v);
    diagonal = diagonal + 0.5 * inverse * (conj(phase) - phase);
  }
  middle = with_diagonal(middle, diagonal);
  Formula dx = product(product(u, middle), v, Adjoint::kSecond);
  Formula rest_of_u = (du - product(u, of_u)) * as_rows(inverse);
  Formula rest_of_v = (dv - product(v, of_v)) * as_rows(inverse);
  c.set_dx(0,
           dx + product(rest_of_u, v, Adjoint::kSecond) + product(u, rest_of_v, Adjoint::kSecond));
}

void define_svd(OpRegistry& ops) {
  ops.define(kSvd,
             {
                 .name = "Svd",
                 .summary = "The singular values of matrices, in descending order, and U and V of "
                            "A = U diag(s) V^H.",
                 .details = "compute_uv: whether u and v are wanted; else they are empty. "
                            "full_matrices: u and v are square, instead of with as many columns as "
                            "s has values. A matrix with elements that are not finite gives NaN.",
                 .inputs = {"input: T"},
                 .outputs = {"s: T", "u: T", "v: T"},
                 .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
                 .infer = svd_shape,
                 .gradient = svd_gradient,
                 .batch = batch_decomposition,
                 .body = kernel(svd_kernel),
                 .cost = cubic_cost<kOperationsOfSvd>,
             });
}

// --- SelfAdjointEigV2 and Eig.

Status eig_shape(InferContext& c, bool has_vectors) {
  RETURN_IF_ERROR(check_is_square(c, 0));
  const Shape x = square_shape(c, 0);
  c.set_shape(0, x.has_rank() ? batch_with(x, {x[x.rank() - 1]}) : Shape::unknown_rank());
  c.set_shape(1, has_vectors ? x : Shape{0});
  return {};
}

template <typename T>
Status factor_eigh(KernelContext& c, const MatrixSizes& sizes) {
  constexpr const char* kFailed =
      "Self-adjoint eigen decomposition was not successful. The input might not be valid.";
  const bool wants_vectors = c.attrs<EighAttrs>().compute_v;
  const int64_t n = sizes.rows;
  return for_each_matrix(
      sizes.count, operations(sizes, kOperationsOfEigh),
      [&](const Lapack& library, int64_t matrix) {
        const MatrixScratch<T> a(n * n);
        const MatrixScratch<RealOf<T>> values(n);
        RETURN_IF_ERROR(a.status());
        RETURN_IF_ERROR(values.status());
        // The lower triangle by rows is the upper one by columns, of the conjugate matrix.
        std::copy_n(c.in<T>(0).data() + matrix * n * n, n * n, a.get());
        for (int64_t i = 0; i < n; ++i) {
          if (!are_finite(a.get() + i * n, i + 1)) return invalid_argument(kFailed);
        }
        RETURN_IF_ERROR(lapack_status(
            library.of<T>().eigh(wants_vectors, sizes.n(), a.get(), values.get()), kFailed));
        T* e = c.out<T>(0).data() + matrix * n;
        for (int64_t i = 0; i < n; ++i) e[i] = T(values[i]);
        if (wants_vectors) {
          transpose_matrix(a.get(), n, n, c.out<T>(1).data() + matrix * n * n, conjugate<T>);
        }
        return Status();
      });
}

Status eigh_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  if (c.input(0).num_elements() == 0) return {};
  return visit_matrix_type(c.input(0).dtype(),
                           [&](auto zero) { return factor_eigh<decltype(zero)>(c, sizes); });
}

// V (diag(de) + F * (V^H dV)) V^H with F = 1 / (e_j - e_i), as a gradient of the lower triangle,
// which alone is read.
void eigh_gradient(GradientContext& c) {
  Formula de(c, c.dy(0));
  Tensor vectors;
  if (c.attrs<EighAttrs>().compute_v) {
    vectors = c.y(1);
  } else {
    const Tensors parts = c.apply(kSelfAdjointEigV2, {c.x(0)});
    if (parts.empty()) return;
    vectors = parts[1];
  }
  Formula v(c, vectors), middle = diagonal_matrix(de);
  if (c.attrs<EighAttrs>().compute_v) {
    Formula dv(c, c.dy(1));
    middle = middle + inverse_differences(Formula(c, c.y(0))) * product(v, dv, Adjoint::kFirst);
  }
  Formula dx = product(product(v, middle), v, Adjoint::kSecond);
  c.set_dx(0, lower_part(half_diagonal(dx + adjoint(dx))));
}

template <typename T>
Status factor_eig(KernelContext& c, const MatrixSizes& sizes) {
  using C = std::complex<RealOf<T>>;
  constexpr const char* kFailed =
      "Eigen decomposition was not successful. The input might not be valid.";
  const bool wants_vectors = c.attrs<EigAttrs>().compute_v;
  const int64_t n = sizes.rows;
  return for_each_matrix(
      sizes.count, operations(sizes, kOperationsOfEig), [&](const Lapack& library, int64_t matrix) {
        const MatrixScratch<T> a(n * n);
        const MatrixScratch<C> values(n), vectors(wants_vectors ? n * n : 0);
        RETURN_IF_ERROR(a.status());
        RETURN_IF_ERROR(values.status());
        RETURN_IF_ERROR(vectors.status());
        copy_columns<T, T>(c.input(0), sizes, matrix, a.get());
        if (!are_finite(a.get(), n * n)) return invalid_argument(kFailed);
        RETURN_IF_ERROR(lapack_status(library.of<T>().eig(sizes.n(), a.get(), values.get(),
                                                          wants_vectors ? vectors.get() : nullptr),
                                      kFailed));
        std::copy_n(values.get(), n, c.out<C>(0).data() + matrix * n);
        if (wants_vectors) {
          transpose_matrix(vectors.get(), n, n, c.out<C>(1).data() + matrix * n * n);
        }
        return Status();
      });
}

Status eig_kernel(KernelContext& c) {
  ASSIGN_OR_RETURN(const MatrixSizes sizes, sizes_of_matrices(c.input(0)));
  if (c.input(0).num_elements() == 0) return {};
  return visit_matrix_type(c.input(0).dtype(),
                           [&](auto zero) { return factor_eig<decltype(zero)>(c, sizes); });
}

// V^-H (diag(de) + conj(F) * (V^H dV - V^H V diag(Re(V^H dV)))) V^H: vectors have length 1.
void eig_gradient(GradientContext& c) {
  const bool has_vectors = c.attrs<EigAttrs>().compute_v;
  Tensor vectors;
  if (has_vectors) {
    vectors = c.y(1);
  } else {
    const Tensors parts = c.apply(kEig, {c.x(0)}, {.Tout = c.attrs<EigAttrs>().Tout});
    if (parts.empty()) return;
    vectors = parts[1];
  }
  Formula v(c, vectors), middle = diagonal_matrix(Formula(c, c.dy(0)));
  if (has_vectors) {
    Formula of_v = product(v, Formula(c, c.dy(1)), Adjoint::kFirst), length = diagonal_of(of_v);
    length = 0.5 * (length + conj(length));
    Formula rest = of_v - product(v, v, Adjoint::kFirst) * as_rows(length);
    middle = middle + conj(inverse_differences(Formula(c, c.y(0)))) * rest;
  }
  Formula dx = call(kMatrixSolve, v, product(middle, v, Adjoint::kSecond), {.adjoint = true});
  const DType dtype = c.dtype_of_x(0);
  c.set_dx(0, is_complex(dtype) ? dx : call(kReal, dx, {.Tout = dtype}));
}

void define_eigen(OpRegistry& ops) {
  ops.define(
      kSelfAdjointEigV2,
      {
          .name = "SelfAdjointEigV2",
          .summary = "The eigenvalues of Hermitian matrices, in ascending order, and their "
                     "eigenvectors, the columns of v.",
          .details = "Only the lower triangle is read. compute_v: whether v is wanted; else "
                     "it is empty. Raises: InvalidArgumentError: An element is not finite.",
          .inputs = {"input: T"},
          .outputs = {"e: T", "v: T"},
          .types = {{"T", kMatrixTypes, DTypeSet{DType::kHalf}}},
          .infer = [](InferContext& c) { return eig_shape(c, c.attrs<EighAttrs>().compute_v); },
          .gradient = eigh_gradient,
          .batch = batch_decomposition,
          .body = kernel(eigh_kernel),
          .cost = cubic_cost<kOperationsOfEigh>,
      });
  ops.define(kEig,
             {
                 .name = "Eig",
                 .summary = "The eigenvalues of square matrices and their eigenvectors of length "
                            "1, the columns of v.",
                 .details = "compute_v: whether v is wanted; else it is empty. Raises: "
                            "InvalidArgumentError: An element is not finite.",
                 .inputs = {"input: T"},
                 .outputs = {"e: Tout", "v: Tout"},
                 .types = {{"T", kMatrixTypes}, {"Tout", kComplexTypes}},
                 .infer = [](InferContext& c) -> Status {
                   const DType wanted = c.attrs<EigAttrs>().Tout;
                   if (real_part_type(wanted) != real_part_type(c.dtype(0))) {
                     return invalid_argument("Invalid output dtype ", dtype_name(wanted), " for ",
                                             dtype_name(c.dtype(0)));
                   }
                   return eig_shape(c, c.attrs<EigAttrs>().compute_v);
                 },
                 .gradient = eig_gradient,
                 .batch = batch_decomposition,
                 .body = kernel(eig_kernel),
                 .cost = cubic_cost<kOperationsOfEig>,
             });
}

}  // namespace

void define_decomposition_ops(OpRegistry& ops) {
  define_qr(ops);
  define_svd(ops);
  define_eigen(ops);
}

}  // namespace graven::engine
