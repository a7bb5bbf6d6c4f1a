"""Zeros in the place of values that nothing reads."""

from __future__ import annotations

from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._dtypes import resource, variant


def zeros_like_type(tensor: Any) -> Any:
    """Returns zeros of a tensor's dtype and of a shape that its own shape includes.

    Only its type is read, so that it may be a tensor of another graph. Returns None for what zeros
    cannot stand for: composite tensors, resources, objects.
    """
    if not isinstance(tensor, _engine.Tensor) or tensor.dtype in (resource, variant):
        return None
    sizes = [] if tensor.shape.rank is None else [size or 0 for size in tensor.shape.as_list()]
    return ops.zeros(sizes, tensor.dtype)
