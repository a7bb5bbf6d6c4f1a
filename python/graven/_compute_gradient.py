"""Gradients held against differences, for tests of programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graven import _engine
from graven._dtypes import DType
from graven._tape import GradientTape
from graven._types import Tensor, TensorLike

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

convert_to_tensor = _engine.convert_to_tensor

# A power of 2: most arguments move by exactly that.
_STEP = 1.0 / 1024


def compute_gradient(
    f: Callable[..., Any], x: Sequence[TensorLike], delta: float | None = None
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Computes the derivatives of a function twice: by its gradients, and by central differences.

    A complex number counts as two real ones.

    Args:
      f: The function of one tensor or several; its result is a tensor.
      x: A list of its arguments, which are moved one element after another.
      delta: How far they are moved up and down; None means 1 / 1024.

    Returns:
      Two tuples with a matrix for each argument, shape [elements of the result, elements of the
      argument]: those by gradients, and those by differences.

    Raises:
      ValueError: x is no list.
      AssertionError: An argument or the result is neither floating nor complex.

    Source: tf.test.compute_gradient.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), "
            f"not a {type(x)}"
        )
    xs = [convert_to_tensor(argument) for argument in x]
    for i, argument in enumerate(xs):
        _check_dtype(argument.dtype, f"argument {i}")
    step = _STEP if delta is None else delta
    by_gradients = tuple(_by_gradients(f, xs, i) for i in range(len(xs)))
    by_differences = tuple(_by_differences(f, xs, i, step) for i in range(len(xs)))
    return by_gradients, by_differences


def _check_dtype(dtype: DType, what: str) -> None:
    if not (dtype.is_floating or dtype.is_complex):
        raise AssertionError(f"Cannot compute gradient for unsupported type {dtype.name} of {what}")


def _parts(array: Array) -> Array:
    """The real numbers that an array is made of, as a vector that shares its memory."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _by_gradients(f: Callable[..., Any], xs: Sequence[Tensor], param: int) -> Array:
    import numpy as np

    x = xs[param]
    with GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(*xs)
    _check_dtype(y.dtype, "y")
    dy = np.zeros(tuple(y.shape), y.dtype.as_numpy_dtype)
    rows = _parts(dy)
    jacobian = np.zeros((rows.size, _parts(x.numpy()).size), _parts(x.numpy()).dtype)
    for row in range(rows.size):
        rows[row] = 1
        dx = tape.gradient(y, x, output_gradients=convert_to_tensor(dy.copy()))
        if dx is not None:
            jacobian[row] = _parts(convert_to_tensor(dx).numpy())
        rows[row] = 0
    return jacobian


def _by_differences(f: Callable[..., Any], xs: Sequence[Tensor], param: int, step: float) -> Array:
    import numpy as np

    arrays = [np.array(x.numpy()) for x in xs]
    moving = _parts(arrays[param])
    columns = []
    for place, value in enumerate(moving.copy()):
        results = []
        for moved in (value + step, value - step):
            moving[place] = moved
            results.append(_parts(f(*map(convert_to_tensor, arrays)).numpy()))
        moving[place] = value
        above, below = results
        columns.append((above - below) / np.asarray(2 * step, above.dtype))
    if columns:
        return np.stack(columns, 1).astype(moving.dtype)
    return np.zeros((math.prod(f(*xs).shape), 0), moving.dtype)
