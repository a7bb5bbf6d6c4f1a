"""A call narrows an argument's static shape, and checks nothing when it runs (S2.28 d)."""

from typing import Any

import graven as tf
import numpy as np
import pytest

DOUBLE = tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([3]))
SIGNED = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([3])])


@pytest.mark.parametrize("f", [DOUBLE, SIGNED], ids=["concrete", "signature"])
@pytest.mark.parametrize("spec", [tf.TensorSpec([None]), tf.TensorSpec(None)])
def test_an_argument_of_another_size_than_the_callee_was_traced_for_is_computed(
    f: Any, spec: Any
) -> None:
    shapes: list[Any] = []

    @tf.function(input_signature=[spec])
    def call(x: Any) -> Any:
        y = f(x)
        shapes.append((x.shape.as_list(), y.shape.as_list()))
        return y + 1.0

    assert call(tf.ones([3])).numpy().tolist() == [3.0] * 3
    assert call(tf.ones([5])).numpy().tolist() == [3.0] * 5
    assert shapes[0] == ([3], [3])


# The same where the callee is called by a Function that the caller calls.
@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_argument_that_passes_through_another_function_is_not_checked_either(size: int) -> None:
    inner = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([2])])
    through = tf.function(lambda x: inner(x))

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def call(x: Any) -> Any:
        y = through(x)
        return tf.exp(y) - y, tf.reduce_sum(through(x) + 1.0), tf.reshape(y, [1, -1])

    results = call(tf.ones([size]))
    assert results[0].shape == [size] and float(results[1]) == 3.0 * size
    assert results[2].numpy().tolist() == [[2.0] * size]
    twice = tf.function(lambda x: call(x), input_signature=[tf.TensorSpec(None)])
    assert float(twice(tf.ones([size]))[1]) == 3.0 * size


def through_another(*shape: int | None) -> Any:
    inner = tf.function(lambda x: tf.exp(x) - x, input_signature=[tf.TensorSpec(shape)])
    return tf.function(lambda x: inner(x))


# Only the sizes that the callee was traced for are narrowed: the others are the caller's own.
def test_sizes_that_the_callee_leaves_open_stay_those_of_the_caller() -> None:
    two_rows = through_another(2, None)

    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None, None])])
    def call(v: Any, x: Any) -> Any:
        return v + 1.0, two_rows(x), x * 2.0 + tf.exp(x)

    for num_v, shape in ((5, [2, 3]), (3, [2, 3]), (3, [4, 3]), (2, [2, 2])):
        results = call(tf.ones([num_v]), tf.ones(shape))
        assert [r.shape for r in results] == [[num_v], shape, shape]
        assert results[1].numpy() == pytest.approx(np.e - 1.0)
        assert results[2].numpy() == pytest.approx(np.e + 2.0)


def test_two_callees_narrow_one_argument_together() -> None:
    two_rows, three_columns = through_another(2, None), through_another(None, 3)

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def call(x: Any) -> Any:
        return two_rows(x), three_columns(x)

    for shape in ([2, 3], [4, 3], [2, 4], [5, 5]):
        results = call(tf.ones(shape))
        assert [r.shape for r in results] == [shape, shape]


def test_callees_of_different_sizes_take_one_argument() -> None:
    three, four = through_another(3), through_another(4)
    call = tf.function(
        lambda x: (three(x), four(x)), input_signature=[tf.TensorSpec(None, tf.float32)]
    )
    for size in (3, 4, 5):
        assert [r.shape for r in call(tf.ones([size]))] == [[size], [size]]
