"""A tape gives no gradient of what it does not watch, whatever the step that took it."""

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


def gradient_of(
    source: Any, f: Callable[[Any], Any], x: Any, watch_accessed_variables: bool = True
) -> Any:
    with tf.GradientTape(watch_accessed_variables=watch_accessed_variables) as tape:
        tape.watch(x)
        y = f(x)
    dx, dsource = tape.gradient(y, [x, source])
    assert dx is not None
    return dsource


@tf.custom_gradient
def product(a: Any, b: Any) -> Any:
    return a * b, lambda dy: (dy * b, dy * a)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_what_is_not_watched_has_no_gradient(wrap: Any) -> None:
    # Tapes gave gradients of all inputs of a step that a watched one had reached.
    x, c = tf.constant(3.0), tf.constant(2.0)
    frozen = tf.Variable(5.0, trainable=False)
    v = tf.Variable(4.0)
    assert gradient_of(c, wrap(lambda x: x * c), x) is None
    assert gradient_of(c, lambda x: wrap(lambda a, b: a * b)(x, c), x) is None
    assert gradient_of(c, wrap(lambda x: product(x, c)), x) is None
    assert gradient_of(frozen, wrap(lambda x: x * frozen), x) is None
    assert gradient_of(v, wrap(lambda x: x * v), x, watch_accessed_variables=False) is None
    assert gradient_of(v, wrap(lambda x: x * v), x).numpy() == 3.0


def test_an_intermediate_value_is_watched() -> None:
    x, c = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * c
        z = y * c
    assert tape.gradient(z, y).numpy() == 2.0
    assert tape.gradient(z, z).numpy() == 1.0
    assert tape.gradient(z, c) is None


def test_an_argument_that_a_call_keeps_has_second_gradients() -> None:
    cube = tf.function(lambda x: x * x * x)
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert first.numpy().tolist() == [12.0, 27.0]
    assert outer.gradient(first, x).numpy().tolist() == [12.0, 18.0]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(cube(x), x)
    assert tape.gradient(first, x).numpy().tolist() == [12.0, 18.0]


def test_a_call_that_returns_its_argument_makes_a_tensor_of_its_own() -> None:
    f = tf.function(lambda x: (x, x * x, x))
    x = tf.constant([2.0, 3.0])
    for persistent in (False, True):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            a, y, b = f(x)
        assert len({id(x), id(a), id(b)}) == 3
        da, dx = tape.gradient([a, y, b], [a, x])
        assert da.numpy().tolist() == [1.0, 1.0]
        assert dx.numpy().tolist() == [6.0, 8.0]


def test_a_tape_that_watches_before_it_records_keeps_its_options() -> None:
    x, v = tf.constant(3.0), tf.Variable(4.0)
    tape = tf.GradientTape(persistent=True, watch_accessed_variables=False)
    tape.watch(x)
    with tape:
        y = x * v
    assert tape.gradient(y, v) is None
    assert tape.gradient(y, x).numpy() == 4.0
    tape = tf.GradientTape()
    tape.watch(x)
    with tape:
        y = x * v
    assert tape.gradient(y, v).numpy() == 3.0
    with pytest.raises(RuntimeError, match="one set of gradients"):
        tape.gradient(y, v)
