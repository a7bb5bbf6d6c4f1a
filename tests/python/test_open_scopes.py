"""Scopes that a generator holds open are left after the trace in which they were entered.

Each of these wrote to memory of the trace that was gone.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import graven as tf
import pytest


def hold(scope: Callable[[], contextlib.AbstractContextManager[Any]]) -> Iterator[None]:
    with scope():
        yield


def left_open(scope: Callable[[], contextlib.AbstractContextManager[Any]]) -> Iterator[None]:
    """A generator that a trace has left within the scope."""
    held = []

    @tf.function
    def enter(x: Any) -> Any:
        y = x + 1.0
        held.append(hold(scope))
        next(held[0])
        return y

    assert enter(tf.constant(1.0)).numpy() == 2.0
    return held[0]


def check_that_all_works() -> None:
    @tf.function
    def f(x: Any) -> Any:
        with tf.name_scope("a"):
            y = x * 2.0
        assert y.name == "a/mul:0"
        return y

    assert tf.executing_eagerly()
    assert f(tf.constant(3.0)).numpy() == 6.0
    assert (tf.constant(1.0) + 1.0).numpy() == 2.0


@pytest.mark.parametrize("alone", [tf.constant([1.0]), tf.no_op])
def test_control_dependencies_are_a_list(alone: Any) -> None:
    with pytest.raises(TypeError, match="takes a list of operations and tensors, not "):
        tf.control_dependencies(alone)


@pytest.mark.parametrize(
    "scope",
    [
        lambda: tf.name_scope("open"),
        lambda: tf.init_scope(),
        lambda: tf.control_dependencies([]),
        lambda: tf.control_dependencies(None),
        lambda: tf.device("/cpu:0"),
    ],
    ids=["name_scope", "init_scope", "control_dependencies", "no_dependencies", "device"],
)
def test_a_scope_may_be_left_after_its_trace(scope: Any) -> None:
    generator = left_open(scope)
    check_that_all_works()
    generator.close()  # type: ignore[attr-defined]
    check_that_all_works()


def test_init_scope_may_be_left_while_a_later_trace_goes_on() -> None:
    generator = hold(tf.init_scope)
    next(generator)

    @tf.function
    def leave(x: Any) -> Any:
        y = x + 1.0
        generator.close()  # type: ignore[attr-defined]
        assert not tf.executing_eagerly()
        return y * 2.0

    assert leave(tf.constant(1.0)).numpy() == 4.0
    check_that_all_works()


def test_control_dependencies_made_in_a_trace_may_be_entered_after_it() -> None:
    held = []

    @tf.function
    def make(x: Any) -> Any:
        held.append(tf.control_dependencies([x + 1.0]))
        return x

    make(tf.constant(1.0))

    @tf.function
    def enter(x: Any) -> Any:
        with held[0]:
            return x * 2.0

    assert enter(tf.constant(2.0)).numpy() == 4.0


def test_init_scope_must_be_left_on_its_thread() -> None:
    generator = hold(tf.init_scope)
    next(generator)
    errors: list[BaseException] = []

    def leave() -> None:
        try:
            generator.close()  # type: ignore[attr-defined]
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert "another thread" in str(errors[0])
    check_that_all_works()
