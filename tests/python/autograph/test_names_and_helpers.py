"""Names and functions that conversions make are told from the user's, whatever these are called."""

# ruff: noqa: B007, RUF012

from __future__ import annotations

import logging
import types
from typing import Any

import graven as tf
import pytest


def test_locals_are_those_of_the_function() -> None:
    """Names that look like the conversion's own included."""
    found: list[Any] = []

    @tf.function
    def f(break_now: Any, retval_x: Any) -> Any:
        continue_ = False

        def loop_body() -> None: ...

        found.append(set(locals()))
        for i in range(1):
            found.append(set(dir()))
        found.append(eval("retval_x"))
        while (m := i - 1) > 0:
            break
        found.append(set(vars()))
        return continue_, m

    f.python_function(1, 2)
    plain, found[:] = found[:], []
    f(1, 2)
    assert found == plain


def test_names_that_begin_like_those_of_returns_are_the_users() -> None:
    @tf.function
    def branch(x: Any) -> Any:
        if x > 0:
            retval_sum = x * 2
        return retval_sum

    with pytest.raises(ValueError, match="'retval_sum' must also be initialized in the else"):
        branch(tf.constant(-1))

    @tf.function
    def loop(n: Any) -> Any:
        do_return_1 = None
        for i in tf.range(n):
            do_return_1 = i * 2
        return do_return_1

    assert loop(tf.constant(3)).numpy() == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"at least once .* do_return_1"):
        loop(tf.constant(0))


def test_private_names_in_a_comprehension_of_a_class() -> None:
    class A:
        reads = [lambda self: self.__x for _ in range(1)]

        def __init__(self) -> None:
            self.__x = 4

    a = A()

    @tf.function
    def f() -> Any:
        return a.reads[0](a)

    assert f().numpy() == 4


def leaves_early(n: Any) -> Any:
    s: Any = 0
    for i in tf.range(n):
        if i > 3 and s < 100:
            break
        if i > 50 or s > 100:
            return s
        while s < 2:
            s += 1
            if s == i:
                continue
        s = s + i if i > 2 else s
    return s


def test_what_a_conversion_makes_is_not_converted_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the names and lines of the user's function, for which it might be taken."""
    t, u = tf.constant(1), tf.constant(5)

    def both() -> Any: return t + 0 > 0 and u + 0 > 7  # fmt: skip

    either: Any = lambda: t + 0 < 0 or u + 0 > 7  # noqa: E731

    @tf.function
    def f() -> Any:
        return both(), either()

    monkeypatch.setenv("AUTOGRAPH_STRICT_CONVERSION", "1")
    with caplog.at_level(logging.DEBUG, "graven"):
        assert [value.numpy() for value in f()] == [False, False]
        assert tf.function(leaves_early)(tf.constant(10)).numpy() == 5
    assert not caplog.records


@pytest.mark.parametrize(
    ("level", "expected"),
    [(0, []), (1, ["Converted"]), (2, ["Converted", "Calling", "Calling"])],
)
def test_verbosity_names_conversions_and_then_calls(
    level: int, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    def successor(x: Any) -> Any:
        return x + 1

    code = successor.__code__.replace()  # Conversions are kept for each code.
    f = tf.function(types.FunctionType(code, {}))
    tf.autograph.set_verbosity(level, alsologtostdout=True)
    try:
        for x in (1, 2, 3):  # a trace each
            f(x)
    finally:
        tf.autograph.set_verbosity(0)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == expected


def test_methods_of_a_class_in_a_converted_function_are_converted() -> None:
    """The conversion of the function leaves them as they are; a call of one converts it."""

    @tf.function
    def f(x: Any) -> Any:
        class Signs:
            def __init__(self, limit: Any) -> None:
                self.limit = limit

            def absolute(self, y: Any) -> Any:
                if y > self.limit:
                    return y
                return -y

            @staticmethod
            def double(y: Any) -> Any:
                while y < 10:
                    y *= 2
                return y + x

        return Signs(0).absolute(x), Signs.double(-x)

    assert [value.numpy() for value in f(tf.constant(-3))] == [3, 9]
