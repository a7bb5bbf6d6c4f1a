"""tf.vectorized_map with values whose sizes differ from row to row, beside each row alone."""

from collections.abc import Callable
from typing import Any

import graven as tf
import numpy as np
import pytest

RNG = np.random.default_rng(5)
X = RNG.normal(size=(5, 4)).astype(np.float32)
MIXED = np.array([[1, 2, 3, 4], [3, -4, 3, -4], [-1, -1, -1, -2]], np.float32)
Map = Callable[..., Any]


def vectorized(f: Callable[..., Any], x: Any) -> Any:
    """tf.vectorized_map without warnings."""
    return tf.vectorized_map(f, x, warn=False)


def each_row(f: Callable[..., Any], x: Any) -> Any:
    """The rows one by one."""
    return tf.stack([f(x[i]) for i in range(len(x))])


def branches_within(mapping: Map) -> Callable[..., Any]:
    """A map within the map, whose elements choose."""
    return lambda r: mapping(lambda e: tf.cond(e > 0, lambda: tf.exp(e) * r, lambda: r * -2.0), r)


def branches_within_a_function(mapping: Map) -> Callable[..., Any]:
    """The same in a tf.function, which was traced for one row."""
    inner = tf.function(
        lambda r: mapping(lambda e: tf.cond(e > 0, lambda: e, lambda: e * -2.0), r),
        reduce_retracing=True,
    )
    return lambda r: inner(r) + 1.0


def branches_two_maps_down(mapping: Map) -> Callable[..., Any]:
    """Three maps, of which the last chooses."""
    return lambda r: mapping(
        lambda e: mapping(lambda q: tf.cond(q > e, lambda: q, lambda: e * -2.0), r), r
    )


def loops_within(mapping: Map) -> Callable[..., Any]:
    """A map within the map, whose elements choose a loop of their own length."""

    def of(e: Any) -> Any:
        return tf.while_loop(lambda a: a < 5.0, lambda a: [a * 1.7 + 0.3], [tf.abs(e)])[0]

    return lambda r: mapping(lambda e: tf.cond(e > 0, lambda: e, lambda: of(e)), r)


def gradient_of_branches(mapping: Map) -> Callable[..., Any]:
    """The gradient of the inner map in each row. That of sqrt is NaN for the others."""

    def of(r: Any) -> Any:
        def chosen(e: Any) -> Any:
            return tf.cond(e > 0, lambda: e * tf.sqrt(e), lambda: -e)

        with tf.GradientTape() as tape:
            tape.watch(r)
            y = tf.reduce_sum(mapping(chosen, r) ** 2)
        return tf.convert_to_tensor(tape.gradient(y, r))

    return of


def loop_gradient(r: Any) -> Any:
    """The gradient of a loop whose length differs."""

    def step(i: Any, a: Any) -> Any:
        return i + 1, a * (1.5 + r[0] ** 2) + 0.1

    with tf.GradientTape() as tape:
        tape.watch(r)
        y = tf.while_loop(lambda i, a: a < 10.0, step, (0, tf.reduce_sum(tf.abs(r))))[1]
    return tape.gradient(y, r)


def second_loop_gradient(r: Any) -> Any:
    """The gradient of that."""
    with tf.GradientTape() as tape:
        tape.watch(r)
        y = tf.reduce_sum(loop_gradient(r) ** 2)
    return tape.gradient(y, r)


def growing_list(r: Any) -> Any:
    """A TensorArray of another length in each row."""
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
    n = tf.cast(tf.abs(r[0]) * 3.0, tf.int32)
    array = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, r[1])), (0, array))[1]
    return tf.reduce_sum(array.stack()) + tf.cast(array.size(), tf.float32)


def masked_in_a_branch(r: Any) -> Any:
    """Only the rows that chose it."""
    return tf.cond(r[0] > 0, lambda: tf.reduce_sum(tf.boolean_mask(r, r > 0.3)), lambda: r[1] * 1.0)


def masked_in_a_loop(r: Any) -> Any:
    """In each iteration anew."""

    def step(i: Any, a: Any) -> Any:
        return i + 1, a + tf.reduce_sum(tf.boolean_mask(r, r > a))

    return tf.while_loop(lambda i, a: i < 3, step, (0, 0.0))[1]


def two_that_meet(r: Any) -> Any:
    """Two masks and what lies between them in one sum."""
    high, low = tf.boolean_mask(r, r > 0), tf.boolean_mask(r, r < 0.5)
    mean = tf.reduce_sum(high) / 3.0
    return tf.reduce_sum(tf.concat([high * 2.0, low * mean], 0)) + mean


PROGRAMS: dict[str, Callable[[Map], Callable[..., Any]]] = {
    "branches within": branches_within,
    "branches within a function": branches_within_a_function,
    "branches two maps down": branches_two_maps_down,
    "loops within": loops_within,
    "gradient of branches": gradient_of_branches,
    "gradient of a loop": lambda _: loop_gradient,
    "second gradient of a loop": lambda _: second_loop_gradient,
    "growing list": lambda _: growing_list,
    "mask": lambda _: lambda r: tf.reduce_sum(tf.boolean_mask(r, r > 0) ** 2),
    "slice": lambda _: lambda r: tf.reduce_sum(r[: tf.cast(tf.abs(r[0]) * 3.0, tf.int32) % 4]),
    "mask in a branch": lambda _: masked_in_a_branch,
    "mask in a loop": lambda _: masked_in_a_loop,
    "two that meet": lambda _: two_that_meet,
}


def gradient_through(mapping: Map) -> Map:
    """The gradient of the whole map."""

    def of(f: Callable[..., Any], x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(mapping(f, x) ** 2)
        return tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients="zero"))

    return of


SIGNATURES = {
    "traced": None,
    "unknown length": [tf.TensorSpec([None, 4])],
    "unknown sizes": [tf.TensorSpec([None, None])],
}


@pytest.mark.parametrize("mode", ["eager", *SIGNATURES])
@pytest.mark.parametrize("through", [lambda m: m, gradient_through], ids=["value", "gradient"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_are_those_of_each_alone(name: str, through: Callable[..., Any], mode: str) -> None:
    program = PROGRAMS[name]

    def run(x: Any) -> Any:
        return through(vectorized)(program(vectorized), x)

    f = run if mode == "eager" else tf.function(run, input_signature=SIGNATURES[mode])
    for rows in (X, MIXED, X[:1]):
        x = tf.constant(rows)
        expected = through(each_row)(program(each_row), x)
        np.testing.assert_allclose(f(x), expected, rtol=1e-4, atol=1e-5)
    assert f(tf.constant(X[:0])).shape == [0, *expected.shape[1:]]


def test_the_op_that_starts_the_loop_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    tf.vectorized_map(lambda r: tf.reduce_sum(tf.boolean_mask(r, r > 0)), tf.constant(X))
    text = capfd.readouterr().err
    assert "runs Where in a loop" in text and "Call" not in text
    with pytest.raises(ValueError, match="Where"):
        tf.vectorized_map(
            lambda r: tf.reduce_sum(tf.boolean_mask(r, r > 0)),
            tf.constant(X),
            fallback_to_while_loop=False,
        )


def test_results_of_different_sizes_are_an_error() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
        tf.vectorized_map(lambda r: tf.boolean_mask(r, r > 0), tf.constant(MIXED), warn=False)


def test_an_assertion_on_such_values_holds_for_each_row() -> None:
    def f(r: Any) -> Any:
        found = tf.boolean_mask(r, r > 0)
        tf.debugging.Assert(tf.size(found) > 0, ["nothing found"])
        return tf.reduce_max(found)

    rows = tf.constant(MIXED[:2])
    np.testing.assert_array_equal(vectorized(f, rows), [4.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="nothing found"):
        vectorized(f, tf.constant(MIXED))
