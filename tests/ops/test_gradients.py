"""Gradients of ops, first and second order, against differences.

Those of Functions are held against these in test_gradients_of_unknown_shapes.py. A complex number
counts as its two parts; its gradient is dL/d(real) + i dL/d(imaginary).
"""

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest
from numpy.typing import NDArray

from ops.running import in_mode, op_of, prepare
from ops.sample import WITHOUT_DIFFERENCES, Case, Sample, all_rows, as_tensors

Array = NDArray[Any]

ROWS = [row for row in all_rows()[0] if row.smooth_at is not None]
STEP = 1e-5
# What is differentiated once only, in TensorFlow too, and why.
ONCE = {
    "Igamma": "its gradient, IgammaGradA, has none",
    "Igammac": "its gradient, IgammaGradA, has none",
}
ROWS_OF_SECOND_GRADIENTS = [row for row in ROWS if row.op not in ONCE]


def is_differentiable(op: str) -> bool:
    return bool(getattr(tf.raw_ops, op)._record["is_differentiable"])


def name_of(row: Sample) -> str:
    return f"{row.op}({row.attrs or ''})"


def weights(x: Any, shift: float = 0.5) -> Any:
    """Numbers of x's shape without symmetry, so that no two mistakes cancel."""
    places = tf.cast(tf.range(tf.size(x)), tf.float64)
    return tf.reshape(tf.cos(places + shift), tf.shape(x))


def total_of(tensors: list[Any]) -> Any:
    """A number that depends on each part of each float64 or complex128 tensor."""
    total = tf.constant(0.0, tf.float64)
    for k, x in enumerate(tensors):
        if x.dtype == tf.float64:
            total += tf.reduce_sum(x * weights(x)) * (k + 1.0)
        elif x.dtype == tf.complex128:
            total += tf.reduce_sum(tf.math.real(x) * weights(x)) * (k + 1.0)
            total += tf.reduce_sum(tf.math.imag(x) * weights(x, 0.1)) * (k + 1.0)
    return total


def inputs_of(row: Sample) -> list[Any]:
    """The inputs where the row is smooth: an array each, or a list of arrays."""
    assert row.smooth_at is not None

    def array(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return np.asarray(value)
        if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            return value
        found = np.array(value)
        return found if found.dtype.kind in "cO" else found.astype(np.float64)

    return [array(value) for value in row.smooth_at]


def varied(row: Sample, arrays: list[Any]) -> list[tuple[int, int | None]]:
    """The places of float64 and complex128 arrays: which input, and which item of a list."""
    places: list[tuple[int, int | None]] = []
    for i, value in enumerate(arrays):
        if i in row.no_gradient_for:
            continue
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        places += [(i, j) for j, item in items if item.dtype in (np.float64, np.complex128)]
    return places


def moved(arrays: list[Any], place: tuple[int, int | None], index: Any, by: complex) -> list[Any]:
    """The arrays with one element of one of them changed."""
    copies = [list(value) if isinstance(value, list) else value for value in arrays]
    i, j = place
    changed = (copies[i] if j is None else copies[i][j]).copy()
    changed[index] += by
    if j is None:
        copies[i] = changed
    else:
        copies[i][j] = changed
    return copies


def differences(
    f: Callable[[list[Any]], float], arrays: list[Any], place: tuple[int, int | None]
) -> Array:
    """The gradient of a number for one array, by central differences."""
    i, j = place
    at = arrays[i] if j is None else arrays[i][j]
    result = np.zeros(at.shape, at.dtype)
    for index in np.ndindex(*at.shape):
        for unit in (1, 1j) if at.dtype == np.complex128 else (1,):
            above = f(moved(arrays, place, index, unit * STEP))
            below = f(moved(arrays, place, index, -unit * STEP))
            result[index] += unit * (above - below) / (2 * STEP)
    return result


class Losses:
    """A number made of the outputs of a row, and one made of its gradients."""

    def __init__(self, row: Sample, arrays: list[Any]) -> None:
        tensors = as_tensors(tf, arrays)
        application = prepare(row.setup, op_of(row, Case(row, "float64").attrs), tensors)

        def total(*arguments: Any) -> Any:
            result = application.call(*arguments)
            return total_of(list(result) if isinstance(result, (list, tuple)) else [result])

        self._arguments = application.arguments
        self._total = total
        self.sources = [
            tensors[i][j] if j is not None else application.source(i, tensors)
            for i, j in varied(row, arrays)
        ]

    def value(self) -> Any:
        return self._total(*self._arguments)

    def gradients(self, f: Callable[[], Any]) -> list[Any]:
        """The gradients of a number; those of gathers as tensors too."""
        with tf.GradientTape() as tape:
            tape.watch(self.sources)
            number = f()
        found = tape.gradient(number, self.sources, unconnected_gradients="zero")
        return [tf.convert_to_tensor(gradient) for gradient in found]

    def slope(self) -> Any:
        return total_of(self.gradients(self.value))

    def tangents(self) -> list[Any]:
        """A direction for each source."""
        values = [tf.convert_to_tensor(source) for source in self.sources]
        return [
            tf.complex(weights(x, 0.3), weights(x, 0.9)) if x.dtype.is_complex else weights(x, 0.3)
            for x in values
        ]

    def along_tangents(self, f: Callable[[], Any]) -> tuple[Any, float]:
        """How a number changes along the tangents, in forward mode and by its gradients."""
        tangents = self.tangents()
        with tf.autodiff.ForwardAccumulator(self.sources, tangents) as accumulator:
            number = f()
        forward = accumulator.jvp(number, unconnected_gradients="zero")
        reverse = 0.0
        for gradient, tangent in zip(self.gradients(f), tangents, strict=True):
            product = tf.math.real(tf.math.conj(gradient) * tangent)
            reverse += float(tf.reduce_sum(product).numpy())
        return forward.numpy(), reverse


def test_every_op_with_a_gradient_and_a_row_says_where_it_is_smooth() -> None:
    ops = {row.op for row in all_rows()[0] if is_differentiable(row.op)}
    assert sorted(ops - {row.op for row in ROWS} - set(WITHOUT_DIFFERENCES)) == []
    assert sorted({row.op for row in ROWS if not is_differentiable(row.op)}) == []


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_gradient_is_the_limit_of_differences(row: Sample) -> None:
    arrays = inputs_of(row)
    losses = Losses(row, arrays)
    for place, gradient in zip(varied(row, arrays), losses.gradients(losses.value), strict=True):
        expected = differences(lambda at: float(Losses(row, at).value()), arrays, place)
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("row", ROWS_OF_SECOND_GRADIENTS, ids=name_of)
def test_a_second_gradient_is_the_limit_of_differences_of_the_first(row: Sample) -> None:
    arrays = inputs_of(row)
    losses = Losses(row, arrays)
    for place, gradient in zip(varied(row, arrays), losses.gradients(losses.slope), strict=True):
        expected = differences(lambda at: float(Losses(row, at).slope()), arrays, place)
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_tangent_is_the_gradient_along_it(row: Sample, wrap: Any) -> None:
    losses = Losses(row, inputs_of(row))
    forward, reverse = losses.along_tangents(wrap(losses.value))
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("row", ROWS_OF_SECOND_GRADIENTS, ids=name_of)
def test_a_tangent_of_a_gradient_is_the_second_gradient_along_it(row: Sample) -> None:
    losses = Losses(row, inputs_of(row))
    forward, reverse = losses.along_tangents(losses.slope)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9)


def test_asking_for_a_prevented_gradient_says_why(mode: str) -> None:
    x = tf.constant([1.0, 2.0])
    call = in_mode(mode, lambda x: tf.raw_ops.PreventGradient(input=x, message="no way back"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    with pytest.raises(LookupError, match=r"explicitly disabled.*no way back"):
        tape.gradient(y, x)
