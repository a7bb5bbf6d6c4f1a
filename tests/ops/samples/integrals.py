"""Bessel functions, integrals of exponentials, incomplete gamma and beta functions."""

import math

import numpy as np

from ops import integral_references as reference
from ops.sample import REAL_FLOATS, Sample, Wrong, int32

INF, NAN = math.inf, math.nan
HALF = ("float16", *REAL_FLOATS)

SAMPLES = [
    *[
        Sample(
            op, ([0.0, -0.5, 1.0, 2.5, 7.9, 8.1, -12.0, 20.0, NAN],), f, HALF, ulp=8,
            is_elementwise=True, smooth_at=([0.3, -1.7, 9.0],),
        )
        for op, f in (
            ("BesselI0", reference.bessel_i0), ("BesselI1", reference.bessel_i1),
            ("BesselI0e", reference.bessel_i0e), ("BesselI1e", reference.bessel_i1e),
        )
    ],
    Sample("BesselI0e", ([500.0, -30000.0, INF, -INF],), reference.bessel_i0e, HALF, ulp=8),
    Sample("BesselI1e", ([500.0, -30000.0, INF, -INF],), reference.bessel_i1e, HALF, ulp=8),
    *[
        Sample(
            op, ([700.0, 712.0, 800.0, -1e30, INF, -INF],), f, REAL_FLOATS, ulp=64,
            beside_tensorflow="its value at infinity is NaN, and infinite from 709.8 on",
        )
        for op, f in (("BesselI0", reference.bessel_i0), ("BesselI1", reference.bessel_i1))
    ],
    *[
        Sample(
            op, ([0.0, 0.125, 0.5, 1.0, 2.5, 7.0, 20.0, 60.0, INF, NAN],), f, HALF, ulp=8,
            is_elementwise=True, smooth_at=([0.3, 1.7, 4.0],),
        )
        for op, f in (
            ("BesselK0", reference.bessel_k0), ("BesselK1", reference.bessel_k1),
            ("BesselK0e", reference.bessel_k0e), ("BesselK1e", reference.bessel_k1e),
        )
    ],
    Sample("BesselK0e", ([499.0, 501.0, 1e5],), reference.bessel_k0e, REAL_FLOATS, ulp=4),
    Sample("BesselK1e", ([499.0, 501.0, 1e5],), reference.bessel_k1e, REAL_FLOATS, ulp=4),
    *[
        Sample(
            op, ([0.0, -0.5, 1.0, 2.0, 3.5, -5.0, 8.0, NAN],), f, HALF, ulp=16,
            is_elementwise=True, smooth_at=([0.3, -1.7, 4.0],),
        )
        for op, f in (("BesselJ0", reference.bessel_j0), ("BesselJ1", reference.bessel_j1))
    ],
    *[
        Sample(
            op, ([0.125, 0.5, 1.0, 2.0, 3.5, 5.0, 8.0, NAN],), f, HALF, ulp=16,
            is_elementwise=True, smooth_at=([0.3, 1.7, 4.0],),
        )
        for op, f in (("BesselY0", reference.bessel_y0), ("BesselY1", reference.bessel_y1))
    ],
    Sample("BesselY0", ([0.0, -2.0],), reference.bessel_y0, HALF),
    Sample(
        "BesselY1", ([0.0, -2.0],), reference.bessel_y1, HALF,
        beside_tensorflow="at 0 it is NaN in float32",
    ),
    Sample(
        "Dawsn", ([0.0, -0.125, 0.5, 1.0, 2.4, 2.6, -7.0, 30.0, 1e8, 1e10, NAN],),
        reference.dawson, REAL_FLOATS, ulp=16, is_elementwise=True, smooth_at=([0.3, -1.7, 4.0],),
    ),
    Sample(
        "Expint", ([0.0, 0.125, 0.5, 1.0, 2.5, 7.0, 30.0, 60.0, NAN],), reference.expint,
        REAL_FLOATS, ulp=16, is_elementwise=True, smooth_at=([0.3, 1.7, 4.0],),
    ),
    *[
        Sample(
            op, ([0.0, -0.125, 0.5, 1.0, 2.4, 2.6, -7.0, 30.0, 1e6, NAN],), f, REAL_FLOATS, ulp=16,
            is_elementwise=True, smooth_at=([0.3, -1.7, 2.7],),
            beside_tensorflow="the digits of x^2 that it rounds off count for large x",
        )
        for op, f in (("FresnelCos", reference.fresnel_cos), ("FresnelSin", reference.fresnel_sin))
    ],
    Sample("FresnelCos", ([0.5, -1.5, 2.75, INF, -INF],), reference.fresnel_cos, ulp=16),
    Sample("FresnelSin", ([0.5, -1.5, 2.75, INF, -INF],), reference.fresnel_sin, ulp=16),
    Sample(
        "Spence", ([0.0, 0.125, 0.5, 0.9375, 1.0, 1.0625, 2.0, 2.5, 30.0, 1e10, NAN],),
        reference.spence, REAL_FLOATS, ulp=8, is_elementwise=True, smooth_at=([0.3, 1.7, 4.0],),
    ),
    Sample(
        "Igamma", ([[0.125, 1.0, 2.5, 20.0]], [[0.0], [0.5], [2.0], [25.0]]),
        reference.igamma, REAL_FLOATS, ulp=64, is_elementwise=True,
        smooth_at=([0.5, 3.0], [[0.7], [2.5]]),
    ),
    Sample(
        "Igammac", ([[0.125, 1.0, 2.5, 20.0]], [[0.0], [0.5], [2.0], [25.0]]),
        reference.igammac, REAL_FLOATS, ulp=64, is_elementwise=True,
        smooth_at=([0.5, 3.0], [[0.7], [2.5]]),
    ),
    Sample("Igamma", ([-1.0, 1.0, NAN, 2.0], [1.0, -1.0, 1.0, INF]), reference.igamma, REAL_FLOATS),
    Sample(
        "Igammac", ([-1.0, 1.0, NAN, 2.0], [1.0, -1.0, 1.0, INF]), reference.igammac, REAL_FLOATS
    ),
    Sample(
        "IgammaGradA", ([[0.125, 1.0, 2.5, 20.0]], [[0.0], [0.5], [2.0], [25.0]]),
        None, REAL_FLOATS, tolerance=1e-5, is_elementwise=True,
    ),
    Sample(
        "RandomGammaGrad", ([[0.125, 1.0, 2.5, 20.0]], [[0.25], [0.5], [2.0], [25.0]]),
        None, REAL_FLOATS, tolerance=1e-5, is_elementwise=True,
    ),
    Sample(
        "Betainc", ([0.5, 2.0, 3.5, 20.0], [1.5, 0.5, 4.0, 15.0], [0.25, 0.75, 0.0, 0.5]),
        reference.betainc, REAL_FLOATS, ulp=256, is_elementwise=True, broadcasts=False,
        smooth_at=([0.5, 3.0], [2.0, 1.5], [0.4, 0.6]), no_gradient_for=(0, 1),
    ),
    Sample("Betainc", (2.0, [1.0, 3.0], 0.25), reference.betainc, REAL_FLOATS, ulp=256),
    Sample(
        "Betainc", ([-1.0, 1.0, 1.0, NAN], [1.0, 0.0, 1.0, 1.0], [0.5, 0.5, 1.5, 0.5]),
        reference.betainc, REAL_FLOATS,
    ),
]  # fmt: skip
WRONG = [
    *[
        Wrong(op, (int32([1]),), "Value for attr 'T' of int32 is not in the list")
        for op in ("BesselI0", "BesselK1e", "Dawsn", "Spence")
    ],
    *[
        Wrong(op, (np.ones(2), np.ones(3)), "Incompatible shapes: [2] vs. [3]")
        for op in ("Igamma", "Igammac", "IgammaGradA", "RandomGammaGrad")
    ],
    Wrong(
        "Betainc", (np.ones(2), np.ones(2), np.ones(1)),
        "Shapes of a and x are inconsistent: [2] vs. [1]",
    ),
]  # fmt: skip
