"""min, max, sum, any and all of tensors, where Feature.BUILTIN_FUNCTIONS asks for them.

Without the feature, and in TensorFlow with it too, they look at tensors as Python does: that asks
for the truth or for the elements of a symbolic tensor, and is an error.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from graven import _engine
from graven import _functions as ops
from graven._debug_ops import Assert
from graven._dtypes import bool_
from graven._scopes import control_dependencies
from graven.autograph._operators.values import is_dense


def _vector(value: Any, name: str) -> Any:
    tensor = _engine.convert_to_tensor(value)
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"{name} of a tensor takes a vector, not one of shape {tensor.shape}")
    return tensor


def _with_elements(vector: Any, name: str) -> Any:
    """The vector; an error if it is empty, as Python has it."""
    if vector.shape.num_elements() == 0:
        raise ValueError(f"{name} of a tensor takes at least one element")
    if vector.shape.num_elements() is not None:
        return vector
    has_some = Assert(ops.greater(ops.size(vector), 0), [f"{name} takes at least one element"])
    with control_dependencies([has_some]):
        return ops.identity(vector)


def _extreme(
    name: str, is_better: Callable[[Any, Any], Any], reduce: Any, args: tuple[Any, ...]
) -> Any:
    if len(args) == 1 and is_dense(args[0]):
        return reduce(_with_elements(_vector(args[0], name), name))
    values = args[0] if len(args) == 1 else args
    dtype = next(value.dtype for value in values if is_dense(value))
    tensors = [_engine.convert_to_tensor(value, dtype) for value in values]
    for tensor in tensors:
        if tensor.shape.rank not in (None, 0):
            raise ValueError(f"{name} compares scalars, not a tensor of shape {tensor.shape}")
    best = tensors[0]
    for tensor in tensors[1:]:  # The first of equal ones, and Python's way with NaN.
        best = ops.where(is_better(tensor, best), tensor, best)
    return best


def _has_tensors(args: tuple[Any, ...]) -> bool:
    if len(args) == 1 and isinstance(args[0], list | tuple):
        args = tuple(args[0])
    return builtins.any(map(is_dense, args))


def min_(*args: Any, **named: Any) -> Any:
    """Calls min(...): the least of scalars, or of the elements of a vector.

    Raises:
      ValueError: A tensor is of another rank, or has no element.
    """
    if named or not _has_tensors(args):
        return min(*args, **named)
    return _extreme("min", ops.less, ops.reduce_min, args)


def max_(*args: Any, **named: Any) -> Any:
    """Calls max(...): the greatest of scalars, or of the elements of a vector.

    Raises:
      ValueError: A tensor is of another rank, or has no element.
    """
    if named or not _has_tensors(args):
        return max(*args, **named)
    return _extreme("max", ops.greater, ops.reduce_max, args)


def sum_(iterable: Any, /, start: Any = 0) -> Any:
    """Calls sum(iterable, start): the sum of the rows of a tensor.

    Raises:
      TypeError: It is a scalar.
    """
    if not is_dense(iterable):
        return sum(iterable, start)
    tensor = _engine.convert_to_tensor(iterable)
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    total = ops.reduce_sum(tensor, 0)
    return total if type(start) is int and start == 0 else total + start


def _of_bools(iterable: Any, name: str) -> Any:
    vector = _vector(iterable, name)
    if vector.dtype != bool_:
        raise ValueError(f"{name} of a tensor takes bools, not {vector.dtype.name}")
    return vector


def any_(iterable: Any) -> Any:
    """Calls any(iterable) of a vector of bools.

    Raises:
      ValueError: It is no vector, or not of bools.
    """
    return ops.reduce_any(_of_bools(iterable, "any"))


def all_(iterable: Any) -> Any:
    """Calls all(iterable) of a vector of bools.

    Raises:
      ValueError: It is no vector, or not of bools.
    """
    return ops.reduce_all(_of_bools(iterable, "all"))


def overload(f: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Returns what to call in the place of a builtin with these arguments; None for itself."""
    if f is any or f is all:
        is_tensor = len(args) == 1 and is_dense(args[0])
        return (any_ if f is any else all_) if is_tensor else None
    return {min: min_, max: max_, sum: sum_}.get(f)


def takes(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a builtin takes tensors as these arguments, where the feature asks for it."""
    if f is min or f is max:
        return _has_tensors(args)
    if f is sum:
        return bool(args) and is_dense(args[0])
    return overload(f, args) is not None
