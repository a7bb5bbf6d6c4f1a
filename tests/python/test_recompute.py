"""`recompute=k`: a loop keeps its variables every k iterations, and gradients keep their bits."""

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

N, WIDTH = 60, 2048
LOOPS = ("while_loop", "scan", "for")
while_loop: Any = tf.while_loop  # of any structure
RNG = np.random.default_rng(0)
X = tf.constant(RNG.normal(size=[N, WIDTH]).astype(np.float32))
W = tf.Variable(RNG.normal(size=[WIDTH]).astype(np.float32))


def cell(h: Any, x: Any, w: Any) -> Any:
    return tf.tanh(tf.sin(h * w) + tf.cos(x) * h)


def loop(kind: str, recompute: int, x: Any, w: Any) -> Any:
    """The last state of a recurrence over the rows of x."""
    start = tf.ones([WIDTH])
    if kind == "while_loop":
        return while_loop(
            lambda t, h: t < N,
            lambda t, h: (t + 1, cell(h, x[t], w)),
            (tf.constant(0), start),
            recompute=recompute,
        )[1]
    if kind == "scan":
        rows: Any = tf.scan(lambda h, row: cell(h, row, w), x, start, recompute=recompute)
        return rows[-1]
    return for_loop(recompute, x, w, start)


@tf.autograph.experimental.do_not_convert
def for_loop(recompute: int, x: Any, w: Any, start: Any) -> Any:
    def plain(h: Any) -> Any:
        for t in tf.range(N):
            tf.autograph.experimental.set_loop_options(recompute=recompute)
            h = cell(h, x[t], w)
        return h

    return tf.autograph.to_graph(plain)(start)


def gradients(kind: str, recompute: int) -> list[Any]:
    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(loop(kind, recompute, x, W) ** 2)
        return tape.gradient(loss, [x, W])

    return [gradient.numpy() for gradient in step(X)]


def second_order(kind: str, recompute: int) -> list[Any]:
    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                loss = tf.reduce_sum(loop(kind, recompute, x, W) ** 2)
            first = inner.gradient(loss, [x, W])
            penalty = loss + sum(tf.reduce_sum(tf.convert_to_tensor(g) ** 2) for g in first)
        return outer.gradient(penalty, [x, W])

    return [gradient.numpy() for gradient in step(X)]


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("recompute", [1, 7, 60, 100])
def test_gradients_are_the_same_bits(kind: str, recompute: int) -> None:
    for expected, actual in zip(gradients(kind, 0), gradients(kind, recompute), strict=True):
        np.testing.assert_array_equal(actual.view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("kind", LOOPS)
def test_gradients_of_gradients_are_the_same_bits(kind: str) -> None:
    for expected, actual in zip(second_order(kind, 0), second_order(kind, 8), strict=True):
        np.testing.assert_array_equal(actual.view(np.int32), expected.view(np.int32))


def test_a_gradient_outside_of_the_function_is_the_same_bits() -> None:
    def outside(recompute: int) -> Any:
        function = tf.function(lambda x: loop("while_loop", recompute, x, W), autograph=False)
        with tf.GradientTape() as tape:
            tape.watch(X)
            loss = tf.reduce_sum(function(X))
        # The value of a variable in the loop is the one that the loop read.
        before = W.read_value()
        W.assign(tf.zeros_like(W))
        gradient = tape.gradient(loss, X)
        W.assign(before)
        return gradient.numpy()

    np.testing.assert_array_equal(outside(8), outside(0))


def peak(step: Callable[[], Any]) -> int:
    """The most bytes in live tensors above those that were there."""
    step()
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    tf.config.experimental.reset_memory_stats("CPU:0")
    step()
    return int(tf.config.experimental.get_memory_info("CPU:0")["peak"]) - before


@pytest.mark.parametrize("kind", ["while_loop", "scan", "for"])
def test_a_loop_keeps_few_states(kind: str) -> None:
    """n/k states and the values of k iterations, in place of the values of n iterations."""

    def bytes_of(recompute: int) -> int:
        @tf.function(autograph=False)
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(loop(kind, recompute, X, W) ** 2)
            return tape.gradient(loss, W)

        return peak(step)

    state = WIDTH * 4
    results = N * state if kind == "scan" else 0  # all rows, which scan gives, and their gradients
    values_of_iteration = (bytes_of(0) - 3 * results) / N
    assert values_of_iteration > 2 * state
    k = 8
    bound = N / k * state + k * values_of_iteration + 16 * state + 3 * results
    assert bytes_of(k) < bound
    assert bytes_of(k) < bytes_of(0) - 0.6 * N * values_of_iteration


def test_a_loop_of_no_iterations_and_one_of_unknown_length() -> None:
    @tf.function(autograph=False)
    def step(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = while_loop(
                lambda t, h: t < n,
                lambda t, h: (t + 1, h * x),
                (tf.constant(0), tf.constant(1.0)),
                recompute=3,
            )
        return tape.gradient(result[1], x)

    for n in (0, 1, 2, 3, 4, 7):
        gradient = step(tf.constant(2.0), tf.constant(n))
        assert (0.0 if gradient is None else float(gradient)) == n * 2.0 ** max(n - 1, 0)


def test_loops_in_loops_recompute() -> None:
    def nested(x: Any, recompute: int) -> Any:
        def body(i: Any, h: Any) -> Any:
            inner = while_loop(
                lambda j, g: j < 5,
                lambda j, g: (j + 1, tf.sin(g * x)),
                (tf.constant(0), h),
                recompute=recompute,
            )
            return i + 1, inner[1] + h

        return while_loop(
            lambda i, h: i < 7, body, (tf.constant(0), tf.ones_like(x)), recompute=recompute
        )[1]

    def gradient(recompute: int) -> Any:
        @tf.function(autograph=False)
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = nested(x, recompute)
            return tape.gradient(loss, x)

        return step(tf.constant([0.5, 1.5, -0.3])).numpy()

    np.testing.assert_array_equal(gradient(2), gradient(0))


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (lambda v: lambda h: h + tf.random.uniform([]), "RandomUniform"),
        (lambda v: lambda h: h + v.assign_add(1.0), "AssignAddVariableOp"),
        (lambda v: lambda h: (tf.print(h), h)[1], "PrintV2"),
    ],
)
def test_bodies_that_cannot_run_twice_are_refused(body: Any, word: str) -> None:
    variable = tf.Variable(1.0)
    one = body(variable)

    @tf.function(autograph=False)
    def step() -> Any:
        return while_loop(lambda h: h < 3.0, one, [tf.constant(0.0)], recompute=2)

    with pytest.raises(ValueError, match=rf"recompute=2 runs the body .* again.*{word}"):
        step()


def test_random_numbers_without_a_state_may_be_drawn_twice() -> None:
    def gradient(recompute: int) -> Any:
        @tf.function(autograph=False)
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                h = while_loop(
                    lambda t, h: t < 9,
                    lambda t, h: (t + 1, h * x * tf.random.stateless_uniform([], [1, t])),
                    (tf.constant(0), tf.constant(1.0)),
                    recompute=recompute,
                )[1]
            return tape.gradient(h, x)

        return float(step(tf.constant(1.5)))

    assert gradient(4) == gradient(0) != 0.0


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="recompute must be a number of iterations, or 0, got -1"):
        while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], recompute=-1)
