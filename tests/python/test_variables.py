"""What Python sees of a variable's value."""

import graven as tf


def test_numpy_of_a_string_variable_is_bytes() -> None:
    # It asked the bytes for a copy: AttributeError.
    v = tf.Variable("a")
    assert v.numpy() == b"a"
    v.assign("b")
    assert v.numpy() == b"b"


def test_numpy_of_a_variable_keeps_its_value() -> None:
    v = tf.Variable([1.0, 2.0])
    before = v.numpy()
    v.assign_add([1.0, 1.0])
    assert before.tolist() == [1.0, 2.0]
    assert tf.Variable(3).numpy() == 3
