"""A call narrows an argument's static shape, and checks nothing when it runs (S2.28 d)."""

from typing import Any

import graven as tf
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
