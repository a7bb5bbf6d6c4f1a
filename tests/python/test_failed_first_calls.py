"""A first call whose body raises has not happened, and the variables that it made can be used."""

from typing import Any

import graven as tf
import pytest


class Model:
    """Makes its variables at its first call, and fails as often as it is told."""

    def __init__(self, failures: int = 1) -> None:
        self.failures = failures
        self.weight: Any = None

    @tf.function
    def __call__(self, x: Any) -> Any:
        if self.weight is None:
            self.weight = tf.Variable(tf.ones([2]) * 3.0)
        if self.failures:
            self.failures -= 1
            raise ValueError("not today")
        return self.weight * x


@pytest.mark.parametrize("failures", [1, 3])
def test_a_variable_that_was_kept_has_its_value(failures: int) -> None:
    model = Model(failures)
    for _ in range(failures):
        with pytest.raises(ValueError, match="not today"):
            model(tf.constant([1.0, 2.0]))
        assert model.weight.numpy().tolist() == [3.0, 3.0]
    assert model(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 6.0]
    model.weight.assign([1.0, 1.0])
    assert model(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]
    assert model.__call__.get_concrete_function(tf.constant([1.0, 2.0])) is not None


def test_the_next_call_may_create_variables() -> None:
    kept: list[Any] = []
    calls = []

    @tf.function
    def scaled(x: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            tf.Variable(1.0)
            raise KeyError("not today")
        if not kept:
            kept.append(tf.Variable(2.0))
        return kept[0] * x

    with pytest.raises(KeyError):
        scaled(tf.constant(3.0))
    assert [float(scaled(tf.constant(x))) for x in (3.0, 4.0)] == [6.0, 8.0]


def test_a_variable_made_by_an_inner_function_has_its_value() -> None:
    model = Model()

    @tf.function
    def twice(x: Any) -> Any:
        return 2.0 * model(x)

    with pytest.raises(ValueError, match="not today"):
        twice(tf.constant([1.0, 2.0]))
    assert twice(tf.constant([1.0, 2.0])).numpy().tolist() == [6.0, 12.0]


def test_initial_values_that_read_each_other_and_captures() -> None:
    outer = tf.Variable(5.0)
    kept: list[Any] = []

    @tf.function
    def added(x: Any) -> Any:
        kept.append(tf.Variable(outer * 2.0))
        kept.append(tf.Variable(lambda: outer + 1.0))
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        added(tf.constant(1.0))
    assert [float(variable) for variable in kept] == [10.0, 6.0]


# TensorFlow gives an empty tensor.
def test_a_variable_whose_value_needs_an_argument_has_none() -> None:
    kept: list[Any] = []

    @tf.function
    def kept_argument(x: Any) -> Any:
        kept.append(tf.Variable(x * 2.0))
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        kept_argument(tf.constant([1.0, 2.0]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        kept[0].read_value()
    kept[0].assign([5.0, 6.0])
    assert kept[0].numpy().tolist() == [5.0, 6.0]
