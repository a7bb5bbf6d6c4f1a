"""Warnings, logs and looks at the stack in converted code name the user's lines."""

import inspect
import logging
import sys
import traceback
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import graven as tf
import pytest

_LOGGER = logging.getLogger("callers")


def line_of(f: Callable[..., Any], text: str) -> int:
    """The number of the only line of a function that holds a text."""
    lines, first = inspect.getsourcelines(f)
    (found,) = [i for i, line in enumerate(lines) if text in line]
    return first + found


def deprecated(level: int) -> None:
    if level:
        warnings.warn("do not use this", DeprecationWarning, stacklevel=level)  # warns


def calls_deprecated(level: int) -> None:
    for _ in range(1):
        deprecated(level)  # calls


def outermost(level: int) -> None:
    if level:
        calls_deprecated(level)  # outermost


@pytest.mark.parametrize(
    ("level", "f", "text"),
    [
        (1, deprecated, "# warns"),
        (2, calls_deprecated, "# calls"),
        (3, outermost, "# outermost"),
    ],
)
def test_a_warning_is_of_the_line_that_its_level_says(
    level: int, f: Callable[..., Any], text: str
) -> None:
    for run in (outermost, tf.function(outermost)):
        with pytest.warns(DeprecationWarning) as caught:
            run(level)
        assert (caught[0].filename, caught[0].lineno) == (__file__, line_of(f, text))


def test_a_level_beyond_the_stack_is_pythons() -> None:
    @tf.function
    def f() -> None:
        warnings.warn("far", stacklevel=5000)

    with pytest.warns(UserWarning, match="far") as caught:
        f()
    assert caught[0].filename == "sys"


def logs(level: int) -> None:
    if level == 1:
        _LOGGER.info("one")  # one
    _LOGGER.log(logging.INFO, "two", stacklevel=level)  # two


def calls_logs() -> None:
    if True:
        logs(2)  # calls


def test_a_log_is_of_the_line_that_logs(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "callers"):
        tf.function(logs)(1)
        tf.function(calls_logs)()
    assert [(each.pathname, each.lineno, each.funcName) for each in caplog.records] == [
        (__file__, line_of(logs, "# one"), "logs"),
        (__file__, line_of(logs, "# two"), "logs"),
        (__file__, line_of(calls_logs, "# calls"), "calls_logs"),
    ]


def test_a_frame_is_that_of_the_function() -> None:
    found: list[Any] = []

    def place(frame: FrameType | None) -> tuple[str, int]:
        assert frame is not None
        return frame.f_code.co_name, frame.f_lineno

    @tf.function
    def f(x: Any) -> Any:
        if x is not None:
            found.append(place(inspect.currentframe()))  # 0
            found.append(place(sys._getframe()))  # 1
            found.append(traceback.extract_stack()[-1])  # 2
            found.append(traceback.extract_stack(None, 1)[0])  # 3
            found.append(inspect.stack()[0])  # 4
        return x

    def caller() -> Any:
        return sys._getframe(1)

    @tf.function
    def g() -> None:
        if True:
            found.append(place(caller()))  # 5

    f(tf.constant(1))
    g()
    for i, each in enumerate(found):
        function = getattr(each, "function", getattr(each, "name", each[0]))
        line = each[1] if type(each) is tuple else each.lineno
        of = f if i < 5 else g
        assert (function, line) == (of.__name__, line_of(of.python_function, f"# {i}"))
    assert len(found) == 6


def test_a_frame_below_the_first_is_refused_as_by_python() -> None:
    @tf.function
    def f() -> None:
        sys._getframe(5000)

    with pytest.raises(ValueError, match="call stack is not deep enough"):
        f()
