"""Gradients of ops, first and second order, against differences of float64."""

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest
from numpy.typing import NDArray

from ops.sample import WITHOUT_DIFFERENCES, Sample, all_rows

ROWS = [row for row in all_rows()[0] if row.smooth_at is not None]
STEP = 1e-5


def is_differentiable(op: str) -> bool:
    return bool(getattr(tf.raw_ops, op)._record["is_differentiable"])


def weights(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers without symmetry, so that no two mistakes cancel."""
    count = int(np.prod(shape))
    return np.cos(np.arange(count, dtype=np.float64) + 0.5).reshape(shape)


def differences(f: Callable[[list[Any]], float], at: list[Any], i: int) -> NDArray[np.float64]:
    """The gradient of a number for input i, by central differences."""
    result = np.zeros(at[i].shape)
    for place in np.ndindex(*at[i].shape):
        values = []
        for step in (STEP, -STEP):
            moved = [array.copy() if j == i else array for j, array in enumerate(at)]
            moved[i][place] += step
            values.append(f(moved))
        result[place] = (values[0] - values[1]) / (2 * STEP)
    return result


def inputs_of(row: Sample) -> tuple[list[Any], list[int]]:
    assert row.smooth_at is not None
    arrays = [
        np.asarray(v) if isinstance(v, np.ndarray | np.generic) else np.array(v, np.float64)
        for v in row.smooth_at
    ]
    return arrays, [i for i, array in enumerate(arrays) if array.dtype == np.float64]


def weighted_sum(row: Sample, tensors: list[Any]) -> Any:
    result = getattr(tf.raw_ops, row.op)(*tensors, **row.attrs)
    parts = result if isinstance(result, (list, tuple)) else [result]
    total = tf.constant(0.0, tf.float64)
    for part in parts:
        if part.dtype == tf.float64:
            total += tf.reduce_sum(part * weights(tuple(part.shape)))
    return total


def dense(gradients: list[Any]) -> list[Any]:
    """Gradients as tensors, those of gathers too."""
    return [tf.convert_to_tensor(gradient) for gradient in gradients]


def gradients(row: Sample, arrays: list[Any], wanted: list[int]) -> list[Any]:
    tensors = [tf.constant(array) for array in arrays]
    with tf.GradientTape() as tape:
        tape.watch([tensors[i] for i in wanted])
        total = weighted_sum(row, tensors)
    return dense(tape.gradient(total, [tensors[i] for i in wanted], unconnected_gradients="zero"))


def test_every_op_with_a_gradient_and_a_row_says_where_it_is_smooth() -> None:
    ops = {row.op for row in all_rows()[0] if is_differentiable(row.op)}
    assert sorted(ops - {row.op for row in ROWS} - set(WITHOUT_DIFFERENCES)) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.op}({row.attrs or ''})")
def test_a_gradient_is_the_limit_of_differences(row: Sample) -> None:
    if not is_differentiable(row.op):
        pytest.fail(f"{row.op} has no gradient: its row needs no smooth_at")
    arrays, wanted = inputs_of(row)

    def value(at: list[Any]) -> float:
        return float(weighted_sum(row, [tf.constant(array) for array in at]))

    for i, gradient in zip(wanted, gradients(row, arrays, wanted), strict=True):
        np.testing.assert_allclose(
            gradient.numpy(), differences(value, arrays, i), rtol=1e-5, atol=1e-7
        )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.op}({row.attrs or ''})")
def test_a_second_gradient_is_the_limit_of_differences_of_the_first(row: Sample) -> None:
    arrays, wanted = inputs_of(row)

    def slope(tensors: list[Any]) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([tensors[i] for i in wanted])
            total = weighted_sum(row, tensors)
        first = dense(
            tape.gradient(total, [tensors[i] for i in wanted], unconnected_gradients="zero")
        )
        return sum(
            tf.reduce_sum(g * weights(tuple(g.shape)) * (k + 1)) for k, g in enumerate(first)
        )

    tensors = [tf.constant(array) for array in arrays]
    with tf.GradientTape() as tape:
        tape.watch([tensors[i] for i in wanted])
        number = slope(tensors)
    second = tape.gradient(number, [tensors[i] for i in wanted], unconnected_gradients="zero")

    def value(at: list[Any]) -> float:
        return float(slope([tf.constant(array) for array in at]))

    for i, gradient in zip(wanted, second, strict=True):
        np.testing.assert_allclose(
            gradient.numpy(), differences(value, arrays, i), rtol=1e-4, atol=1e-6
        )
