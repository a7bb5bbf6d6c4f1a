"""Lambdas and generators that read a name of which a staged statement changes the value."""

# ruff: noqa: B023, E731
# mypy: ignore-errors

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest

PROGRAMS: list[Callable[[Any], Any]] = []


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Notes a function of a scalar."""
    PROGRAMS.append(f)
    return f


@program
def after_a_for(n):
    x = tf.constant(1)
    read = lambda: x
    for i in tf.range(n):
        x = i * 5
    return read()


@program
def after_a_while(n):
    x, steps = tf.constant(1), tf.constant(0)
    read = lambda: x
    while steps < n:
        steps += 1
        x = steps * 3
    return read()


@program
def in_the_next_iteration(n):
    x, total = tf.constant(1), tf.constant(0)
    read = lambda: x
    for i in tf.range(n):
        total += read()
        x = i * 2
    return total


@program
def after_an_inner_loop(n):
    total = tf.constant(0)
    for i in tf.range(n):
        x = i
        read = lambda: x
        for j in tf.range(i):
            x = j * 10
        total += read()
    return total


@program
def after_a_loop_of_a_loop_on_python_values(n):
    readers, total, x = [], tf.constant(0), tf.constant(0)
    for k in [1, 2, 3]:
        for i in tf.range(n):
            x = i * k
        for read in readers:
            total += read()
        x = tf.constant(7)
        readers.append(lambda: x)  # further down, and called above
    return total


@program
def after_an_if_of_a_loop_on_python_values(n):
    readers, total, x = [], tf.constant(0), tf.constant(0)
    for k in [1, 2, 3]:
        x = tf.constant(k) if n > k else tf.constant(0)
        if n > 2 * k:
            x = tf.constant(2 * k)
        for read in readers:
            total += read()
        x = tf.constant(7)
        readers.append(lambda: x)
    return total


@program
def by_a_generator(n):
    x = tf.constant(1)
    values = (x + k for k in range(2))
    for i in tf.range(n):
        x = i * 5
    return sum(values)


@program
def of_a_while_that_a_tensor_leaves(n):
    x, steps = tf.constant(1), tf.constant(0)
    read = lambda: x
    while True:
        steps += 1
        x = steps * 3
        if steps > n:
            break
    return read()


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_they_see_the_value_that_python_sees(f: Callable[[Any], Any], n: int) -> None:
    if f is of_a_while_that_a_tensor_leaves:
        n += 1
    expected = f(tf.constant(n))
    assert int(tf.function(f)(tf.constant(n))) == int(expected)


@pytest.mark.parametrize("before", [None, "text", 1.5, [1, 2]], ids=str)
def test_a_captured_name_that_cannot_be_a_loop_variable_is_no_error(before: Any) -> None:
    """Nothing says that the lambda is called after the loop."""

    @tf.function
    def f(n: Any) -> Any:
        x: Any = before
        read = lambda: x
        total = tf.constant(0)
        for i in tf.range(n):
            x = i
            total += x
        return total, read() is before

    total, is_as_before = f(tf.constant(4))
    assert (int(total), bool(is_as_before)) == (6, True)


def test_an_error_in_a_loop_with_captured_names_is_that_of_the_loop() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant(1)
        read = lambda: x
        for i in tf.range(n):
            x = i + tf.constant([1.0])
        return read()

    with pytest.raises(Exception, match=r"x = i \+ tf.constant"):
        f(tf.constant(4))
