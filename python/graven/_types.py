"""Names for what functions take and return, for readers and type checkers."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from graven import _engine
from graven._engine import Tensor as Tensor

# A tensor, a variable, or a Python or NumPy value that becomes a tensor.
TensorLike = Any
# A DType, or what as_dtype makes one of.
DTypeLike = Any
# A TensorShape, a list of sizes, or an integer tensor.
ShapeLike = Any
# One axis, several, or None for all.
Axes = Any
# A number of axes, or the axes of both tensors.
AxisPairs = Any
Sizes = int | Sequence[int]
# "SAME", "VALID", or [before, after] for each axis.
Padding = str | Sequence[Sequence[int]]
# Or a member of an enum of TensorFlow's that stands for either.
NumberOrText = float | str | enum.Enum
Name = str | None


def has_dtype(value: Any) -> bool:
    """Tells whether a value is a tensor or a variable, to whose dtype others are converted."""
    return isinstance(value, Tensor | _engine.VariableBase)
