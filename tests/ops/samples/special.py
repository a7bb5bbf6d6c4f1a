"""The gamma function's kin and the quantiles of the normal distribution."""

import math

import numpy as np

from ops import special_functions as reference
from ops.sample import (
    FLOATS,
    REAL_FLOATS,
    Sample,
    Wrong,
    int32,
)

INF, NAN = math.inf, math.nan

SAMPLES = [
    Sample(
        "Digamma", ([0.5, 1.0, 1.5, 2.5, 7.0, 20.5, 100.0, -0.5, -2.25, INF, NAN],),
        reference.digamma, REAL_FLOATS, ulp=16, is_elementwise=True, smooth_at=([0.7, 1.6, 4.0],),
    ),
    Sample(
        "Digamma", ([0.0, -1.0, -2.0],), reference.digamma, REAL_FLOATS,
        beside_tensorflow="digamma(0) is -inf there, the limit from above",
    ),
    Sample("Digamma", ([0.5, 1.0, 2.5, 7.0],), reference.digamma, FLOATS[:2], ulp=1),
    Sample(
        "Erfinv", ([0.0, -0.0, 0.25, -0.25, 0.5, 0.75, -0.9375, 1.0, -1.0, 1.5, NAN],),
        reference.erfinv, REAL_FLOATS, ulp=8, is_elementwise=True, smooth_at=([0.3, -0.6, 0.8],),
    ),
    Sample(
        "Erfinv", ([0.999, -0.9999, 1 - 2**-20],), reference.erfinv, REAL_FLOATS, ulp=8,
        beside_tensorflow="its error grows towards 1, to 50 ULP and more",
    ),
    Sample(
        "Ndtri", ([0.5, 0.25, 0.75, 1e-3, 0.999, 1e-10, 0.0, 1.0, -0.5, 2.0, NAN],),
        reference.ndtri, REAL_FLOATS, ulp=8, is_elementwise=True, smooth_at=([0.3, 0.6, 0.9],),
    ),
    Sample(
        "Polygamma", ([[0.0, 1.0, 2.0, 5.0]], [[0.5], [1.0], [3.25], [20.0]]),
        reference.polygamma, REAL_FLOATS, ulp=32, is_elementwise=True,
        smooth_at=([1.0, 2.0], [[0.7], [2.5]]), no_gradient_for=(0,),
    ),
    Sample("Polygamma", ([-1.0, 0.5, NAN], [1.0, 1.0, 1.0]), reference.polygamma, REAL_FLOATS),
    Sample(
        "Zeta", ([[1.5, 2.0, 3.0, 7.5]], [[0.5], [1.0], [3.25], [20.0]]),
        reference.zeta, REAL_FLOATS, ulp=32, is_elementwise=True,
        smooth_at=([2.5, 4.0], [[0.7], [2.5]]), no_gradient_for=(0,),
    ),
    Sample("Zeta", ([1.0, 0.5, NAN], [1.0, 1.0, 1.0]), reference.zeta, REAL_FLOATS),
]  # fmt: skip
WRONG = [
    *[
        Wrong(op, (int32([1]),), "Value for attr 'T' of int32 is not in the list")
        for op in ("Digamma", "Erfinv", "Ndtri")
    ],
    *[
        Wrong(op, (np.ones(2), np.ones(3)), "Incompatible shapes: [2] vs. [3]")
        for op in ("Polygamma", "Zeta")
    ],
]
