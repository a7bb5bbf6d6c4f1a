"""Gradients of Functions whose arguments have unknown dimensions, or unknown ranks.

Rules that read a static shape, where a shape is there only when the gradient runs, fail here: all
arguments are placeholders, axes and sizes too.
"""

from collections.abc import Callable, Sequence
from typing import Any

import graven as tf
import numpy as np
import pytest
from numpy.typing import NDArray

from ops.running import op_of, prepare
from ops.sample import Case, Sample, as_tensors
from ops.test_gradients import (
    ROWS,
    ROWS_OF_SECOND_GRADIENTS,
    inputs_of,
    name_of,
    total_of,
    varied,
    weights,
)
from ops.test_shapes import as_known, without_rank, without_sizes


class Program:
    """A row, a number made of its outputs, and gradients of that, of first and second order."""

    def __init__(self, row: Sample) -> None:
        arrays = inputs_of(row)
        self._tensors = as_tensors(tf, arrays)
        self._application = prepare(
            row.setup, op_of(row, Case(row, "float64").attrs), self._tensors
        )
        self._places = varied(row, arrays)
        self.arguments = self._application.arguments

    def specs(self, spec_of: Callable[[Any], Any]) -> list[Any]:
        return [
            [spec_of(item) for item in argument]
            if isinstance(argument, list)
            else spec_of(argument)
            for argument in self.arguments
        ]

    def number(self, *arguments: Any) -> Any:
        result = self._application.call(*arguments)
        return total_of(list(result) if isinstance(result, (list, tuple)) else [result])

    def gradients_of(self, number: Callable[..., Any], *arguments: Any) -> list[Any]:
        sources = [self._source(arguments, *place) for place in self._places]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            found = number(*arguments)
        gradients = tape.gradient(found, sources, unconnected_gradients="zero")
        return [tf.convert_to_tensor(gradient) for gradient in gradients]

    def _source(self, arguments: Sequence[Any], i: int, j: int | None) -> Any:
        variable = self._application.sources.get(i)
        if variable is not None:
            return variable
        return arguments[i] if j is None else arguments[i][j]

    def gradients(self, *arguments: Any) -> list[Any]:
        return self.gradients_of(self.number, *arguments)

    def second_gradients(self, *arguments: Any) -> list[Any]:
        return self.gradients_of(lambda *x: total_of(self.gradients(*x)), *arguments)


def assert_equal(actual: list[Any], expected: list[Any]) -> None:
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), e.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spec_of", [as_known, without_sizes, without_rank])
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_gradients_do_not_depend_on_what_is_known_of_shapes(
    row: Sample, spec_of: Callable[[Any], Any]
) -> None:
    program = Program(row)
    expected = program.gradients(*program.arguments)
    specs = program.specs(spec_of)
    taken_inside = tf.function(program.gradients, input_signature=specs)
    assert_equal(taken_inside(*program.arguments), expected)
    number = tf.function(program.number, input_signature=specs)
    assert_equal(program.gradients_of(number, *program.arguments), expected)


@pytest.mark.parametrize("row", ROWS_OF_SECOND_GRADIENTS, ids=name_of)
def test_second_gradients_do_not_depend_on_what_is_known_of_shapes(row: Sample) -> None:
    program = Program(row)
    traced = tf.function(program.second_gradients, input_signature=program.specs(without_rank))
    assert_equal(traced(*program.arguments), program.second_gradients(*program.arguments))


MATRIX = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, -4.0]])
IMAGES = np.arange(36.0).reshape((2, 3, 3, 2)) ** 2
# Functions of a tensor and of int32 arguments, which are unknown while they are traced.
FUNCTIONS: list[tuple[Callable[..., Any], NDArray[Any], list[Any]]] = [
    (lambda x, at: tf.gather(x, at), MATRIX, [[[1, 0], [1, 1]]]),
    (lambda x, at, axis: tf.gather(x, at, axis=axis), MATRIX, [[2, 2, 0], 1]),
    (lambda x, at, axis: tf.gather(x, at, axis=axis), MATRIX, [1, -1]),
    (lambda x, at: tf.gather(x, at, axis=-1), MATRIX, [[[2, 2], [0, 1]]]),
    (lambda x, at: tf.gather(x, at, axis=3), IMAGES, [[1, 0, 1]]),
    (lambda x, at, axis: tf.gather(x, at, axis=axis, batch_dims=1), IMAGES, [[[2, 2], [0, 1]], 2]),
    (lambda x, at: tf.gather(x, at, axis=1, batch_dims=1), IMAGES, [[2, 0]]),
    (lambda x, at: tf.raw_ops.GatherV2(params=x, indices=at, axis=1, batch_dims=-1), IMAGES,
     [[[2, 0], [1, 1]]]),
    (lambda x, at: tf.gather_nd(x, at), IMAGES, [[[1, 2], [0, 0], [1, 2]]]),
    (lambda x, n: tf.tile(x, n), MATRIX, [[2, 3]]),
    (lambda x, n: tf.tile(x, n), IMAGES, [[1, 2, 0, 1]]),
    (lambda x, n: tf.broadcast_to(x, n), MATRIX, [[2, 2, 3]]),
    (lambda x, k: tf.math.top_k(x, k).values, IMAGES, [2]),
    (lambda x: tf.sort(x), MATRIX, []),
    (lambda x: tf.stack([x, x * x], axis=1), MATRIX, []),
    (lambda x, p: tf.pad(x, p, constant_values=1), MATRIX, [[[1, 0], [0, 2]]]),
    (lambda x: tf.boolean_mask(x, [True, False]), MATRIX, []),
    (lambda x: tf.boolean_mask(x, [[True, False, True], [False, True, True]]), MATRIX, []),
    (lambda x: tf.boolean_mask(x, [False, True, True], axis=1), MATRIX, []),
    (lambda x: tf.raw_ops.FusedBatchNormV3(
        x=tf.cast(x, tf.float32), scale=[1.0, 2.0], offset=[0.0, 1.0], mean=[], variance=[])[0],
     IMAGES, []),
]  # fmt: skip


def gradient_of_function(f: Callable[..., Any], x: Any, *arguments: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, *arguments)
        number = tf.reduce_sum(tf.cast(y, tf.float64) * weights(y))
    return tf.convert_to_tensor(tape.gradient(number, x))


@pytest.mark.parametrize("spec_of", [without_sizes, without_rank])
@pytest.mark.parametrize("index", range(len(FUNCTIONS)))
def test_gradients_of_functions_do_not_depend_on_what_is_known_of_shapes(
    index: int, spec_of: Callable[[Any], Any]
) -> None:
    f, value, integers = FUNCTIONS[index]
    arguments = [tf.constant(value), *(tf.constant(part, tf.int32) for part in integers)]
    expected = gradient_of_function(f, *arguments)
    specs = [spec_of(argument) for argument in arguments]
    taken_inside = tf.function(
        lambda *x: gradient_of_function(f, *x), input_signature=specs, autograph=False
    )
    assert_equal([taken_inside(*arguments)], [expected])
    traced = tf.function(f, input_signature=specs, autograph=False)
    assert_equal([gradient_of_function(traced, *arguments)], [expected])


@pytest.mark.parametrize("shape", [None, [None, None], [2, None]])
@pytest.mark.parametrize("at", [1, [1, 0, 1], [[0], [1]], [[1, 0], [1, 1]]])
def test_rows_are_read_from_variables_of_unknown_shape(shape: Any, at: Any) -> None:
    """A gradient of ResourceGather and ResourceGatherNd."""

    def gradient(variable: Any, indices: Any) -> Any:
        with tf.GradientTape() as tape:
            rows = tf.gather(variable, indices)
            number = tf.reduce_sum(rows * weights(rows))
            if indices.shape.rank == 2:
                parts = tf.gather_nd(variable, indices)
                number += tf.reduce_sum(parts * weights(parts, 0.1))
        return tf.convert_to_tensor(tape.gradient(number, variable))

    indices = tf.constant(at)
    expected = gradient(tf.Variable(MATRIX), indices)
    variable = tf.Variable(MATRIX, shape=tf.TensorShape(shape))
    for spec in (as_known(indices), without_sizes(indices)):
        traced = tf.function(lambda x: gradient(variable, x), input_signature=[spec])
        assert_equal([traced(indices)], [expected])


def test_empty_rows_of_a_variable_have_a_gradient() -> None:
    variable = tf.Variable(np.zeros((3, 0)))
    with tf.GradientTape() as tape:
        rows = tf.gather(variable, [[0, 2]])
    assert tape.gradient(rows, variable).values.shape == [2, 0]
