"""Reductions, places of extrema, and scans."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ops.sample import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    REAL,
    REAL_FLOATS,
    Sample,
    Wrong,
    int32,
    int64,
)

Array = NDArray[Any]

INF, NAN = math.inf, math.nan
X = [[[1, 2, 3, 4], [5, 6, 7, 2], [1, 1, 3, 2]], [[2, 1, 2, 1], [3, 0, 1, 2], [7, 5, 5, 1]]]
SMALL_CUBE = [[[1, 2], [1, 3]], [[2, 1], [1, 1]]]
SMALL = [[1, 2, 1], [3, 1, 2]]
SMOOTH = [[[0.5, 1.5], [2.0, 0.75]], [[1.25, 3.0], [-0.5, 1.0]]]
AXES = [
    int32([0]),
    int64([-1, 0]),
    np.array(1, np.int32),
    int32([0, 1, 2]),
    int32([]),
]


def _reduced(f: Callable[..., Any]) -> Callable[..., Any]:
    def reference(x: Array, axes: Array, keep_dims: bool = False) -> Any:
        axis = tuple(int(a) for a in np.ravel(axes))
        return f(x, axis=axis, keepdims=keep_dims) if axis else f(x[..., None], axis=-1)

    return reference


def _rows(
    op: str, f: Callable[..., Any], dtypes: tuple[str, ...], values: Any = X, **allowed: Any
) -> list[Sample]:
    return [
        Sample(
            op,
            (values, axes),
            _reduced(f),
            dtypes,
            attrs=attrs,
            smooth_at=(SMOOTH, axes) if "float64" in dtypes else None,
            **allowed,
        )
        for attrs, chosen in (({}, AXES), ({"keep_dims": True}, AXES[:2]))
        for axes in chosen
    ]


def _norm(x: Array, axis: Any, keepdims: bool = False) -> Array:
    return np.asarray(np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims)))


def _truncated_mean(x: Array, axis: Any, keepdims: bool = False) -> Array:
    return np.asarray(np.trunc(np.mean(x, axis=axis, keepdims=keepdims)))


def _place(f: Callable[..., Any], output_type: str = "int64") -> Callable[..., Any]:
    def reference(x: Array, axis: Array, **_: Any) -> Any:
        return f(x, axis=int(axis)).astype(output_type)

    return reference


def _scan(f: Callable[..., Any], start: float) -> Callable[..., Any]:
    def reference(x: Array, axis: Array, exclusive: bool = False, reverse: bool = False) -> Any:
        rows = np.moveaxis(x, int(axis), 0)
        rows = rows[::-1] if reverse else rows
        scanned = f(rows)
        if exclusive:
            scanned = np.concatenate([np.full_like(rows[:1], start), scanned[:-1]])
        return np.moveaxis(scanned[::-1] if reverse else scanned, 0, int(axis))

    return reference


def _scans(op: str, f: Callable[..., Any], start: float, **allowed: Any) -> list[Sample]:
    return [
        Sample(
            op,
            (SMALL, np.array(axis, np.int32)),
            _scan(f, start),
            attrs={"exclusive": exclusive, "reverse": reverse},
            # -inf, which an exclusive sum of nothing gives, has no differences.
            smooth_at=(
                None if exclusive and start == -INF else (SMOOTH[0], np.array(axis, np.int32))
            ),
            **allowed,
        )
        for exclusive in (False, True)
        for reverse in (False, True)
        for axis in (0, -1)
    ]


SAMPLES = [
    *_rows("Sum", np.sum, REAL + COMPLEX, ulp=0.5),
    *_rows("Mean", np.mean, FLOATS + COMPLEX, ulp=1),
    *_rows("Mean", _truncated_mean, INTEGERS),
    # Sums that 8 to 32 bits do not hold.
    *[
        Sample(
            "Mean",
            ([[highest] * 3, [1, 2, 4]], np.array(1, np.int32)),
            _reduced(_truncated_mean),
            (dtype,),
        )
        for dtype in INTEGERS[:3] + INTEGERS[4:7]
        for highest in (np.iinfo(dtype).max,)
    ],
    *_rows("Prod", np.prod, ("float32", "float64", "int32", "int64", *COMPLEX), ulp=1),
    *_rows("Prod", np.prod, FLOATS + INTEGERS, SMALL_CUBE, ulp=1),
    *_rows("Max", np.max, REAL),
    *_rows("Min", np.min, REAL),
    *_rows("EuclideanNorm", _norm, REAL_FLOATS + COMPLEX, ulp=1),
    Sample("EuclideanNorm", ([3, 4], np.array(0, np.int32)), lambda x, _: 5, REAL),
    Sample("Max", ([INF, NAN, 1.0], np.array(0, np.int32)), lambda x, _: NAN, FLOATS),
    Sample("Max", (np.zeros((2, 0, 3)), np.array(1, np.int32)), lambda x, _: np.full((2, 3), -INF)),
    Sample("Min", (np.zeros((2, 0, 3)), np.array(1, np.int32)), lambda x, _: np.full((2, 3), INF)),
    Sample("Sum", (np.zeros((2, 0, 3)), np.array(1, np.int32)), lambda x, _: np.zeros((2, 3))),
    Sample("Mean", (np.zeros((2, 0, 3)), np.array(1, np.int32)), lambda x, _: np.full((2, 3), NAN)),
    *_rows("Any", np.any, ("bool",), [[[True, False]], [[False, False]]]),
    *_rows("All", np.all, ("bool",), [[[True, True]], [[True, False]]]),
    *[Sample("ArgMax", (X, np.array(axis, np.int32)), _place(np.argmax), REAL) for axis in (0, -1)],
    *[Sample("ArgMin", (X, np.array(axis, np.int32)), _place(np.argmin), REAL) for axis in (0, -1)],
    *[
        Sample(op, ([[True, False], [False, True]], np.array(1, np.int32)), _place(f), ("bool",))
        for op, f in (("ArgMax", np.argmax), ("ArgMin", np.argmin))
    ],
    Sample(
        "ArgMax",
        (X, np.array(1, np.int64)),
        _place(np.argmax, "int32"),
        attrs={"output_type": "int32"},
    ),
    *[
        Sample(
            op,
            (values, np.array(0, np.int32)),
            lambda x, _: int(np.flatnonzero(np.isnan(x))[0]),
            FLOATS,
            beside_tensorflow="passes over NaN, or not, as it is placed",
        )
        for op, values in (("ArgMax", [1.0, NAN, 3.0, NAN]), ("ArgMin", [1.0, -INF, NAN, 3.0]))
    ],
    *_scans("Cumsum", lambda x: np.cumsum(x, 0), 0, dtypes=FLOATS + INTEGERS + COMPLEX, ulp=0.5),
    *_scans("Cumprod", lambda x: np.cumprod(x, 0), 1, dtypes=FLOATS + INTEGERS + COMPLEX, ulp=0.5),
    Sample(
        "CumulativeLogsumexp",
        ([1.0, 2.0, 3.0], np.array(0)),
        _scan(np.logaddexp.accumulate, -INF),
        ulp=2,
    ),
    *_scans("CumulativeLogsumexp", np.logaddexp.accumulate, -INF, dtypes=FLOATS, ulp=2),
    *[
        Sample(
            "CumulativeLogsumexp",
            (values, np.array(0)),
            _scan(np.logaddexp.accumulate, -INF),
            FLOATS,
            ulp=2,
            beside_tensorflow="passes over NaN, or not, as it is placed",
        )
        for values in ([0.0, NAN, 1.0], [NAN, 1.0], [INF, INF, NAN], [-INF, NAN], [-INF, INF, 2.0])
    ],
]

WRONG = [
    Wrong("Sum", (np.ones((2, 3)), int32([2])), "axis 2 is out of valid range [-2, 2)"),
    Wrong("Max", (np.ones((2, 3)), int32([0, -2])), "Axes contains duplicate dimension: 0"),
    Wrong(
        "Any",
        (np.ones(2), np.array(0, np.int32)),
        "to be a bool tensor but is a double",
        message_in_graph="has type float64 that does not match expected type of bool",
    ),
    Wrong("ArgMax", (np.ones((2, 3)), np.array(2, np.int32)), "in the range [-2, 2), but got 2"),
    Wrong(
        "ArgMin",
        (np.ones((2, 0)), np.array(1, np.int32)),
        "Reduction axis 1 is empty in shape [2,0]",
    ),
    Wrong("ArgMax", (np.ones((2, 3)), int32([0])), "dim must be a scalar"),
    Wrong(
        "Cumsum",
        (np.ones((2, 3)), np.array(2, np.int32)),
        "Expected scan axis in the range [-2, 2)",
    ),
    Wrong("Cumprod", (np.ones((2, 3)), int32([0])), "axis must be a scalar, not [1]"),
]
