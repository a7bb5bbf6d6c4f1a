"""Sums of products in Einstein's notation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import COMPLEX, FLOATS, ListOf, Sample, Wrong

Array = NDArray[Any]

A = [[1, 2, -1, 3], [0, 5, 2, 1], [4, -3, 1, 2]]  # [3, 4]
B = [[1, 0], [2, -1], [3, 5], [-2, 1]]  # [4, 2]
SQUARE = [[1, 2], [3, 4]]


def _einsum(inputs: list[Array], equation: str) -> Array:
    return np.asarray(np.einsum(equation, *inputs))


def _sample(equation: str, *inputs: Any, dtypes: tuple[str, ...] = ("float32",)) -> Sample:
    return Sample("Einsum", (ListOf(inputs),), _einsum, dtypes, {"equation": equation})


SAMPLES = [
    _sample("ij,jk->ik", A, B, dtypes=(*FLOATS, "int32", "int64", *COMPLEX)),
    _sample("bij,bjk->kbi", [A, A], [B, B], dtypes=("float32", *COMPLEX)),
    _sample("ijk,kj->i", [A, A], np.transpose(A).tolist()),
    _sample("...ij,...jk->...ik", [[A], [A]], [B, B, B]),
    _sample("ij,ij->ij", A, A),
    _sample("ij,k->kij", A, [1, 2]),
    _sample("iij,jk->ik", [SQUARE, SQUARE], SQUARE),
    _sample("ij->", A),
    _sample("ij->ji", A),
    _sample("ii->i", SQUARE),
    _sample("i...i->...i", [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 1], [2, 3]]]),
]

WRONG = [
    Wrong(
        "Einsum",
        ([np.ones((2, 3)), np.ones((2, 3))],),
        "Expected dimension 3 at axis 0",
        attrs={"equation": "ij,jk->ik"},
    ),
    Wrong("Einsum", ([np.ones(3)],), "to have rank 2 but got: 1", attrs={"equation": "ij->i"}),
    Wrong("Einsum", ([np.ones((2, 3))],), "no ellipsis", attrs={"equation": "...i->i"}),
    Wrong("Einsum", ([np.ones((2, 3))],), "Invalid einsum equation", attrs={"equation": "ij"}),
]
