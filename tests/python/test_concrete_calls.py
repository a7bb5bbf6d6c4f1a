"""Concrete functions on tensors that they were not traced with."""

from typing import Any

import graven as tf
import pytest


def doubling_of_two() -> Any:
    return tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([2], tf.float32))


def test_a_larger_tensor_in_the_flat_convention_is_computed_whole() -> None:
    assert doubling_of_two()(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [2.0, 4.0, 6.0]


def test_a_smaller_tensor_in_the_flat_convention_is_computed_whole() -> None:
    assert doubling_of_two()(tf.constant([1.0])).numpy().tolist() == [2.0]


def test_the_gradient_of_a_call_with_another_shape_has_that_shape() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = doubling_of_two()(x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 2.0, 2.0]


def test_a_shape_that_only_the_run_knows_may_be_another_than_that_of_a_callee() -> None:
    inner = doubling_of_two()
    outer = tf.function(lambda y: inner(y) + 1.0).get_concrete_function(
        tf.TensorSpec(None, tf.float32)
    )
    assert outer(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 5.0]
    assert outer(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [3.0, 5.0, 7.0]


def test_another_shape_that_an_op_refuses_is_named_with_the_op() -> None:
    two = tf.constant([1.0, 2.0])

    @tf.function
    def f(x: Any) -> Any:
        return x + two

    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Graph execution error"):
        concrete(tf.constant([1.0, 2.0, 3.0]))


def test_variables_are_written_once_where_the_shape_is_another() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def f(x: Any) -> Any:
        v.assign_add(1.0)
        return x * v

    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert concrete(tf.constant([1.0, 1.0, 1.0])).numpy().tolist() == [1.0, 1.0, 1.0]
    assert v.numpy() == 1.0


def test_captures_that_are_set_may_have_another_shape_but_no_other_dtype() -> None:
    held = tf.ones([200])
    concrete = tf.function(lambda: held * 2.0).get_concrete_function()
    concrete.set_external_captures([tf.constant([4.0])])
    assert concrete().numpy().tolist() == [8.0]
    with pytest.raises(ValueError, match="has dtype float32, got int32"):
        concrete.set_external_captures([tf.constant([4])])


def test_a_tensor_of_a_finished_trace_is_no_argument() -> None:
    box: list[Any] = []
    tf.function(lambda x: (box.append(x), x)[1])(tf.constant(1))  # type: ignore[func-returns-value]
    f = tf.function(lambda x: x + 1)
    for _ in range(2):  # the call that traces, and the cached one
        with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
            f(box[0])


def test_a_first_trace_must_return_what_later_ones_do_inside_another_trace() -> None:
    # It chooses when it runs, by whether the variable has a value.
    kept: list[Any] = []

    @tf.function
    def inner(x: Any) -> Any:
        if not kept:
            kept.append(tf.Variable(x))
            return x, x
        return x

    with pytest.raises(ValueError, match="returns other tensors than the trace of later calls"):
        tf.function(lambda x: inner(x))(tf.constant(1.0))
