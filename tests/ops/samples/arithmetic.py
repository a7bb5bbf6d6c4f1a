"""Arithmetic with exceptions: quotients and products that avoid NaN, remainders, choices."""

import math
from typing import Any

import numpy as np

from ops.sample import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    REAL,
    REAL_FLOATS,
    ListOf,
    Sample,
    Wrong,
    float32,
    int32,
    int64,
)

INF, NAN = math.inf, math.nan

NUMBERS = (*FLOATS, *COMPLEX)
X, Y = [[1.0, -2.0, 0.0, 4.0], [0.5, 3.0, -1.5, 0.0]], [[2.0, 0.5, 3.0, -1.0]]
# Each of these with each: zeros of both signs, infinities, NaN.
SPECIAL = [0.0, -0.0, 1.0, -2.5, INF, -INF, NAN]
FIRST = [a for a in SPECIAL for _ in SPECIAL]
SECOND = [b for _ in SPECIAL for b in SPECIAL]
NOT_NEGATIVE = [(a, b) for a in SPECIAL for b in SPECIAL if not b < 0]
SMOOTH = ([[0.3, 0.7], [1.4, 2.2]], [[0.6, 0.4]])
COMPLEX_SMOOTH = ([[0.3 + 1j, 0.7j], [1.4 - 1j, 2.2 + 0j]], [[0.6 - 0.5j, 0.4 + 1j]])


def _or_zero(f: Any, which: int) -> Any:
    """f of x and y, 0 where one of them is."""
    return lambda *x: np.where(x[which] == 0, 0, f(*x))


def _binary(op: str, f: Any, special: tuple[list[float], list[float]], ulp: float) -> list[Sample]:
    return [
        Sample(op, (X, Y), f, FLOATS, ulp=ulp, is_elementwise=True, smooth_at=SMOOTH),
        Sample(op, special, f, REAL_FLOATS, ulp=ulp),
        Sample(
            op, ([[1 + 2j, 0j, -3j]], [[2 - 1j], [0.5 + 0j]]), f, COMPLEX, tolerance=1e-6,
            is_elementwise=True, smooth_at=COMPLEX_SMOOTH,
        ),
    ]  # fmt: skip


def _division(op: str, f: Any, x: Any = (7, 7, 0, 100), y: Any = (2, 3, 5, 7)) -> list[Sample]:
    """Of integers, of both signs where the dtype has them."""
    signed = ([7, -7, 7, -7, 0, -128, 127], [2, 2, -2, -2, 3, 1, -1])
    return [
        Sample(op, (list(x), list(y)), f, INTEGERS, is_elementwise=True),
        Sample(op, signed, f, ("int8", "int16", "int32", "int64"), is_elementwise=True),
    ]


def _clip(t: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(t, low), high)


def _next_after(x: Any, y: Any) -> Any:
    return np.nextafter(x, y)


SAMPLES = [
    *_binary("DivNoNan", _or_zero(np.divide, 1), (FIRST, SECOND), ulp=0.5),
    *_binary("MulNoNan", _or_zero(np.multiply, 1), (FIRST, SECOND), ulp=0.5),
    *_binary("Xdivy", _or_zero(np.divide, 0), (FIRST, SECOND), ulp=0.5),
    *_binary(
        "Xlogy",
        _or_zero(lambda x, y: x * np.log(y), 0),
        ([a for a, _ in NOT_NEGATIVE], [b for _, b in NOT_NEGATIVE]),
        ulp=2,
    ),
    *_binary(
        "Xlog1py",
        _or_zero(lambda x, y: x * np.log1p(y), 0),
        ([a for a, _ in NOT_NEGATIVE], [b for _, b in NOT_NEGATIVE]),
        ulp=3,
    ),
    *_binary("Div", np.divide, (FIRST, SECOND), ulp=0.5),
    *_division("Div", lambda x, y: np.trunc(x.astype(np.float64) / y)),
    *_division("Mod", np.fmod),
    Sample("Mod", ([7.5, -7.5, 7.5, -7.5], [2.0, 2.0, -2.0, -2.0]), np.fmod, FLOATS,
           is_elementwise=True),
    Sample("NextAfter", ([0.0, 1.0, -1.0, 2.5, INF, 3.0], [1.0, 2.0, 0.0, 2.5, 0.0, NAN]),
           _next_after, ("float64",), is_elementwise=True,
           smooth_at=([0.5, 1.5], [[1.0], [-1.0]])),
    Sample("NextAfter", (float32([0.5, 1.0, -1.0, 2.5, INF, 3.0]),
                         float32([1.0, 2.0, 0.0, 2.5, 0.0, NAN])),
           lambda x, y: np.nextafter(x.astype(np.float32), y.astype(np.float32))),
    Sample("ClipByValue", ([[1, 5, 9], [3, 0, 7]], 2, 6), _clip, REAL,
           smooth_at=([[1.0, 5.0, 9.0], [3.0, 0.5, 7.0]], 2.0, 6.0)),
    Sample("ClipByValue", ([[1, 5, 9], [3, 0, 7]], [[2, 2, 2], [1, 1, 1]], 6), _clip, REAL,
           smooth_at=([[1.0, 5.0, 9.0]], [[2.0, 2.5, 1.0]], [[6.0, 6.0, 8.0]])),
    Sample("ClipByValue", (SPECIAL, -1.0, 1.0), _clip, FLOATS),
    Sample("ApproximateEqual", ([1.0, 2.0, 3.0, NAN, INF], [1.0, 2.001, 3.5, NAN, 1.0]),
           lambda x, y: np.abs(x - y) < 1e-5, FLOATS, is_elementwise=True, broadcasts=False),
    Sample("ApproximateEqual", ([1.0, 2.0, -3.0], [1.25, 2.5, -3.0]),
           lambda x, y, tolerance: np.abs(x - y) < tolerance, FLOATS,
           attrs={"tolerance": 0.3}, is_elementwise=True, broadcasts=False),
    Sample("PopulationCount", ([0, 1, 2, 3, 100, 127],),
           lambda x: np.array([bin(v).count("1") for v in x.ravel().tolist()]).reshape(x.shape),
           INTEGERS, is_elementwise=True),
    Sample("PopulationCount", ([-1, -128],),
           lambda x: np.array([8 * x.itemsize, 8 * x.itemsize - 7]),
           ("int8", "int16", "int32", "int64")),
    *[
        Sample("AddN", (ListOf(tuple([[[1, 2, 3], [4, 5, 6]]] * n)),),
               lambda x: np.asarray(sum(x)), (*REAL, *COMPLEX),
               smooth_at=([np.array([0.5, 1.0]), np.array([-1.0, 2.0])],))
        for n in (1, 2, 5)
    ],
    Sample("AddN", (ListOf(([INF, NAN, 0.1], [1.0, 1.0, 0.2], [-INF, 1.0, 0.3])),),
           lambda x: x[0] + x[1] + x[2], FLOATS, ulp=1),
]  # fmt: skip

CONDITIONS = {
    "scalar": (np.array(True), lambda c, t, e: t if c else e),
    "rows": (np.array([True, False]), lambda c, t, e: np.where(c[:, None], t, e)),
    "full": (np.array([[True, False, True], [False, False, True]]), np.where),
}
T, E = [[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]
SAMPLES += [
    Sample("Select", (condition, T, E), f, (*REAL, *COMPLEX, "bool"),
           smooth_at=(condition, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0]] * 2))
    for condition, f in CONDITIONS.values()
] + [
    Sample("Select", (np.array([True, False]), ["a", "bc"], ["d", "e"]),
           lambda *x: np.array([b"a", b"e"], object), ("string",)),
    Sample("Select", (np.zeros((0, 3), bool), np.zeros((0, 3)), np.zeros((0, 3))), np.where),
]  # fmt: skip

WRONG = [
    Wrong("Div", (int32([1]), int32([0])), "Integer division by zero"),
    Wrong("Mod", (int64([1, 2]), int64([1, 0])), "Integer division by zero"),
    *[
        Wrong(op, (np.ones(2), np.ones(3)), "Incompatible shapes: [2] vs. [3]")
        for op in ("Div", "DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py", "Mod", "NextAfter")
    ],
    *[
        Wrong(op, (int32([2]), int32([3])), "Value for attr 'T' of int32 is not in the list")
        for op in ("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py", "NextAfter")
    ],
    Wrong("ApproximateEqual", (int32([2]), int32([3])), "has no kernel for attr 'T' of int32",
          error="NotFoundError"),
    Wrong("ClipByValue", (np.ones((2, 3)), np.ones(2), np.float64(1)),
          "must be scalars or have the shape of t"),
    Wrong("ApproximateEqual", (np.ones(2), np.ones(3)), "[2]"),
    Wrong("PopulationCount", (np.ones(2),), "Value for attr 'T' of double is not in the list"),
    Wrong("AddN", ([np.ones(2), np.ones(3)],), "Inputs must all have the same shape"),
    Wrong("AddN", ([],), "AddN needs at least one input",
          beside_tensorflow="its wrapper looks at the first item, an IndexError"),
    Wrong("Select", (np.array([True]), np.ones(2), np.ones(3)), "t and e must have the same shape"),
    Wrong("Select", (np.array([True, True, True]), np.ones((2, 3)), np.ones((2, 3))),
          "condition must be a scalar, a vector of as many elements as t has rows"),
]  # fmt: skip
