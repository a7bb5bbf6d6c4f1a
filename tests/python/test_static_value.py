"""tf.get_static_value: what is known of a tensor while a graph is built."""

from typing import Any

import graven as tf
import numpy as np


def static_value_in_a_graph(make: Any, partial: bool = False) -> Any:
    """The value of what `make` makes of arguments of the shapes [2, 3], [None, 3] and unknown."""
    found = []

    def body(x: Any, y: Any, u: Any) -> Any:
        found.append(tf.get_static_value(make(x, y, u), partial))
        return x

    specs = [tf.TensorSpec([2, 3]), tf.TensorSpec([None, 3]), tf.TensorSpec(None)]
    tf.function(body, input_signature=specs).get_concrete_function()
    return found[0]


def test_an_eager_tensor_is_known_and_what_is_no_tensor_is_its_own_value() -> None:
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value(tf.constant("a")) == b"a"
    assert tf.get_static_value([1, "b"]) == [1, "b"]
    assert tf.get_static_value(tf.Variable(1)) is None


def test_constants_and_known_shapes_are_known_in_a_graph() -> None:
    known = [
        (lambda x, y, u: tf.constant([1.0, 2.0]), [1.0, 2.0]),
        (lambda x, y, u: tf.constant("a"), b"a"),
        (lambda x, y, u: tf.shape(x), [2, 3]),
        (lambda x, y, u: tf.shape(y)[1], 3),
        (lambda x, y, u: tf.size(x), 6),
        (lambda x, y, u: tf.rank(y), 2),
        (lambda x, y, u: tf.concat([tf.shape(x), [2, -3]], 0), [2, 3, 2, -3]),
        (lambda x, y, u: tf.cast(tf.shape(x), tf.float32), [2.0, 3.0]),
        (lambda x, y, u: tf.fill([2], 5), [5, 5]),
        (lambda x, y, u: tf.unstack(tf.constant([1, 2]))[1], 2),
    ]
    for make, value in known:
        found = static_value_in_a_graph(make)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == value


def test_what_running_finds_is_none() -> None:
    unknown = [
        lambda x, y, u: x,
        lambda x, y, u: tf.shape(y),
        lambda x, y, u: tf.rank(u),
        lambda x, y, u: tf.stack([tf.shape(y)[0], 2]),
        lambda x, y, u: tf.random.uniform([2]),
        lambda x, y, u: tf.zeros([100, 100]),  # known, but nobody means to have it now
    ]
    assert [static_value_in_a_graph(make) for make in unknown] == [None] * 6


def test_a_stack_of_scalars_is_partly_known() -> None:
    found = static_value_in_a_graph(
        lambda x, y, u: tf.identity(tf.stack([tf.shape(y)[0], 2, -1])), partial=True
    )
    assert found.dtype == object
    assert found[0] is None
    assert found[1:].tolist() == [2, -1]
