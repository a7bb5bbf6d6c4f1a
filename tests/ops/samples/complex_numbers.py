"""Complex numbers and their parts."""

import math
from typing import Any

import numpy as np

from ops.sample import (
    Sample,
    Wrong,
    complex64,
    float32,
    float64,
)

NUMBERS = [0j, 1 + 2j, -1.5 + 0.5j, 3 - 4j, -2 - 2j, 5 + 0j, -5 + 0j, 3j, -0.5j]
BEYOND = [complex(math.inf, 1), complex(1, -math.inf), complex(math.nan, 1), complex(1, math.nan)]
SMOOTH = [[0.5 + 1j, -2j], [3 - 0.25j, -1 - 1j]]
PARTS = (("complex64", "float32"), ("complex128", "float64"))


def _part(op: str, f: Any, beyond: list[complex], ulp: float = 0) -> list[Sample]:
    rows = []
    for whole, part in PARTS:
        attrs = {"Tout": part}
        smooth = (SMOOTH,) if part == "float64" else None
        rows += [
            Sample(
                op,
                (NUMBERS,),
                lambda x, Tout: f(x),  # noqa: N803
                (whole,),
                attrs,
                ulp=ulp,
                is_elementwise=True,
                smooth_at=smooth,
            ),
            Sample(op, (beyond,), lambda x, Tout: f(x), (whole,), attrs, ulp=ulp),  # noqa: N803
        ]
    return rows


def _complex(re: Any, im: Any) -> Any:
    """The numbers of these parts; re + 1j * im would make NaN of infinities."""
    re, im = np.broadcast_arrays(re, im)
    return np.stack([re, im], axis=-1).view(np.complex128)[..., 0]


SAMPLES = [
    *_part("Real", np.real, BEYOND),
    *_part("Imag", np.imag, BEYOND),
    *_part("Angle", np.angle, BEYOND[:3], ulp=3),
    *_part("ComplexAbs", np.abs, BEYOND[:3], ulp=2),
    Sample(
        "Conj", (NUMBERS + BEYOND,), np.conj, ("complex64", "complex128"), is_elementwise=True,
        smooth_at=(SMOOTH,),
    ),
    *[
        Sample(
            "Complex",
            ([[1.0, -2.0, 0.0, math.inf], [0.5, math.nan, 3.0, -0.0]], [[2.0, 0.25, -0.0, -1.0]]),
            lambda re, im, Tout: _complex(re, im),  # noqa: N803
            (part,),
            {"Tout": whole},
            is_elementwise=True,
            smooth_at=([[1.0, -2.0], [0.5, 3.0]], [2.0, 0.25]) if part == "float64" else None,
        )
        for whole, part in PARTS
    ],
]  # fmt: skip
FUNCTIONS: dict[str, Any] = {
    "Square": np.square,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Reciprocal": np.reciprocal,
    "Inv": np.reciprocal,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log1p": np.log1p,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Sign": lambda x: x / np.abs(x),
}
# Away from the poles and the cuts of all of them.
ORDINARY = [0.5 + 0.25j, -0.25 + 1.5j, 2 - 0.75j, -1.5 - 1.25j, 0.125j + 0.75]
SAMPLES += [
    Sample(
        op, (ORDINARY,), f, ("complex64", "complex128"), tolerance=2e-6, is_elementwise=True,
        smooth_at=([0.5 + 0.25j, -0.25 + 1.5j, 2 - 0.75j],),
    )
    for op, f in FUNCTIONS.items()
] + [
    Sample(
        "Pow", (ORDINARY[:4], [[2 + 0j], [0.5 - 1j]]), np.power, ("complex64", "complex128"),
        tolerance=2e-6, is_elementwise=True,
        smooth_at=([0.5 + 0.25j, 2 - 0.75j], [[2 + 0j], [0.5 - 1j]]),
    ),
]  # fmt: skip
WRONG = [
    Wrong("Real", (float32([1]),), "Value for attr 'T' of float is not in the list of allowed"),
    Wrong("Real", (complex64([1]),), "The parts of complex64 are float32, not float64",
          attrs={"Tout": "float64"}),
    Wrong("Complex", (float64([1]), float64([1])),
          "The parts of complex64 are float32, not float64"),
    Wrong("Complex", (np.ones(2, np.float32), np.ones(3, np.float32)), "[2] vs. [3]"),
]  # fmt: skip
