"""Slices that share the memory of their tensor keep their elements, whatever happens to it."""

from collections.abc import Callable

import graven as tf
import numpy as np
import pytest

ROWS = np.arange(64 * 1024, dtype=np.float32).reshape(64, 1024)


def test_a_slice_outlives_its_tensor() -> None:
    def half() -> tf.Tensor:
        return tf.constant(ROWS)[32:]

    part = half()
    others = [tf.ones_like(part) for _ in range(8)]
    np.testing.assert_array_equal(part.numpy(), ROWS[32:])
    del others


def test_steps_of_a_function_do_not_write_over_slices_that_are_read_later() -> None:
    @tf.function
    def f(x: tf.Tensor) -> list[tf.Tensor]:
        y = x * 2.0
        first, second = tf.split(y, 2)
        last = y[48:]
        bits = tf.bitcast(y, tf.int32)
        z = tf.sin(y + 1.0)
        first_changed = first + 1.0
        return [first, second, last, bits, z, first_changed, second * 3.0]

    y = ROWS * 2
    for _ in range(3):
        first, second, last, bits, _, first_changed, second_changed = f(tf.constant(ROWS))
        np.testing.assert_array_equal(first.numpy(), y[:32])
        np.testing.assert_array_equal(second.numpy(), y[32:])
        np.testing.assert_array_equal(last.numpy(), y[48:])
        np.testing.assert_array_equal(bits.numpy(), y.view(np.int32))
        np.testing.assert_array_equal(first_changed.numpy(), y[:32] + 1)
        np.testing.assert_array_equal(second_changed.numpy(), y[32:] * 3)


def test_a_slice_of_a_variable_does_not_change_with_it() -> None:
    v = tf.Variable(ROWS)
    part = v[32:]
    rows = tf.unstack(v.read_value())
    v.assign_add(tf.ones_like(v))
    v.scatter_update(tf.IndexedSlices(tf.zeros([1, 1024]), tf.constant([40])))
    np.testing.assert_array_equal(part.numpy(), ROWS[32:])
    np.testing.assert_array_equal(rows[40].numpy(), ROWS[40])
    np.testing.assert_array_equal(v.numpy()[40], np.zeros(1024))
    np.testing.assert_array_equal(v.numpy()[41], ROWS[41] + 1)


def test_a_variable_that_was_given_a_slice_does_not_write_to_its_tensor() -> None:
    x = tf.constant(ROWS)
    v = tf.Variable(x[:32])
    v.assign_add(tf.ones([32, 1024]))
    v.assign(x[32:])
    v.scatter_add(tf.IndexedSlices(tf.ones([1, 1024]), tf.constant([0])))
    np.testing.assert_array_equal(x.numpy(), ROWS)
    np.testing.assert_array_equal(v.numpy()[0], ROWS[32] + 1)


def test_the_gradient_through_slices_is_that_of_copies() -> None:
    x = tf.constant(ROWS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second = tf.split(x, 2)
        total = tf.reduce_sum(first * second) + tf.reduce_sum(x[60:])
    expected = np.concatenate([ROWS[32:], ROWS[:32]])
    expected[60:] += 1
    np.testing.assert_array_equal(tape.gradient(total, x).numpy(), expected)


def test_a_scatter_writes_into_a_tensor_that_nobody_else_needs() -> None:
    x = tf.ones([1 << 20])
    indices, updates = tf.constant([[3], [5]]), tf.constant([7.0, 8.0])

    @tf.function
    def alone(x: tf.Tensor) -> tf.Tensor:
        return tf.tensor_scatter_nd_update(x + 1.0, indices, updates)

    @tf.function
    def beside(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        y = x + 1.0
        return y, tf.tensor_scatter_nd_add(y, indices, updates)

    def peak_of(function: Callable[[tf.Tensor], object]) -> int:
        function(x)
        tf.config.experimental.reset_memory_stats("CPU:0")
        before = tf.config.experimental.get_memory_info("CPU:0")["current"]
        function(x)
        peak: int = tf.config.experimental.get_memory_info("CPU:0")["peak"]
        return peak - before

    assert alone(x)[:6].numpy().tolist() == [2, 2, 2, 7, 2, 8]
    y, added = beside(x)
    assert y[:6].numpy().tolist() == [2, 2, 2, 2, 2, 2]
    assert added[:6].numpy().tolist() == [2, 2, 2, 9, 2, 10]
    assert tf.reduce_all(x == 1.0)
    size = 4 << 20
    assert peak_of(alone) < 1.5 * size
    assert peak_of(beside) > 1.5 * size


def test_a_scatter_that_fails_leaves_its_input_alone() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def wrong(i: tf.Tensor) -> tf.Tensor:
        return tf.tensor_scatter_nd_update(v + 0.0, [[i]], [9.0])

    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong(tf.constant(2))
    assert v.numpy().tolist() == [1, 2]
    assert wrong(tf.constant(1)).numpy().tolist() == [1, 9]
