"""The ops that gradients of elementary functions are made of."""

import math
from typing import Any

import numpy as np

from ops.sample import (
    COMPLEX,
    FLOATS,
    Sample,
    Wrong,
    int32,
)

INF, NAN = math.inf, math.nan

# y and dy, zeros, infinities and NaN among them.
Y = [0.5, -0.25, 1.0, 2.0, -3.0, 0.125, 0.0, 4.0, INF, NAN, 1.0]
DY = [1.0, -2.0, 0.5, 3.0, 0.25, -1.5, 2.0, 0.0, 1.0, 1.0, INF]
COMPLEX_Y = [0.5 + 1j, -2j, 3 - 0.25j, -1 - 1j]
COMPLEX_DY = [1 - 2j, 0.5 + 0j, -1j, 2 + 0.25j]


def _grad(op: str, f: Any, y: Any = Y, dy: Any = DY, ulp: float = 2) -> list[Sample]:
    """Of y and dy, both of one shape."""
    smooth = ([[0.3, 0.7], [1.4, 2.2]], [[0.6, -0.4], [1.1, 0.9]])
    complex_smooth = ([0.5 + 1j, -2j, 3 - 0.25j], [1 - 2j, 0.5 + 0j, -1j])
    short: dict[str, Any] = {"is_elementwise": True, "broadcasts": False}
    return [
        Sample(op, (y, dy), f, FLOATS, ulp=ulp, smooth_at=smooth, **short),
        Sample(
            op,
            (COMPLEX_Y, COMPLEX_DY),
            f,
            COMPLEX,
            tolerance=1e-6,
            smooth_at=complex_smooth,
            **short,
        ),
        Sample(op, ([[0.5, 1.0]], [[2.0, -1.0]]), f, FLOATS, ulp=ulp),
    ]


def _where_dy_is_not_zero(f: Any) -> Any:
    """Where nothing comes in nothing goes on, though the slope be infinite."""
    return lambda y, dy: np.where(dy == 0, 0, f(y, dy))


def _reciprocal(y: Any, dy: Any) -> Any:
    return -dy * np.square(np.conj(y))


SAMPLES = [
    *_grad("SigmoidGrad", lambda y, dy: dy * y * (1 - y)),
    *_grad("TanhGrad", lambda y, dy: dy * (1 - np.square(y))),
    *_grad("SqrtGrad", _where_dy_is_not_zero(lambda y, dy: dy * 0.5 / np.conj(y))),
    *_grad("RsqrtGrad", _where_dy_is_not_zero(lambda y, dy: dy * -0.5 * np.conj(y) ** 3)),
    *_grad("ReciprocalGrad", _reciprocal),
    *_grad("InvGrad", _reciprocal),
]
OPS = ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
WRONG = [
    *[Wrong(op, (np.ones(2), np.ones(3)), "[2]") for op in OPS],
    *[
        Wrong(
            op,
            (int32([1]), int32([1])),
            "Value for attr 'T' of int32 is not in the list of allowed values",
        )
        for op in OPS
    ],
]
