"""Elementwise arithmetic and functions."""

import math
from typing import Any

import numpy as np

from ops import special_functions as special
from ops.sample import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    REAL,
    REAL_FLOATS,
    SIGNED,
    Sample,
    Wrong,
    float32,
    int32,
)

INF, NAN = math.inf, math.nan

# Zeros of both signs, small and large numbers, infinities, NaN.
ALL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 3.25, -7.0, 1e-3, 20.5, -20.5, INF, -INF, NAN]
POSITIVE = [0.0, 1e-3, 0.25, 0.5, 1.0, 1.5, 2.0, 3.25, 7.0, 20.5, 100.0, INF, NAN, -1.0]
UNIT = [0.0, -0.0, 0.25, -0.25, 0.5, -0.5, 0.875, -0.9375, 1.0, -1.0, NAN, 2.0]
INTS = [0, 1, 2, 3, 5, 7, 100, 127]
SIGNED_INTS = [0, 1, -1, 2, -3, 5, -7, 100, -128]
COMPLEXES = [0j, 1 + 2j, -1.5 + 0.5j, 3 - 4j]


INDICES = ("int32", "int64")


def _truncated_quotient(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return np.trunc(x / y)
    quotient = x // y
    return quotient + ((x - quotient * y != 0) & ((x < 0) != (y < 0)))


def _unary(
    op: str,
    reference: Any,
    values: list[Any] = ALL,
    ulp: float = 0,
    dtypes: Any = FLOATS,
    smooth_at: Any = (0.3, 0.6, 0.8),
) -> Sample:
    smooth = (list(smooth_at),) if smooth_at and "float64" in dtypes else None
    return Sample(op, (values,), reference, dtypes, ulp=ulp, is_elementwise=True, smooth_at=smooth)


def _binary(
    op: str, reference: Any, dtypes: Any, x: Any = None, y: Any = None, ulp: float = 0
) -> Sample:
    x = x if x is not None else [[1, 2, 3, 5], [7, 100, 0, 6]]
    y = y if y is not None else [[1, 3, 2, 5]]
    has_gradient = op not in ("FloorDiv", "TruncateDiv", "TruncateMod")
    is_smooth = has_gradient and "float64" in dtypes
    smooth = ([[0.3, 0.7], [1.4, 2.2]], [[0.6, 0.45]]) if is_smooth else None
    return Sample(op, (x, y), reference, dtypes, ulp=ulp, is_elementwise=True, smooth_at=smooth)


SAMPLES = [
    _unary("Neg", np.negative, dtypes=FLOATS),
    _unary("Neg", np.negative, SIGNED_INTS, dtypes=SIGNED),
    _unary("Neg", np.negative, COMPLEXES, dtypes=COMPLEX),
    _unary("Abs", np.abs, dtypes=FLOATS),
    _unary("Abs", np.abs, SIGNED_INTS, dtypes=SIGNED),
    _unary("Sign", np.sign, dtypes=FLOATS),
    _unary("Sign", np.sign, SIGNED_INTS, dtypes=SIGNED),
    _unary("Square", np.square, ulp=0.5),
    _unary("Square", np.square, [0, 1, 2, 3, 11], dtypes=INTEGERS),
    _unary("Sqrt", np.sqrt, POSITIVE, ulp=0.5),
    _unary("Rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE, ulp=2),
    _unary("Reciprocal", np.reciprocal, [0.5, -3.0, 7.0, INF], ulp=1),
    _unary("Inv", np.reciprocal, [0.5, -3.0, 7.0, INF], ulp=1),
    _unary("Exp", np.exp, ulp=2),
    _unary("Expm1", np.expm1, ulp=3),
    _unary("Log", np.log, POSITIVE, ulp=2),
    _unary("Log1p", np.log1p, POSITIVE, ulp=3),
    _unary("Sin", np.sin, ulp=3),
    _unary("Cos", np.cos, ulp=3),
    _unary("Tan", np.tan, ulp=4),
    _unary("Asin", np.arcsin, UNIT, ulp=4),
    _unary("Acos", np.arccos, UNIT, ulp=4),
    _unary("Atan", np.arctan, ulp=4),
    _unary("Sinh", np.sinh, ulp=4),
    _unary("Cosh", np.cosh, ulp=4),
    _unary("Tanh", np.tanh, ulp=4),
    _unary("Asinh", np.arcsinh, ulp=4),
    _unary(
        "Acosh", np.arccosh, [1.0, 1.5, 2.0, 7.0, 100.0, INF, 0.5], ulp=4, smooth_at=(1.3, 2.5, 4.0)
    ),
    _unary("Atanh", np.arctanh, UNIT, ulp=4),
    _unary("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), ulp=4),
    _unary("Erf", special.erf, [0.0, -0.0, 0.5, -0.5, 1.0, 2.5, -7.0, 1e-3], ulp=4),
    Sample(
        "Erf",
        ([INF, -INF, NAN],),
        special.erf,
        REAL_FLOATS,
        beside_tensorflow="its erf of float64 infinities is NaN",
    ),
    _unary("Erfc", special.erfc, [0.0, 0.5, -0.5, 1.0, 2.5, -3.0, INF, -INF], ulp=16),
    _unary("Floor", np.floor, dtypes=FLOATS, smooth_at=None),
    _unary("Ceil", np.ceil, dtypes=FLOATS, smooth_at=None),
    _unary("Rint", np.rint, smooth_at=None),
    _unary("Round", np.rint, dtypes=FLOATS, smooth_at=None),
    Sample(
        "Round", (INTS,), np.rint, INTEGERS, beside_tensorflow="its Round of integers gives zeros"
    ),
    _unary("IsNan", np.isnan, dtypes=FLOATS, smooth_at=None),
    _unary("IsInf", np.isinf, dtypes=FLOATS, smooth_at=None),
    _unary("IsFinite", np.isfinite, dtypes=FLOATS, smooth_at=None),
    _unary("Lgamma", special.lgamma, [0.5, 1.0, 1.5, 2.5, 7.0, 20.5, 100.0], ulp=16),
    *[
        _binary(op, f, dtypes, ulp=0.5)
        for op, f in (
            ("AddV2", np.add),
            ("Add", np.add),
            ("Sub", np.subtract),
            ("Mul", np.multiply),
            ("SquaredDifference", lambda x, y: np.conj(x - y) * (x - y)),
        )
        for dtypes in ((*FLOATS, *COMPLEX), INTEGERS if op != "SquaredDifference" else INDICES)
    ],
    _binary("Maximum", np.maximum, REAL),
    _binary("Minimum", np.minimum, REAL),
    _binary("RealDiv", np.divide, (*FLOATS, *COMPLEX), y=[[1, 3, 2, 5]], ulp=1),
    *[
        _binary(op, f, dtypes, x, y)
        for op, f in (
            ("FloorDiv", np.floor_divide),
            ("FloorMod", np.mod),
            ("TruncateDiv", _truncated_quotient),
            ("TruncateMod", np.fmod),
        )
        for dtypes, x, y in (
            (SIGNED, [7, -7, 7, -7, 0, -128], [2, 2, -2, -2, 3, 1]),
            (INTEGERS, [7, 100, 0, 127], [2, 3, 3, 1]),
            (FLOATS, [7.5, -7.5, 7.5, -7.5], [2.0, 2.0, -2.0, -2.0]),
        )
    ],
    _binary("Pow", np.power, FLOATS, [2.0, 0.5, 3.0, 1.5], [3.0, 2.0, 0.5, -1.5], ulp=8),
    _binary("Pow", np.power, SIGNED, [2, -3, 5, 0], [3, 2, 0, 4]),
    _binary("Atan2", np.arctan2, FLOATS, [1.0, -1.0, 2.0], [2.0, -0.5, 0.0], ulp=4),
]

WRONG = [
    Wrong("AddV2", (int32([1, 2]), int32([1, 2, 3])), "Incompatible shapes: [2] vs. [3]"),
    Wrong(
        "AddV2",
        (int32([1]), float32([1])),
        "to be a int32 tensor but is a float",
        message_in_graph="has type float32 that does not match type int32 of argument 'x'",
    ),
    Wrong("FloorDiv", (int32([1]), int32([0])), "Integer division by zero"),
    Wrong("Neg", (np.array([True]),), "not in the list of allowed values"),
]
