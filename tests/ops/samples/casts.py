"""Casts between all dtypes that have plain elements."""

import math
from typing import Any

import numpy as np

from ops.sample import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    PLAIN,
    Sample,
    Wrong,
    float32,
    numpy_dtype,
)

# Values that every dtype holds, up to a fraction or a part that it drops.
SMALL = [0, 1, 2, 3, 100, 127]
FRACTIONS = [0.0, 0.5, 1.5, 2.75, 100.25, 0.875]


def _cast(x: Any, DstT: str) -> Any:  # noqa: N803
    if x.dtype.kind == "c" and DstT not in COMPLEX:
        x = x.real
    if x.dtype.kind == "f" and DstT in INTEGERS:
        x = np.trunc(x)
    return x if DstT in (*FLOATS, *COMPLEX) else x.astype(numpy_dtype(DstT))


def _from(values: list[Any], dtypes: Any, to: tuple[str, ...] = PLAIN) -> list[Sample]:
    return [
        Sample("Cast", (values,), _cast, dtypes, {"DstT": dtype}, is_elementwise=True)
        for dtype in to
    ]


SAMPLES = [
    *_from(SMALL, PLAIN),
    *_from(FRACTIONS, FLOATS),
    *_from([-x for x in FRACTIONS], FLOATS, ("int8", "int16", "int32", "int64", "bool", *FLOATS)),
    *_from([1 + 2j, -0.5j, 3.5 + 0j, 0j], COMPLEX, (*FLOATS, *COMPLEX, "bool", "int32")),
    # What is out of range of the result is infinite among floats, and wraps among integers.
    *_from([math.inf, -math.inf, math.nan, 1e30, -1e30, 65520.0], ("float32", "float64"), FLOATS),
    *_from([-1, -128, 127, 200, 255, 300, -40000], ("int32", "int64"), INTEGERS),
    *_from([0.0, -0.0, math.nan, math.inf, 1e-30], ("float32", "float64"), ("bool",)),
    # Halves are rounded to the even neighbour.
    *_from([2049.0, 2051.0, 1.00390625, 1.01171875], ("float32", "float64"), FLOATS[:2]),
    *_from([2**24 + 1, 2**24 + 3, 2**53 + 1], ("int64",), ("float32", "float64")),
    Sample(
        "Cast", ([[0.5, -1.25]],), _cast, ("float64",), {"DstT": "float64"},
        smooth_at=([[0.5, -1.25]],),
    ),
    Sample(
        "Cast", ([[0.5, -1.25]],), _cast, ("float64",), {"DstT": "complex128"},
        smooth_at=([[0.5, -1.25]],),
    ),
    Sample(
        "Cast", ([[0.5 + 1j, -1.25j]],), _cast, ("complex128",), {"DstT": "float64"},
        smooth_at=([[0.5 + 1j, -1.25j]],),
    ),
]  # fmt: skip
WRONG = [
    Wrong("Cast", (np.array(["a"], object),), "Value for attr 'SrcT' of string is not in the list",
          attrs={"DstT": "float32"}),
    Wrong("Cast", (float32([1]),), "Value for attr 'DstT' of string is not in the list",
          attrs={"DstT": "string"}),
    Wrong("Cast", (float32([1]),), "Casting with Truncate is not supported",
          error="UnimplementedError", attrs={"DstT": "float16", "Truncate": True},
          beside_tensorflow="it truncates"),
]  # fmt: skip
