"""What a call gave, in a few numbers, so that two systems can be compared."""

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

# Sums of 1 Mi float32 in two orders are less than this apart.
_TOLERANCE = 1e-3

Description = list[Any]


def describe_result(result: Any, with_values: bool = True) -> list[Description]:
    """For each tensor of a result its dtype, shape, and a few numbers."""
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in describe_result(item, with_values)]
    name = result.dtype.name
    if name in ("resource", "variant"):
        return [[name, [], []]]
    array = np.asarray(result.numpy())
    return [[name, list(array.shape), _numbers(array) if with_values else []]]


def _numbers(array: Any) -> list[float]:
    """How many are finite, their mean and mean size, and three of them."""
    if array.dtype.kind in "OSU":
        return [float(zlib.crc32(b"\0".join(array.astype("S").ravel().tolist())))]
    if array.dtype.kind == "c":
        return [*_numbers(array.real), *_numbers(array.imag)]
    values = array.ravel().astype(np.float64)
    if not values.size:
        return []
    finite = values[np.isfinite(values)]
    mean, size = (finite.mean(), np.abs(finite).mean()) if finite.size else (0.0, 0.0)
    chosen = values[[0, values.size // 2, -1]]
    return [float(finite.size), float(size), float(mean), *map(float, chosen)]


def difference(own: Sequence[Description], other: Sequence[Description]) -> str:
    """How two results differ, or ""."""
    if len(own) != len(other):
        return f"{len(own)} results, {len(other)} in TensorFlow"
    for mine, theirs in zip(own, other, strict=True):
        if mine[:2] != theirs[:2]:
            return f"{mine[0]}{mine[1]}, {theirs[0]}{theirs[1]} in TensorFlow"
        scale = abs(theirs[2][1]) if len(theirs[2]) > 1 else 0.0
        for a, b in zip(mine[2], theirs[2], strict=True):
            if not _is_close(a, b, scale):
                return f"WrongResult: {mine[2]}; TensorFlow has {theirs[2]}"
    return ""


def _is_close(a: float, b: float, scale: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= _TOLERANCE * max(abs(b), scale)
