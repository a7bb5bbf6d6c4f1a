"""What is computed in one pass gives what op after op gives, wherever passes begin and end."""

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

Program = Callable[..., Any]


def floats(*shape: int, seed: int = 0) -> tf.Tensor:
    return tf.constant(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def must_agree(program: Program, *arguments: tf.Tensor) -> None:
    """Traced for these shapes, and for unknown sizes, a program gives what it gives eagerly."""
    expected = tf.nest.flatten(program(*arguments))
    unknown = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in arguments]
    for function in (tf.function(program), tf.function(program, input_signature=unknown)):
        for result, wanted in zip(tf.nest.flatten(function(*arguments)), expected, strict=True):
            assert result.shape == wanted.shape and result.dtype == wanted.dtype
            np.testing.assert_allclose(
                result.numpy().astype(np.complex128 if result.dtype.is_complex else np.float64),
                wanted.numpy(),
                rtol=1e-5,
                atol=1e-5,
            )


# --- A value that is read where it lies and moved: its memory is not the result's.


def moved_and_whole(make: Program, move: Program) -> Program:
    def program(x: tf.Tensor) -> Any:
        y = make(x)
        return move(y) + y, move(y) * y, y - move(y)

    return program


@pytest.mark.parametrize(
    "move",
    [
        lambda y: y[::-1],
        tf.transpose,
        lambda y: y[0],
        lambda y: y[:1],
        lambda y: tf.reverse(y, [1]),
        lambda y: y[:, 2:3],
    ],
    ids=["reversed", "transposed", "row", "first", "reversed-columns", "column"],
)
@pytest.mark.parametrize("make", [tf.cumsum, lambda x: x @ x], ids=["cumsum", "product"])
def test_a_value_that_is_also_read_moved_keeps_its_memory(make: Program, move: Program) -> None:
    x = floats(200, 200) * 0.1
    must_agree(lambda x: move(make(x)) + make(x), x)
    must_agree(lambda x: (lambda y: move(y) + y)(make(x)), x)
    must_agree(lambda x: (lambda y: y * move(y))(make(x)), x)
    must_agree(moved_and_whole(make, move), x)


def test_the_gradient_of_a_product_with_what_is_moved() -> None:
    def gradient(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cumsum(x)
            loss = tf.reduce_sum(y * tf.transpose(y) + y[::-1] * y)
        return tape.gradient(loss, x)

    must_agree(gradient, floats(130, 130) * 0.1)


# --- Reductions over no axes.

NO_AXES = {
    "sum": lambda x: tf.reduce_sum(x + x, axis=[]),
    "mean": lambda x: tf.reduce_mean(x + x, axis=[]),
    "prod": lambda x: tf.reduce_prod(x * x, axis=[]),
    "max": lambda x: tf.reduce_max(x - x * x, axis=[]),
}


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_reductions_over_no_axes_of_what_was_computed(name: str, dtype: str) -> None:
    x = tf.cast(tf.constant(np.arange(-3000, 3000).reshape(60, 100) % 7), dtype)
    must_agree(NO_AXES[name], x)
    if dtype != "complex64":
        must_agree(NO_AXES["max"], x)


@pytest.mark.parametrize("dtype", ["int8", "float16", "bfloat16", "float32", "float64"])
def test_reductions_of_scalars_that_were_computed(dtype: str) -> None:
    x = tf.cast(tf.constant(3), dtype)
    must_agree(lambda x: tf.reduce_sum(x + x), x)
    must_agree(lambda x: tf.reduce_mean(x * x - x), x)
    must_agree(lambda x: tf.reduce_max(x + x * x), x)
    if dtype != "int8":
        must_agree(lambda x: tf.math.reduce_euclidean_norm(x * 2), x)
        must_agree(lambda x: tf.reduce_logsumexp(x * 2), x)


# --- Sizes that only run-time tells.


@pytest.mark.parametrize("sizes", [(1, 3), (3, 1), (3, 3), (1, 1)])
def test_what_fills_a_shape_keeps_the_sizes_of_that_shape(sizes: tuple[int, int]) -> None:
    x, y = floats(sizes[0]), floats(sizes[1], seed=1)
    must_agree(lambda x, y: tf.ones_like(x + y) * x, x, y)
    must_agree(lambda x, y: tf.ones_like(x + y) * x + tf.ones_like(y), x, y)
    must_agree(lambda x, y: tf.fill(tf.shape(x), 2.0) * y, x, y)
    must_agree(lambda x, y: tf.broadcast_to(tf.reduce_sum(x), tf.shape(x)) - y, x, y)
    must_agree(lambda x, y: tf.nn.softmax(tf.reshape(tf.ones_like(x) * y, [1, -1])), x, y)


def test_what_fills_a_shape_must_still_fit() -> None:
    unknown = [tf.TensorSpec([None])] * 2
    for program in (
        lambda x, y: tf.fill(tf.shape(x), 2.0) * y,
        lambda x, y: tf.zeros_like(x) + y,
        lambda x, y: tf.zeros_like(x) * y + y,
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(program, input_signature=unknown)(tf.ones([3]), tf.ones([4]))


@pytest.mark.parametrize("shape", [(1, 3), (4, 1), (1, 1), (4, 3)])
def test_the_gradient_of_a_mean_over_what_was_broadcast(shape: tuple[int, int]) -> None:
    def gradient(x: tf.Tensor, w: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            loss = tf.reduce_mean(tf.reduce_sum(x * w, -1))
        return tape.gradient(loss, [x, w])

    must_agree(gradient, floats(4, 3), floats(*shape, seed=1))


def test_the_gradient_through_a_pad_whose_size_is_computed() -> None:
    def gradient(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            padded = tf.pad(x, [[tf.shape(x)[0] // 2, 1], [0, 0]])
            loss = tf.reduce_sum(tf.tanh(tf.reduce_sum(padded * padded, 0)))
        return tape.gradient(loss, x)

    must_agree(gradient, floats(4, 1))
    must_agree(gradient, floats(4, 5))


# --- Reductions of one matrix share a pass, if none waits for another.


def test_reductions_of_which_one_waits_for_another_in_a_roundabout_way() -> None:
    def program(m: tf.Tensor, a: tf.Tensor) -> Any:
        y = a * 2.0
        x = tf.cumsum(y)
        first = tf.reduce_sum(m, 0)
        return y + first, tf.reduce_sum(m * x, 0)

    must_agree(program, floats(40, 30), floats(30))


STATISTICS = {
    "sum": lambda m: tf.reduce_sum(m, 0),
    "mean": lambda m: tf.reduce_mean(m, 0),
    "max": lambda m: tf.reduce_max(m, 0),
    "std": lambda m: tf.math.reduce_std(m, 0),
    "variance": lambda m: tf.math.reduce_variance(m, 0),
    "logsumexp": lambda m: tf.reduce_logsumexp(m, 0),
    "norm": lambda m: tf.norm(m, axis=0),
    "spread": lambda m: tf.reduce_max(m, 0) - tf.reduce_min(m, 0),
}


@pytest.mark.parametrize("first", STATISTICS)
@pytest.mark.parametrize("second", STATISTICS)
def test_gradients_of_two_statistics_of_columns(first: str, second: str) -> None:
    def gradient(m: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(m)
            squares = m * m
            loss = tf.reduce_sum(STATISTICS[first](squares) + STATISTICS[second](squares))
        return tape.gradient(loss, m)

    must_agree(gradient, floats(50, 20))
