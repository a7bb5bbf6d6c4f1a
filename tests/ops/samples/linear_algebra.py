"""Products of matrices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import COMPLEX, REAL_FLOATS, Sample, Wrong

Array = NDArray[Any]

A = [[1, 2, -1, 3], [0, 5, 2, 1], [4, -3, 1, 2]]  # [3, 4]
B = [[1, 0], [2, -1], [3, 5], [-2, 1]]  # [4, 2]
NUMBERS = (*REAL_FLOATS, "float16", "bfloat16", "int32", "int64", *COMPLEX)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")


def _matmul(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    return (a.T if transpose_a else a) @ (b.T if transpose_b else b)


def _batched(x: Array, y: Array, adj_x: bool = False, adj_y: bool = False) -> Array:
    def adjoint(m: Array) -> Array:
        return np.conj(np.swapaxes(m, -1, -2))

    return (adjoint(x) if adj_x else x) @ (adjoint(y) if adj_y else y)


def _transposed(matrix: Any, wanted: bool) -> Any:
    return np.swapaxes(np.array(matrix), -1, -2).tolist() if wanted else matrix


SAMPLES = [
    *[
        Sample(
            "MatMul",
            (_transposed(A, a), _transposed(B, b)),
            _matmul,
            NUMBERS,
            attrs={"transpose_a": a, "transpose_b": b},
            smooth_at=(_transposed(A, a), _transposed(B, b)),
        )
        for a in (False, True)
        for b in (False, True)
    ],
    Sample("MatMul", (np.zeros((2, 0)), np.zeros((0, 3))), _matmul),
    Sample("MatMul", ([[1, 2], [3, 4]], [[5, 6], [7, 0]]), _matmul, UNSIGNED),
    *[
        Sample(
            op,
            (_transposed([A, A], a), _transposed([B, B], b)),
            _batched,
            NUMBERS,
            attrs={"adj_x": a, "adj_y": b},
            smooth_at=(_transposed([A, A], a), _transposed([B, B], b)),
        )
        for op in ("BatchMatMul", "BatchMatMulV2")
        for a in (False, True)
        for b in (False, True)
    ],
    Sample(
        "BatchMatMulV2",
        ([[A], [A]], [B, B, B]),
        _batched,
        (*NUMBERS, "int16"),
        smooth_at=([[A], [A]], [B, B, B]),
    ),
    Sample("BatchMatMulV2", ([A, A], B), _batched, NUMBERS),
    Sample(
        "BatchMatMulV2",
        ([[[1 + 2j, 3 - 1j]]], [[[2j, 1 + 0j]]]),
        _batched,
        COMPLEX,
        attrs={"adj_y": True},
    ),
    Sample("BatchMatMulV2", (np.zeros((2, 3, 0)), np.zeros((2, 0, 4))), _batched),
]

WRONG = [
    Wrong(
        "MatMul",
        (np.ones((2, 3)), np.ones((2, 3))),
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]",
        message_in_graph="inner dimensions differ in shapes [2,3] and [2,3]",
    ),
    Wrong("MatMul", (np.ones((2, 3)), np.ones(3)), "In[1] ndims must be >= 2"),
    Wrong(
        "BatchMatMulV2",
        (np.ones((2, 3, 4)), np.ones((2, 3, 4))),
        "Matrix size-incompatible: In[0]: [2,3,4], In[1]: [2,3,4]",
        message_in_graph="inner dimensions differ in shapes [2,3,4] and [2,3,4]",
    ),
    Wrong(
        "BatchMatMulV2",
        (np.ones((2, 3, 4)), np.ones((3, 4, 2))),
        "In[0] and In[1] must have compatible batch dimensions: [2,3,4] vs. [3,4,2]",
    ),
    Wrong(
        "BatchMatMul",
        (np.ones((2, 3, 4)), np.ones((1, 4, 2))),
        "must have the same batch dimensions",
    ),
    Wrong("BatchMatMulV2", (np.ones((2, 3, 4)), np.ones(4)), "In[1] ndims must be >= 2: 1"),
]
