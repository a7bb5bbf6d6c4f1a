"""Systems of equations, and factors of matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import COMPLEX, REAL_FLOATS, Sample, Wrong

Array = NDArray[Any]

ALL = (*REAL_FLOATS, *COMPLEX)
TOLERANCE = 1e-5
SMALL = [[2, 0], [0, 3]]
A = [[4, 1, -2], [1, 5, 3], [2, -1, 6]]
B = [[1, 2], [3, -4], [0, 5]]
POSITIVE = [[4, 1, -2], [1, 5, 0.5], [-2, 0.5, 6]]
COMPLEX_A = [[4, 1 + 1j, -2], [1, 5 - 2j, 3], [2j, -1, 6]]
TALL = [[1, 2], [3, -4], [0.5, 5]]
SMALL_STEPS = [[0.4, 0.1, -0.2], [0.1, 0.5, 0.3], [0.2, -0.1, 0.6]]
NONE = np.zeros(0)
SCALARS = "vectors that are not wanted are foreseen as empty ones, and are scalars"
WIDE = [[1, 3, 0.5], [2, -4, 5]]


def _adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


def _solve(a: Array, b: Array, adjoint: bool = False) -> Array:
    return np.linalg.solve(_adjoint(a) if adjoint else a, b)


def _triangular(a: Array, b: Array, lower: bool = True, adjoint: bool = False) -> Array:
    triangle = np.tril(a) if lower else np.triu(a)
    return np.linalg.solve(_adjoint(triangle) if adjoint else triangle, b)


def _inverse(a: Array, adjoint: bool = False) -> Array:
    return np.linalg.inv(_adjoint(a) if adjoint else a)


def _exponential(a: Array) -> Array:
    """The sum of the series, of a matrix so small that its powers vanish, squared."""
    power = term = np.eye(a.shape[-1]) + 0 * a
    for k in range(1, 20):
        term = term @ (a / 2**10) / k
        power = power + term
    for _ in range(10):
        power = power @ power
    return np.asarray(power)


def _of_eigenvalues(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def apply(a: Array) -> Array:
        values, vectors = np.linalg.eig(a)
        return np.asarray(vectors @ (f(values + 0j)[..., None] * np.linalg.inv(vectors)))

    return apply


def _log_determinant(a: Array) -> tuple[Array, Array]:
    sign, log = np.linalg.slogdet(a)
    return sign, log


SAMPLES = [
    Sample("Cholesky", ([POSITIVE, POSITIVE],), np.linalg.cholesky, ALL, tolerance=TOLERANCE),
    Sample(
        "Cholesky",
        ([[1, 2], [2, 1]],),
        lambda a: np.tril(np.full((2, 2), np.nan)),
        beside_tensorflow="it leaves what the memory had above the diagonal",
    ),
    Sample(
        "Cholesky",
        ([[4, 1, 0], [1, np.nan, 1], [0, 1, 5]],),
        lambda a: np.tril(np.full((3, 3), np.nan)),
        ("float32", "complex64"),
        beside_tensorflow="the first row is a number there",
    ),
    *[
        Sample(
            "MatrixInverse",
            ([A, POSITIVE],),
            _inverse,
            ALL if adjoint else (*ALL, "float16"),
            {"adjoint": adjoint},
            tolerance=TOLERANCE,
            smooth_at=(A,),
        )
        for adjoint in (False, True)
    ],
    Sample(
        "MatrixInverse", (COMPLEX_A,), _inverse, COMPLEX, {"adjoint": True}, tolerance=TOLERANCE
    ),
    Sample(
        "MatrixDeterminant",
        ([A, POSITIVE],),
        np.linalg.det,
        ALL,
        tolerance=TOLERANCE,
        smooth_at=([A, POSITIVE],),
    ),
    Sample(
        "LogMatrixDeterminant",
        ([A, POSITIVE],),
        _log_determinant,
        ALL,
        tolerance=TOLERANCE,
        smooth_at=([A, POSITIVE],),
    ),
    Sample("MatrixDeterminant", (np.zeros((2, 0, 0), np.float32),), np.linalg.det),
    *[
        Sample(
            "MatrixSolve",
            ([A, POSITIVE], [B, B]),
            _solve,
            ALL,
            {"adjoint": adjoint},
            tolerance=TOLERANCE,
            smooth_at=(A, B),
        )
        for adjoint in (False, True)
    ],
    Sample("MatrixSolve", (COMPLEX_A, B), _solve, COMPLEX, {"adjoint": True}, tolerance=TOLERANCE),
    *[
        Sample(
            "MatrixTriangularSolve",
            ([A, POSITIVE], B),
            _triangular,
            ALL,
            {"lower": lower, "adjoint": adjoint},
            tolerance=TOLERANCE,
            smooth_at=([A, POSITIVE], B),
        )
        for lower in (False, True)
        for adjoint in (False, True)
    ],
    Sample("Lu", (A,), None, ALL, {"output_idx_type": "int32"}, tolerance=TOLERANCE),
    Sample(
        "Lu",
        ([[0, 2, 1], [3, 4, 1], [-5, 1, 2]],),
        attrs={"output_idx_type": "int64"},
        tolerance=1e-5,
    ),
    Sample("Qr", (TALL,), None, REAL_FLOATS, tolerance=TOLERANCE, smooth_at=(TALL,)),
    Sample("Qr", (TALL,), None, ("float16",), tolerance=4e-3),  # TensorFlow computes in float16
    Sample("Qr", (TALL,), None, COMPLEX, tolerance=TOLERANCE),
    Sample("Qr", ([WIDE, WIDE],), None, tolerance=TOLERANCE, smooth_at=(WIDE,)),
    Sample("Qr", (TALL,), None, attrs={"full_matrices": True}, tolerance=TOLERANCE),
    Sample(
        "Svd",
        ([A, POSITIVE],),
        lambda a, **_: (np.linalg.svd(a, compute_uv=False), NONE, NONE),
        ALL,
        {"compute_uv": False},
        beside_tensorflow=SCALARS,
        tolerance=TOLERANCE,
        smooth_at=(A,),
    ),
    Sample(
        "SelfAdjointEigV2",
        ([POSITIVE, POSITIVE],),
        lambda a, **_: (np.linalg.eigvalsh(a), NONE),
        ALL,
        {"compute_v": False},
        beside_tensorflow=SCALARS,
        tolerance=TOLERANCE,
        smooth_at=(POSITIVE,),
    ),
    Sample(
        "MatrixExponential",
        ([A, SMALL_STEPS],),
        _exponential,
        ALL,
        tolerance=TOLERANCE,
        beside_tensorflow="removed there: tests/functions/rows/matrices.txt compares expm",
        smooth_at=(SMALL_STEPS,),
    ),
    Sample(
        "MatrixSquareRoot",
        ([A, POSITIVE],),
        lambda a: _of_eigenvalues(np.sqrt)(a).real,
        REAL_FLOATS,
        tolerance=TOLERANCE,
        smooth_at=(A,),
    ),
    Sample(
        "MatrixSquareRoot", (COMPLEX_A,), _of_eigenvalues(np.sqrt), COMPLEX, tolerance=TOLERANCE
    ),
    Sample(
        "MatrixLogarithm",
        (COMPLEX_A,),
        _of_eigenvalues(np.log),
        COMPLEX,
        tolerance=TOLERANCE,
        smooth_at=(COMPLEX_A,),
    ),
    Sample("Eig", (SMALL,), None, ("float32", "complex64"), {"Tout": "complex64"}),
    Sample("Eig", (SMALL,), None, ("float64", "complex128"), {"Tout": "complex128"}),
]

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
WRONG = [
    Wrong("Eig", (SINGULAR,), "Invalid output dtype", attrs={"Tout": "complex64"}),
    Wrong("Cholesky", (np.ones((2, 3)),), "Input matrix must be square."),
    Wrong("Cholesky", (np.ones(3),), "must have rank >= 2"),
    Wrong("MatrixInverse", (SINGULAR,), "Input is not invertible."),
    Wrong("MatrixSolve", (SINGULAR, np.ones((2, 1))), "Input matrix is not invertible."),
    Wrong("MatrixSolve", (np.ones((2, 2)), np.ones((3, 1))), "are incompatible"),
    Wrong("MatrixSolve", (np.ones((2, 2)), np.ones(2)), "must have the same rank"),
    Wrong("MatrixTriangularSolve", (SINGULAR, np.ones((3, 1))), "In[0] mismatch In[1] shape"),
    Wrong("Lu", (SINGULAR,), "Input is not invertible."),
    Wrong(
        "SelfAdjointEigV2",
        (np.full((2, 2), np.nan),),
        "Self-adjoint eigen decomposition was not successful. The input might not be valid.",
    ),
    Wrong(
        "Eig",
        (np.full((2, 2), np.inf, np.float32),),
        "Eigen decomposition was not successful. The input might not be valid.",
        attrs={"Tout": "complex64"},
    ),
]
