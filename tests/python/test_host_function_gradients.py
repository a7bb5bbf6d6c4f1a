"""Gradients through tf.py_function, of any order; none go through tf.numpy_function."""

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


def derivatives(f: Callable[[Any], Any], x: Any, order: int) -> list[float]:
    """f(x), f'(x), f''(x), ..."""
    if order == 0:
        return [f(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = derivatives(f, x, order - 1)
    return [*values, tape.gradient(values[-1], x)]


def power_of_four(x: Any) -> Any:
    return tf.py_function(lambda a: a * a * a * a, [x], tf.float32)


@pytest.mark.parametrize(
    "f",
    [power_of_four, tf.function(power_of_four), tf.function(tf.function(power_of_four))],
    ids=["eager", "traced", "nested"],
)
def test_gradients_of_any_order_are_those_of_what_it_computed(f: Any) -> None:
    x = tf.constant(2.0)
    expected = [16.0, 32.0, 48.0, 48.0, 24.0]
    assert [float(y) for y in derivatives(f, x, 4)] == expected
    in_a_trace = tf.function(lambda x: derivatives(f, x, 4))
    assert [float(y) for y in in_a_trace(x)] == expected


def test_its_gradient_runs_what_was_recorded_and_not_the_function_again() -> None:
    runs: list[float] = []

    def note(a: Any) -> Any:
        runs.append(float(a))
        return a * a

    f = tf.function(lambda x: tf.py_function(note, [x], tf.float32))
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = f(x), f(2.0 * x)
    assert [float(tape.gradient(y, x)) for _ in range(2)] == [6.0, 6.0]
    assert float(tape.gradient(z, x)) == 24.0
    assert runs == [3.0, 6.0]


def test_gradients_of_a_gradient_run_it_once_for_all_of_them() -> None:
    runs: list[float] = []

    @tf.custom_gradient
    def cube(a: Any) -> Any:
        def gradient(dy: Any) -> Any:
            runs.append(float(a))
            return dy * 3.0 * a * a

        return a * a * a, gradient

    f = tf.function(lambda x: tf.py_function(cube, [x], tf.float32))
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        dx = inner.gradient(y, x)
    assert runs == [2.0] and float(dx) == 12.0
    assert [float(outer.gradient(dx, x)) for _ in range(5)] == [12.0] * 5
    assert runs == [2.0, 2.0]  # once more, while the tape recorded


def test_gradients_flow_through_loops_and_branches_around_it() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            if x > 0.0:
                x = tf.ensure_shape(tf.py_function(lambda a: a * a, [x], tf.float32), [])
        return x

    x = tf.constant(1.1)
    assert float(derivatives(f, x, 1)[1]) == pytest.approx(8 * 1.1**7, rel=1e-5)
    assert float(derivatives(f, x, 2)[2]) == pytest.approx(56 * 1.1**6, rel=1e-5)


def test_each_argument_has_a_gradient_of_its_own() -> None:
    x = tf.constant(3.0)

    def f(a: Any, b: Any, n: Any, c: Any) -> Any:
        return a * a * b * tf.cast(n, tf.float32), n + 1

    @tf.function
    def g(x: Any) -> Any:
        return tf.py_function(f, [x, x, tf.constant(2), x + 1.0], [tf.float32, tf.int32])

    with tf.GradientTape() as tape:
        tape.watch(x)
        y, n = g(x)
    assert float(tape.gradient(y, x)) == 54.0 and int(n) == 3


def test_an_argument_without_a_path_to_the_result_has_a_gradient_of_zeros() -> None:
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: tf.py_function(lambda a, b: a + a, [x, x * 5.0], tf.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 2.0]


def test_rows_of_a_gradient_become_one_tensor() -> None:
    table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.py_function(lambda t: tf.gather(t, [1, 1]), [table], tf.float32)
    assert tape.gradient(y, table).numpy().tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_variables_are_differentiated_as_arguments_only() -> None:
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.py_function(lambda a: a * v, [x], tf.float32))
    g = tf.function(lambda: tf.py_function(lambda a: a * a, [v], tf.float32))
    with tf.GradientTape(persistent=True) as tape:
        y, z = f(tf.constant(3.0)), g()
    assert tape.gradient(y, v) is None and float(tape.gradient(z, v)) == 4.0


def test_jacobians_go_row_by_row() -> None:
    x = tf.constant([1.0, 2.0])

    def f(x: Any) -> Any:
        return tf.ensure_shape(tf.py_function(lambda a: a * a * a, [x], tf.float32), [2])

    for run in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        assert tape.jacobian(y, x).numpy().tolist() == [[3.0, 0.0], [0.0, 12.0]]


def test_a_jacobian_has_no_gradient_and_says_so() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a * a, [x], tf.float32)
        jacobian = tape.jacobian(y, x)
    with pytest.raises(tf.errors.UnimplementedError, match="gradient of a jacobian"):
        outer.gradient(jacobian, x)


def test_rows_that_call_it_have_gradients() -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a, [x], tf.float32)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    for mapped in (tf.map_fn, tf.vectorized_map):
        assert mapped(slope, x).numpy().tolist() == [2.0, 4.0]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = mapped(power_of_four, x)
        assert tape.gradient(y, x).numpy().tolist() == [4.0, 32.0]


@pytest.mark.parametrize("f", [power_of_four, tf.function(power_of_four)], ids=["eager", "traced"])
def test_forward_mode_goes_through_it(f: Any) -> None:
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(10.0)) as accumulator:
        y = f(x)
    assert float(y) == 16.0 and float(accumulator.jvp(y)) == 320.0


def test_a_custom_gradient_within_it_is_used() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        return x * 2.0, lambda dy: dy * 100.0

    x = tf.constant(3.0)
    g = tf.function(lambda x: tf.py_function(lambda a: f(a), [x], tf.float32))
    assert float(derivatives(g, x, 1)[1]) == 100.0


def test_no_gradient_flows_through_numpy_function() -> None:
    x = tf.constant(3.0)
    f = tf.function(lambda x: tf.numpy_function(lambda a: a * 2, [x], tf.float32))
    assert derivatives(f, x, 1)[1] is None
