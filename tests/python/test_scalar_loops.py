"""Loops over scalars, which run by their instructions: what they compute, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graven as tf
import pytest


def modulo(n: Any) -> Any:
    s, i = tf.constant(0), tf.constant(0)
    while i < n:
        s += i % 7
        i += 1
    return s


def collatz(n: Any) -> Any:
    count = 0
    while n != 1:
        if n % 2 == 0:  # noqa: SIM108 (a branch with a body of its own)
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    return count


def swapped(n: Any) -> Any:
    a, b = tf.constant(0, tf.int64), tf.constant(1, tf.int64)
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a


def newton(n: Any) -> Any:
    x = tf.cast(n, tf.float64)
    while tf.abs(x * x - 2.0) > 1e-12:
        x = 0.5 * (x + 2.0 / x)
    return x


def within_a_loop(n: Any) -> Any:
    total = tf.constant(0)
    for i in tf.range(n):
        j = tf.constant(0)
        while j < i:
            total += j
            j += 1
    return total


def with_a_flag(n: Any) -> Any:
    found = tf.constant(False)
    i = tf.constant(0)
    while tf.logical_not(found):
        i += 3
        found = i > n
    return i


@pytest.mark.parametrize("f", [modulo, collatz, swapped, newton, within_a_loop, with_a_flag])
@pytest.mark.parametrize("n", [1, 2, 27, 60])
def test_a_loop_of_scalars_computes_what_python_computes(f: Callable[[Any], Any], n: int) -> None:
    traced = tf.function(f)(tf.constant(n))
    assert traced.numpy() == tf.convert_to_tensor(f(tf.constant(n))).numpy()


def test_a_quotient_by_zero_within_a_loop_is_an_error_that_names_the_line() -> None:
    @tf.function
    def f(n: Any) -> Any:
        s = tf.constant(100)
        while n > -3:
            s = s // n
            n -= 1
        return s

    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        f(tf.constant(3))


def test_a_quotient_in_a_branch_that_does_not_run_is_no_error() -> None:
    @tf.function
    def f(n: Any) -> Any:
        s = tf.constant(100)
        while n > -3:
            if n != 0:
                s = s + 12 // n
            n -= 1
        return s

    assert f(tf.constant(3)).numpy() == 100 + 4 + 6 + 12 - 12 - 6


def test_variables_keep_their_dtypes() -> None:
    @tf.function
    def f(n: Any) -> Any:
        a = tf.constant(250, tf.uint8)
        b = tf.constant(1.5, tf.float16)
        while n > 0:
            a += 1
            b += 0.25
            n -= 1
        return a, b

    a, b = f(tf.constant(10))
    assert (a.dtype, int(a), b.dtype, float(b)) == (tf.uint8, 4, tf.float16, 4.0)


def test_a_loop_beside_a_matrix_that_it_does_not_change() -> None:
    @tf.function
    def f(n: Any, x: Any) -> Any:
        i = tf.constant(0)
        while i < n:
            i += 1
        return i, x * tf.cast(i, tf.float32)

    i, y = f(tf.constant(4), tf.ones([2, 2]))
    assert int(i) == 4 and y.numpy().tolist() == [[4.0, 4.0], [4.0, 4.0]]
