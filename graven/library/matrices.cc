#include "graven/library/matrices.h"

#include <limits>
#include <string>
#include <tuple>

#include "graven/ir/structural_ops.h"
#include "graven/library/define_functions.h"
#include "graven/library/function.h"
#include "graven/ops/decomposition_ops.h"
#include "graven/ops/gather_ops.h"
#include "graven/ops/logical_ops.h"
#include "graven/ops/math_ops.h"
#include "graven/ops/matrix_formulas.h"
#include "graven/ops/matrix_kernels.h"
#include "graven/ops/matrix_ops.h"
#include "graven/ops/movement_ops.h"
#include "graven/ops/reduction_ops.h"
#include "graven/ops/sequence_ops.h"
#include "graven/ops/shape_ops.h"
#include "graven/ops/sizes.h"

namespace graven::engine {

Tensor singular_values(FunctionContext& c, const Tensor& x) {
  Formula s = c(c(kSvd, {x}, {.compute_uv = false}));
  return is_complex(x ? x.dtype() : DType::kInvalid)
             ? c(kReal, {s}, {.Tout = real_part_type(s.dtype())})
             : s;
}

namespace {

constexpr const char* kSquare = "Square matrices, shape [..., n, n].";
constexpr const char* kHermitian =
    "Hermitian matrices, shape [..., n, n], of which only the lower triangle is read.";
constexpr const char* kAnyMatrices = "Matrices, shape [..., m, n].";
constexpr const char* kRightSides = "The right sides, shape [..., n, columns].";
constexpr const char* kNoChecks = "Shapes are always checked.";

struct SquareParameters {
  Tensor matrix;
  static constexpr auto fields() {
    return std::tuple(required_field("matrix", &SquareParameters::matrix, "T", kHermitian));
  }
};
// SquareParameters under the name that the functions of eigenvalues use.
struct EigenParameters {
  Tensor tensor;
  static constexpr auto fields() {
    return std::tuple(required_field("tensor", &EigenParameters::tensor, "T", kSquare));
  }
};

Outputs eigh(FunctionContext& c, const Tensor& x, bool wants_vectors) {
  Tensors found = c.apply(kSelfAdjointEigV2, {x}, {.compute_v = wants_vectors}, c.name());
  if (!wants_vectors) found.resize(std::min<size_t>(found.size(), 1));
  return found;
}

Outputs eig(FunctionContext& c, const Tensor& x, bool wants_vectors) {
  const bool is_wide = x && (x.dtype() == DType::kFloat64 || x.dtype() == DType::kComplex128);
  Tensors found = c.apply(
      kEig, {x},
      {.compute_v = wants_vectors, .Tout = is_wide ? DType::kComplex128 : DType::kComplex64},
      c.name());
  if (!wants_vectors) found.resize(std::min<size_t>(found.size(), 1));
  return found;
}

void define_eigenvalues(FunctionRegistry& functions) {
  constexpr Raised kFails = {"InvalidArgumentError",
                             "The matrices are not square, or have elements that are not finite."};
  functions.define({
      .names = "linalg.eigh",
      .scope = "SelfAdjointEigV2",
      .types = {{"T", kMatrixTypes}},
      .results = tuple({"e", "v"}),
      .summary = "The eigenvalues and eigenvectors of Hermitian matrices.",
      .details = "Only the lower triangles are read.",
      .returns = "The eigenvalues, [..., n], ascending; and the eigenvectors, as columns of "
                 "[..., n, n].",
      .raises = {kFails},
      .source = "OpDef \"SelfAdjointEigV2\"",
      .body = [](FunctionContext& c, const EigenParameters& p) { return eigh(c, p.tensor, true); },
  });
  functions.define({
      .names = "linalg.eigvalsh",
      .scope = "SelfAdjointEigV2",
      .types = {{"T", kMatrixTypes}},
      .summary = "The eigenvalues of Hermitian matrices.",
      .details = "Only the lower triangles are read.",
      .returns = "The eigenvalues, [..., n], ascending.",
      .raises = {kFails},
      .source = "OpDef \"SelfAdjointEigV2\"",
      .body = [](FunctionContext& c, const EigenParameters& p) { return eigh(c, p.tensor, false); },
  });
  functions.define({
      .names = "linalg.eig",
      .scope = "Eig",
      .types = {{"T", kMatrixTypes}},
      .results = tuple({"e", "v"}),
      .summary = "The eigenvalues and eigenvectors of square matrices.",
      .returns = "The complex eigenvalues, [..., n], in no order; and the eigenvectors of length "
                 "1, as columns of [..., n, n].",
      .raises = {kFails},
      .source = "OpDef \"Eig\"",
      .body = [](FunctionContext& c, const EigenParameters& p) { return eig(c, p.tensor, true); },
  });
  functions.define({
      .names = "linalg.eigvals",
      .scope = "Eig",
      .types = {{"T", kMatrixTypes}},
      .summary = "The eigenvalues of square matrices.",
      .returns = "The complex eigenvalues, [..., n], in no order.",
      .raises = {kFails},
      .source = "OpDef \"Eig\"",
      .body = [](FunctionContext& c, const EigenParameters& p) { return eig(c, p.tensor, false); },
  });
}

// --- Singular values.

struct SvdParameters {
  Tensor tensor;
  bool full_matrices = false, compute_uv = true;
  static constexpr auto fields() {
    using P = SvdParameters;
    return std::tuple(
        required_field("tensor", &P::tensor, "T", kAnyMatrices),
        field("full_matrices", &P::full_matrices,
              "Make u and v square, instead of with as many columns as s has values."),
        field("compute_uv", &P::compute_uv, "Give u and v, too."));
  }
};

Outputs svd(FunctionContext& c, const SvdParameters& p) {
  Tensors found = c.apply(kSvd, {p.tensor}, {p.compute_uv, p.full_matrices}, c.name());
  if (found.empty()) return {};
  if (is_complex(p.tensor.dtype())) {
    found[0] = c(kReal, {found[0]}, {.Tout = real_part_type(p.tensor.dtype())});
  }
  return found;
}

// The larger size of the matrices, as a number of the dtype.
Formula larger_size(FunctionContext& c, const Tensor& x, DType dtype) {
  const auto m = c.size_if_known(x, -2), n = c.size_if_known(x, -1);
  if (m && n) return c(c.scalar(static_cast<double>(std::max(*m, *n)), dtype));
  const Tensor shape = c(kShape, {x});
  const Tensor both = c(kMaximum, {element_of(c, shape, -2), element_of(c, shape, -1)});
  return c.cast(both, dtype);
}
double epsilon_of(DType dtype) {
  return real_part_type(dtype) == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                  : std::numeric_limits<float>::epsilon();
}
// The largest singular values, with their axis kept.
Formula largest(FunctionContext& c, const Tensor& s) {
  return c(c(kMax, {s, c.scalar(-1)}, {.keep_dims = true}));
}

// Fails unless a holds floats, and may have the axes of matrices.
bool check_matrices(FunctionContext& c, const Tensor& a) {
  if (a && !is_floating(a.dtype())) {
    c.fail(
        type_error("Input `a` must have `float`-like `dtype` (saw ", dtype_name(a.dtype()), ")."));
  } else if (const int rank = c.rank_if_known(a).value_or(2); rank < 2) {
    c.fail(value_error("Input `a` must have at least 2 dimensions (saw: ", rank, ")."));
  }
  return c.status().ok();
}

struct RankParameters {
  Tensor a, tol;
  static constexpr auto fields() {
    using P = RankParameters;
    return std::tuple(
        required_field("a", &P::a, "T", kAnyMatrices),
        field("tol", &P::tol, "T or None",
              "Singular values up to this count as 0. None: the largest one times the larger "
              "size of the matrices and the distance from 1 to the next number."),
        ignored_field("validate_args", kNoChecks));
  }
};

Outputs matrix_rank(FunctionContext& c, const RankParameters& p) {
  if (!check_matrices(c, p.a)) return {};
  Formula s = c(singular_values(c, p.a));
  Formula limit =
      p.tol ? c(p.tol) : epsilon_of(s.dtype()) * (larger_size(c, p.a, s.dtype()) * largest(c, s));
  return c(kSum, {c.cast(c(kGreater, {s, limit}), DType::kInt32), c.scalar(-1)}, {}, c.name());
}

struct PinvParameters {
  Tensor a, rcond;
  static constexpr auto fields() {
    using P = PinvParameters;
    return std::tuple(
        required_field("a", &P::a, "T", kAnyMatrices),
        field("rcond", &P::rcond, "T or None",
              "Singular values up to this part of the largest count as 0. None: 10 times the "
              "larger size of the matrices and the distance from 1 to the next number."),
        ignored_field("validate_args", kNoChecks));
  }
};

// Of A = U diag(s) V^H with the singular values above a fraction of the largest: U, V, 1 / s, 0 for
// others, and where they are such others, 1 there and 0 elsewhere.
struct LargeValues {
  Formula u, v, inverse, is_other;
  Formula pseudo_inverse() const { return product(v * as_rows(inverse), u, Adjoint::kSecond); }
};

LargeValues large_values(FunctionContext& c, const Tensor& a, const Formula& part) {
  const Tensors parts = c.apply(kSvd, {a});
  if (parts.empty()) return {c({}), c({}), c({}), c({})};
  const Formula s = c(parts[0]), zeros = call(kZerosLike, s), ones = call(kOnesLike, s);
  const Formula sizes =
      is_complex(s.dtype()) ? call(kReal, s, {.Tout = real_part_type(s.dtype())}) : s;
  const Tensor is_large = call(kGreater, sizes, part * largest(c, sizes));
  const Formula safe = c(c(kSelectV2, {is_large, s, ones}));
  return {c(parts[1]), c(parts[2]), c(c(kSelectV2, {is_large, call(kReciprocal, safe), zeros})),
          c(c(kSelectV2, {is_large, zeros, ones}))};
}

// The inverses of matrices whose values are the identity but for rounding; NaN, and what has
// overflowed, counts as the identity, as it is no error here.
Formula inverse_of_identity(FunctionContext& c, const Formula& x) {
  if (!x.tensor()) return x;  // after an error
  const int64_t matrix[] = {-2, -1};
  const DType real = real_part_type(x.dtype());
  const Formula identity = with_diagonal(call(kZerosLike, x), call(kOnesLike, diagonal_of(x)));
  const Formula error = x - identity;
  const Formula size =
      is_complex(x.dtype()) ? call(kComplexAbs, error, {.Tout = real}) : call(kAbs, error);
  const Tensor is_small = c(kLess, {size, c.scalar(0.5, real)});
  const Tensor are_small = c(kAll, {is_small, c.vector(matrix)}, {.keep_dims = true});
  return call(kMatrixInverse, c(c(kSelectV2, {are_small, x, identity})), {});
}

// The pseudo-inverse P of matrices A all of whose singular values are either above that fraction or
// as good as 0. Its gradient does without that of singular vectors, as there is none where values
// are equal, by
//
//   P = A^H (A A^H)^+ A (A^H A)^+ A^H
//
// with A and its adjoint divided by their singular values, on one side of each: with U, V, 1 / s as
// constants, columns = A V / s and rows = U^H A / s, (A^H A)^+ becomes the inverse of
// columns^H columns plus 1 for each value that counts as 0. It holds of all A of one rank that are
// near, so it can be differentiated more than once, and what is inverted is the identity.
Formula pseudo_inverse(FunctionContext& c, const Tensor& given, const Formula& part) {
  const auto constant = [](const Formula& x) { return call(kStopGradient, x); };
  const Formula a = c(given);
  const auto found = large_values(c, constant(a), part);
  const Formula value = found.pseudo_inverse();
  if (!value.tensor() || !c.may_be_differentiated()) return value;
  const Formula u = constant(found.u), v = constant(found.v), inverse = constant(found.inverse);
  const Formula others = diagonal_matrix(constant(found.is_other));
  const Formula columns = product(a, v) * as_rows(inverse);
  const Formula rows = as_columns(inverse) * product(u, a, Adjoint::kFirst);
  const Formula middle = as_columns(inverse) * product(u, columns, Adjoint::kFirst);
  const Formula of_rows = inverse_of_identity(c, product(rows, rows, Adjoint::kSecond) + others);
  const Formula of_columns =
      inverse_of_identity(c, product(columns, columns, Adjoint::kFirst) + others);
  const Formula left = product(product(rows, of_rows, Adjoint::kFirst), middle);
  const Formula whole = product(product(left, of_columns), columns, Adjoint::kSecond);
  return constant(value) - (constant(whole) - whole);  // the very value
}

Outputs pinv(FunctionContext& c, const PinvParameters& p) {
  if (!check_matrices(c, p.a)) return {};
  const DType dtype = p.a.dtype();
  if (p.rcond) return large_values(c, p.a, as_columns(c(p.rcond))).pseudo_inverse();
  return pseudo_inverse(c, p.a, 10 * epsilon_of(dtype) * larger_size(c, p.a, dtype));
}

void define_singular_values(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.svd",
      .scope = "Svd",
      .types = {{"T", kMatrixTypes}},
      .results = tuple({"s", "u", "v"}),
      .summary = "The singular values of matrices, and u and v of a = u diag(s) v^H.",
      .returns =
          "The singular values, [..., min(m, n)], in descending order; u, [..., m, columns], "
          "and v, [..., n, columns]. Without compute_uv these two are empty, and Python "
          "gives s alone.",
      .raises = {{"InvalidArgumentError", "There are less than two axes."}},
      .source = "OpDef \"Svd\"",
      .body = svd,
  });
  functions.define({
      .names = "linalg.matrix_rank",
      .scope = "matrix_rank",
      .types = {{"T", {DType::kFloat32, DType::kFloat64}}},
      .summary = "The number of singular values of matrices that are not as good as 0.",
      .returns = "int32, shape [...].",
      .raises = {{"TypeError", "a holds no floats."}, {"ValueError", "a has less than two axes."}},
      .body = matrix_rank,
  });
  functions.define({
      .names = "linalg.pinv",
      .scope = "pinv",
      .types = {{"T", {DType::kFloat32, DType::kFloat64}}},
      .summary = "The pseudo-inverses of matrices.",
      .details = "With rcond the gradient is that of singular vectors, which is wrong where two "
                 "singular values are equal; without it, that of all matrices of the same rank.",
      .returns = "Matrices, shape [..., n, m].",
      .raises = {{"TypeError", "a holds no floats."}, {"ValueError", "a has less than two axes."}},
      .body = pinv,
  });
}

// --- Systems of equations.

struct TriangularSolveParameters {
  Tensor matrix, rhs;
  bool lower = true, adjoint = false;
  static constexpr auto fields() {
    using P = TriangularSolveParameters;
    return std::tuple(required_field("matrix", &P::matrix, "T", kSquare),
                      required_field("rhs", &P::rhs, "T", kRightSides),
                      field("lower", &P::lower, "Read the lower triangle, else the upper one."),
                      field("adjoint", &P::adjoint, "Take the conjugate transpose of the matrix."));
  }
};

struct CholeskySolveParameters {
  Tensor chol, rhs;
  static constexpr auto fields() {
    using P = CholeskySolveParameters;
    return std::tuple(
        required_field("chol", &P::chol, "T", "The lower triangular factors that cholesky gives."),
        required_field("rhs", &P::rhs, "T", kRightSides));
  }
};

// X of L L^H X = B.
Formula cholesky_solve(const Formula& l, const Formula& b, std::string_view name = {}) {
  Emitter& emit = l.emit();
  const Tensor half = emit(kMatrixTriangularSolve, {l, b});
  return {emit, emit(kMatrixTriangularSolve, {l, half}, {.adjoint = true}, name)};
}

struct LstsqParameters {
  Tensor matrix, rhs;
  double l2_regularizer = 0;
  bool fast = true;
  static constexpr auto fields() {
    using P = LstsqParameters;
    return std::tuple(
        required_field("matrix", &P::matrix, "T", kAnyMatrices),
        required_field("rhs", &P::rhs, "T", "The right sides, shape [..., m, columns]."),
        field("l2_regularizer", &P::l2_regularizer,
              "Adds this times the squared norm of the solution to what is made small; of fast "
              "alone."),
        field("fast", &P::fast,
              "Solve the normal equations, by Cholesky factors: for matrices of full rank that "
              "are far from singular. Otherwise by singular values."));
  }
};

// The Cholesky factor of x x^H or x^H x, plus a number on the diagonal.
Formula regular_factor(FunctionContext& c, const Formula& x, Adjoint adjoint, double number) {
  Formula gramian = product(x, x, adjoint);
  if (number != 0) gramian = with_diagonal(gramian, diagonal_of(gramian) + number);
  return c(c(kCholesky, {gramian}));
}

Outputs lstsq(FunctionContext& c, const LstsqParameters& p) {
  Formula a = c(p.matrix), b = c(p.rhs);
  if (!p.fast) {
    const DType dtype = real_part_type(a.dtype());
    return product(pseudo_inverse(c, a, epsilon_of(dtype) * larger_size(c, a, dtype)), b);
  }
  const auto m = c.static_size(a, -2), n = c.static_size(a, -1);
  if (!m || !n) return c.fail(value_error("lstsq needs matrices of known sizes"));
  if (*m >= *n) {
    return cholesky_solve(regular_factor(c, a, Adjoint::kFirst, p.l2_regularizer),
                          product(a, b, Adjoint::kFirst), c.name());
  }
  const Formula x = cholesky_solve(regular_factor(c, a, Adjoint::kSecond, p.l2_regularizer), b);
  return product(a, x, Adjoint::kFirst);
}

constexpr Raised kDoNotFit = {"InvalidArgumentError",
                              "The shapes do not fit; a ValueError in a graph."};

void define_solutions(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.triangular_solve",
      .scope = "triangular_solve",
      .types = {{"T", kMatrixTypes}},
      .summary = "Solves systems of equations whose matrices are triangular.",
      .returns = "The solutions, shape [..., n, columns].",
      .raises = {kDoNotFit},
      .source = "OpDef \"MatrixTriangularSolve\"",
      .body =
          [](FunctionContext& c, const TriangularSolveParameters& p) {
            return c(kMatrixTriangularSolve, {p.matrix, p.rhs}, {p.lower, p.adjoint});
          },
  });
  functions.define({
      .names = "linalg.cholesky_solve",
      .scope = "cholesky_solve",
      .types = {{"T", kMatrixTypes}},
      .summary = "Solves systems of equations by the Cholesky factors of their matrices.",
      .returns = "The solutions, shape [..., n, columns].",
      .raises = {kDoNotFit},
      .body = [](FunctionContext& c, const CholeskySolveParameters& p) -> Outputs {
        return cholesky_solve(c(p.chol), c(p.rhs));
      },
  });
  functions.define({
      .names = "linalg.lstsq",
      .scope = "matrix_solve_ls",
      .types = {{"T", kMatrixTypes}},
      .summary = "Solves systems of equations in the sense of least squares.",
      .details = "Of several solutions that with the smallest norm.",
      .returns = "The solutions, shape [..., n, columns].",
      .raises = {kDoNotFit, {"ValueError", "The sizes of the matrices are not known."}},
      .body = lstsq,
  });
}

// --- LU factors.

struct LuParameters {
  Tensor lower_upper, perm;
  static constexpr auto fields() {
    using P = LuParameters;
    return std::tuple(required_field("lower_upper", &P::lower_upper, "T", "As lu gives them."),
                      required_field("perm", &P::perm, "any", "As lu gives it."),
                      ignored_field("validate_args", kNoChecks));
  }
};
struct LuSolveParameters : LuParameters {
  Tensor rhs;
  static constexpr auto fields() {
    const auto all = LuParameters::fields();
    return std::tuple(std::get<0>(all), std::get<1>(all),
                      required_field("rhs", &LuSolveParameters::rhs, "T", kRightSides),
                      std::get<2>(all));
  }
};

// Fails where shapes that are known do not fit each other; the rest is checked when it runs.
bool check_lu(FunctionContext& c, const LuParameters& p, const Tensor& rhs = {}) {
  const auto rank = c.rank_if_known(p.lower_upper), rank_of_perm = c.rank_if_known(p.perm);
  const auto rows = c.size_if_known(p.lower_upper, -2), n = c.size_if_known(p.lower_upper, -1);
  const auto rows_of_rhs = c.size_if_known(rhs, -2);
  if (rank && *rank < 2) {
    c.fail(value_error("Input `lower_upper` must have at least 2 dimensions (saw: ", *rank, ")."));
  } else if (rank && rank_of_perm && *rank != *rank_of_perm + 1) {
    c.fail(value_error("`rank(lower_upper)` must equal `rank(perm) + 1`, saw ", *rank, " and ",
                       *rank_of_perm));
  } else if (rows && n && *rows != *n) {
    c.fail(value_error("`lower_upper` must be square, saw ", *rows, " rows of ", *n));
  } else if (rhs && c.rank_if_known(rhs).value_or(2) < 2) {
    c.fail(value_error("`rhs` must have at least 2 dimensions"));
  } else if (n && rows_of_rhs && *n != *rows_of_rhs) {
    c.fail(value_error("`rhs` must have as many rows as `lower_upper`, saw ", *rows_of_rhs, " and ",
                       *n));
  }
  return c.status().ok();
}

// perm for each row of all matrices, counted through all of them; a place outside is refused.
Tensor places_in_all(FunctionContext& c, const Tensor& perm) {
  const Formula n = c(element_of(c, c(kShape, {perm}), -1));
  const auto below = [&](const Tensor& limit) {
    return c(c(kRange, {c.scalar(0), limit, c.scalar(1)}));
  };
  const Tensor checked = c(kGatherV2, {below(n), perm, c.scalar(0)});
  const Formula starts = n * call(kFloorDiv, below(c(kSize, {perm})), n);
  return c(c(kReshape, {checked, c.vector({{-1}})})) + starts;
}

// The rows of the matrices x that perm names, or, `back`, with row i at perm[i]. Batches broadcast.
Formula permuted(FunctionContext& c, const Tensor& x, const Tensor& perm, bool back) {
  const auto places_of = [&](const Tensor& places) {
    return back ? c(kInvertPermutation, {places}) : places;
  };
  if (c.rank_if_known(perm) == 1) {
    return c(c(kGatherV2, {x, places_of(perm), c.scalar(-2)}));
  }
  const Tensor minus_one = c.vector({{-1}}), minus_two = c.vector({{-2}}), zero = c.vector({{0}});
  const Tensor shape = c(kShape, {x}), perm_shape = c(kShape, {perm});
  const Tensor batch = c(kBroadcastArgs, {elements_between(c, shape, zero, minus_two),
                                          elements_between(c, perm_shape, zero, minus_one)});
  const Tensor perms = joined(c, batch, elements_between(c, perm_shape, minus_one));
  const Tensor columns = elements_between(c, shape, minus_one);
  const Tensor matrices = joined(c, perms, columns);
  const Tensor rows = c(kReshape, {c(kBroadcastTo, {x, matrices}), joined(c, minus_one, columns)});
  const Tensor places = places_of(places_in_all(c, c(kBroadcastTo, {perm, perms})));
  return c(c(kReshape, {c(kGatherV2, {rows, places, c.scalar(0)}), matrices}));
}

// The permutation matrix P of perm, with P A = L U: rows of the identity.
Formula permutation(FunctionContext& c, const LuParameters& p) {
  const Tensor n = element_of(c, c(kShape, {p.perm}), -1);
  const DType dtype = p.lower_upper ? p.lower_upper.dtype() : DType::kFloat32;
  const Tensor all = c(kRange, {c.scalar(0), n, c.scalar(1)});
  const Tensor identity = c(kOneHot, {all, n, c.scalar(1.0, dtype), c.scalar(0.0, dtype)});
  return c(c(kGatherV2, {identity, p.perm, c.scalar(0)}));
}
Formula unit_lower(const Formula& lu) {
  Formula lower = lower_part(lu);
  return with_diagonal(lower, call(kOnesLike, diagonal_of(lu)));
}
Formula lu_solve(FunctionContext& c, const LuParameters& p, const Formula& rhs) {
  Formula lu = c(p.lower_upper);
  Formula half = call(kMatrixTriangularSolve, unit_lower(lu), rhs);
  return call(kMatrixTriangularSolve, lu, half, {.lower = false});
}

void define_lu_functions(FunctionRegistry& functions) {
  constexpr Raised kNoFactors = {"ValueError", "Shapes are known not to be those of LU factors."};
  functions.define({
      .names = "linalg.lu_solve",
      .scope = "lu_solve",
      .types = {{"T", kMatrixTypes}},
      .summary = "Solves systems of equations by the LU factors of their matrices.",
      .returns = "The solutions, shape [..., n, columns].",
      .raises = {kNoFactors, kDoNotFit},
      .body = [](FunctionContext& c, const LuSolveParameters& p) -> Outputs {
        if (!check_lu(c, p, p.rhs)) return Tensor();
        return lu_solve(c, p, permuted(c, p.rhs, p.perm, /*back=*/false));
      },
  });
  functions.define({
      .names = "linalg.lu_matrix_inverse",
      .scope = "lu_matrix_inverse",
      .types = {{"T", kMatrixTypes}},
      .summary = "The inverses of matrices by their LU factors.",
      .returns = "The inverses, shape [..., n, n].",
      .raises = {kNoFactors, kDoNotFit},
      .body = [](FunctionContext& c, const LuParameters& p) -> Outputs {
        return check_lu(c, p) ? lu_solve(c, p, permutation(c, p)) : c(Tensor());
      },
  });
  functions.define({
      .names = "linalg.lu_reconstruct",
      .scope = "lu_reconstruct",
      .types = {{"T", kMatrixTypes}},
      .summary = "The matrices that have these LU factors.",
      .returns = "The matrices, shape [..., n, n].",
      .raises = {kNoFactors, kDoNotFit, {"InvalidArgumentError", "perm is no permutation."}},
      .body = [](FunctionContext& c, const LuParameters& p) -> Outputs {
        if (!check_lu(c, p)) return Tensor();
        const Formula lu = c(p.lower_upper);
        return permuted(c, product(unit_lower(lu), upper_part(lu)), p.perm, /*back=*/true);
      },
  });
}

void define_logdet(FunctionRegistry& functions) {
  functions.define({
      .names = "linalg.logdet",
      .scope = "logdet",
      .types = {{"T", kMatrixTypes}},
      .summary = "The logarithms of the determinants of Hermitian, positive definite matrices.",
      .returns = "The real logarithms, shape [...]; NaN where a matrix is not positive definite.",
      .raises = {kDoNotFit},
      .body = [](FunctionContext& c, const SquareParameters& p) -> Outputs {
        Formula diagonal = diagonal_of(c(c(kCholesky, {p.matrix})));
        if (is_complex(diagonal.dtype())) {
          diagonal = call(kReal, diagonal, {.Tout = real_part_type(diagonal.dtype())});
        }
        return 2.0 * c(c(kSum, {call(kLog, diagonal), c.scalar(-1)}));
      },
  });
}

}  // namespace

void define_matrices(FunctionRegistry& functions) {
  define_eigenvalues(functions);
  define_singular_values(functions);
  define_solutions(functions);
  define_lu_functions(functions);
  define_logdet(functions);
}

}  // namespace graven::engine
