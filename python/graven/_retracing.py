"""The warning about Functions that trace too often."""

from __future__ import annotations

import threading
from types import CodeType
from typing import Any

from graven import _engine, _logging

MAX_CALLS = 10  # older traces are forgotten
MIN_TRACES = 5
MAX_WARNINGS = 2
MAX_HISTORIES = 4096  # the oldest goes first


class _History:
    """The calls of all Functions whose Python functions have the same code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hits = _engine.HitTotal()  # of all the Functions, counted by the engine
        self._hits_seen = 0
        self._calls_by_trace: list[int] = []  # each trace with the hits that came after it
        self._calls = 0  # their sum
        self._warnings = 0

    def note_trace(self, function: Any) -> tuple[int, int] | None:
        """Notes a call that traced; returns the numbers of a warning if one is due."""
        with self._lock:
            function._count_hits_in(self._hits)
            hits = self._hits.value
            if self._calls_by_trace:
                self._calls_by_trace[-1] += hits - self._hits_seen
                self._calls += hits - self._hits_seen
            self._hits_seen = hits
            self._calls_by_trace.append(1)
            self._calls += 1
            while self._calls - self._calls_by_trace[0] > MAX_CALLS:
                self._calls -= self._calls_by_trace.pop(0)
            if len(self._calls_by_trace) < MIN_TRACES or self._warnings >= MAX_WARNINGS:
                return None
            self._warnings += 1
            return len(self._calls_by_trace), self._calls


# By name, line and hash of the code: equal code has the same, and no code is kept alive.
_histories: dict[tuple[str, int, int], _History] = {}


def note_trace(function: Any) -> None:
    """Notes that an eager call of a Function traced, and warns if that happens too often.

    A history belongs to a code object, compared by ==: Functions made again and again in a loop
    count as one.
    """
    import inspect  # Takes milliseconds.

    python_function = function.python_function
    innermost = inspect.unwrap(python_function)
    if not hasattr(innermost, "__code__"):  # an object that is called
        innermost = type(innermost).__call__
    code: CodeType | None = getattr(innermost, "__code__", None)
    if code is None:
        return
    key = (code.co_name, code.co_firstlineno, hash(code))
    history = _histories.get(key)
    if history is None:
        if len(_histories) >= MAX_HISTORIES:
            _histories.pop(next(iter(_histories)), None)
        history = _histories.setdefault(key, _History())
    due = history.note_trace(function)
    if due is None:
        return
    traces, calls = due
    _logging.warn(
        f"{traces} out of the last {calls} calls to {python_function!r} triggered tf.function "
        "retracing. A trace costs hundreds of times what a call costs. It usually comes from a "
        "Function that is made anew in a loop (make it once, before the loop), from tensors of "
        "ever new shapes whose sizes it reads as Python numbers (tf.shape(x) has them as a tensor; "
        "without such reads reduce_retracing=True keeps one trace), from globals or attributes "
        "that it reads and that change (pass them as tensors), or from Python objects where "
        "tensors would do (each new value is a trace of its own). See docs/errors/retracing.md"
    )
