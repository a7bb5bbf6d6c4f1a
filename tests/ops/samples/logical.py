"""Comparisons, logic and bits."""

import math
from typing import Any

import numpy as np

from ops.sample import FLOATS, INTEGERS, REAL, SIGNED, Sample

BOTH = ([True, True, False, False], [True, False, True, False])
X, Y = [[1, 2, 3, 5], [7, 100, 0, 6]], [[1, 3, 2, 5]]


def _compare(op: str, reference: Any, dtypes: Any = REAL) -> list[Sample]:
    numbers = Sample(op, (X, Y), reference, dtypes, is_elementwise=True)
    special = Sample(
        op, ([0.0, -0.0, math.nan, math.inf], [-0.0, 1.0, math.nan, math.inf]), reference, FLOATS
    )
    return [numbers, special]


def _bits(op: str, reference: Any) -> Sample:
    return Sample(op, (X, Y), reference, INTEGERS, is_elementwise=True)


def _shifted(shift: Any) -> Any:
    def reference(x: Any, y: Any) -> Any:
        return shift(x, np.clip(y, 0, 8 * y.dtype.itemsize - 1).astype(y.dtype))

    return reference


SAMPLES = [
    *_compare("Less", np.less),
    *_compare("LessEqual", np.less_equal),
    *_compare("Greater", np.greater),
    *_compare("GreaterEqual", np.greater_equal),
    *_compare("Equal", np.equal),
    *_compare("NotEqual", np.not_equal),
    *[
        Sample(op, values, f, dtypes, is_elementwise=True)
        for op, f in (("Equal", np.equal), ("NotEqual", np.not_equal))
        for values, dtypes in (
            (BOTH, ("bool",)),
            (([1 + 2j, 1, 2j], [1 + 2j, 1j, 2j]), ("complex64", "complex128")),
        )
    ],
    Sample("LogicalAnd", BOTH, np.logical_and, ("bool",), is_elementwise=True),
    Sample("LogicalOr", BOTH, np.logical_or, ("bool",), is_elementwise=True),
    Sample("LogicalNot", BOTH[:1], np.logical_not, ("bool",), is_elementwise=True),
    _bits("BitwiseAnd", np.bitwise_and),
    _bits("BitwiseOr", np.bitwise_or),
    _bits("BitwiseXor", np.bitwise_xor),
    Sample("Invert", (X,), np.invert, INTEGERS, is_elementwise=True),
    *[
        Sample(op, ([1, 3, 100], [100, 64, 9]), _shifted(f), INTEGERS, is_elementwise=True)
        for op, f in (("LeftShift", np.left_shift), ("RightShift", np.right_shift))
    ],
    *[
        Sample(op, ([1, -3, -100], [-1, -64, 120]), _shifted(f), SIGNED, is_elementwise=True)
        for op, f in (("LeftShift", np.left_shift), ("RightShift", np.right_shift))
    ],
    Sample("LeftShift", ([1, 2, 3], [1, 3, 2]), np.left_shift, INTEGERS, is_elementwise=True),
    Sample("RightShift", ([1, 12, 100], [1, 3, 2]), np.right_shift, INTEGERS, is_elementwise=True),
]
