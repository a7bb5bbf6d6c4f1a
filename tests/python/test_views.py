"""Slices that share the memory of their tensor keep their elements, whatever happens to it."""

import graven as tf
import numpy as np

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
