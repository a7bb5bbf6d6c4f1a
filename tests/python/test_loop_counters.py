"""Loops over tensors whose scalars run by instructions: they give what the loop eagerly gives."""

from typing import Any

import graven as tf
import numpy as np
import pytest

while_loop: Any = tf.while_loop  # of any structure
X = tf.constant(np.linspace(-1.0, 1.0, 12).reshape(6, 2).astype(np.float32))


def counted(n: Any) -> list[Any]:
    h = tf.zeros([2])
    for t in tf.range(n):
        h = tf.sin(h + X[t])
    return [h]


def counter_in_the_sum(n: Any) -> list[Any]:
    h = tf.zeros([2])
    i = tf.constant(0)
    while i < n:
        h += tf.cast(i, tf.float32)
        i += 2
    return [h, i]


def several_kinds(n: Any) -> list[Any]:
    h = tf.zeros([2])
    i, big, flag = tf.constant(0), tf.constant(3, tf.int64), tf.constant(True)
    real, half = tf.constant(0.5, tf.float64), tf.constant(1.0, tf.float16)
    while tf.logical_and(i < n, real < 100.0):
        if flag:
            h += 1.0
        else:
            h *= 2.0
        i, big, flag = i + 1, big * 3, tf.logical_not(flag)
        real, half = real * 1.5, half + 1.0
    return [h, i, big, flag, real, half]


def exchanged(n: Any) -> list[Any]:
    h = tf.zeros([2])
    i, a, b = tf.constant(0), tf.constant(1), tf.constant(1)
    while i < n:
        h = h * 0.5 + tf.cast(a, tf.float32)
        i, a, b = i + 1, b, a + b
    return [h, a, b]


def condition_on_a_tensor(n: Any) -> list[Any]:
    h = tf.ones([2])
    error, i = tf.constant(1.0), tf.constant(0)
    while error > 0.01 and i < n:
        h = h * 0.5
        error = tf.reduce_max(h)
        i += 1
    return [h, error, i]


def kept_counters(n: Any) -> list[Any]:
    """A counter that a list holds is not overwritten."""
    numbers = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[])
    h = tf.zeros([2])
    last = tf.constant(-1)
    for t in tf.range(n):
        numbers = numbers.write(t, t * t)
        h += X[t]
        last = t
    return [h, numbers.stack(), last]


def with_effects(n: Any) -> list[Any]:
    total = tf.Variable(0) if tf.executing_eagerly() else COUNTED
    i = tf.constant(0)
    while i < n:
        total.assign_add(i)
        i += 1
    return [i, total.read_value()]


COUNTED = tf.Variable(0)
LOOPS = [
    counted,
    counter_in_the_sum,
    several_kinds,
    exchanged,
    condition_on_a_tensor,
    kept_counters,
    with_effects,
]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_a_loop_gives_what_it_gives_eagerly(loop: Any, n: int) -> None:
    COUNTED.assign(0)
    traced = tf.function(loop, input_signature=[tf.TensorSpec([], tf.int32)])(tf.constant(n))
    for expected, actual in zip(loop(tf.constant(n)), traced, strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual.numpy(), expected.numpy())


def test_a_value_before_the_loop_stays_as_it_was() -> None:
    n = tf.constant(5)
    start = tf.constant(0)

    @tf.function
    def step(start: Any, n: Any) -> Any:
        i = start
        h = tf.zeros([2])
        while i < n:
            h += 1.0
            i += 1
        return i, start, h

    i, kept, h = step(start, n)
    assert (int(i), int(kept), int(start)) == (5, 0, 0)
    np.testing.assert_array_equal(h.numpy(), [5.0, 5.0])


def test_scalars_that_are_fed_other_shapes_run_by_tensors() -> None:
    """A body may be fed what its trace did not say: relaxed shapes of a loop variable."""

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def step(h: Any) -> Any:
        return while_loop(
            lambda i, h: i < 3,
            lambda i, h: (i + 1, h * 2.0),
            (tf.constant(0), h),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)),
        )[1]

    assert float(step(tf.constant(1.0))) == 8.0
    np.testing.assert_array_equal(step(tf.ones([2, 1])).numpy(), [[8.0], [8.0]])
