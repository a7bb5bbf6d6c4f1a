"""Watched captures: what a trace reads of Python's values, so that a change of them is noticed.

While a Function is traced, AutoGraph notes which functions of the user's are called, and with what.
At the end of the trace their byte code tells what they read (`_reads`), and where the values lie
(`_plan`); the engine compares them at each call (graven/python/watch.h).

Byte code also proves, before a trace, that equal functions may share it (`_closed`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from graven import _engine, _logging
from graven._captures._objects import captures_of
from graven._captures._plan import Plan


class Recorder:
    """The calls of one trace, until its end."""

    __slots__ = ("_calls", "_gradients")

    def __init__(self) -> None:
        self._calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
        self._gradients: list[Any] = []

    def note(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
        """Notes a call of a function of the user's."""
        self._calls.append((function, args, kwargs or {}))

    def note_gradient(self, function: Any) -> None:
        """Notes a function that computes a gradient, when somebody asks for that."""
        self._gradients.append(function)

    def finish(self) -> None:
        """Gives the engine what the calls have read."""
        with _telling():
            self._finish()

    def check_trace_lock(self) -> None:
        """Raises TraceLockError if the lock lists other values than those that are there now.

        Call it before the function runs: what it will read is found without that, but for values
        that only running leads to.
        """
        watched = None
        with _telling():
            watched = self._plan().watch_list()
        if watched is not None:
            _engine.check_trace_lock(watched)

    def fail(self) -> None:
        """Tells the engine what the calls have changed: the trace has raised."""
        if _engine.is_retracing():
            with _telling():
                _engine.note_changed(*self._plan().changed())

    def _plan(self, equal: frozenset[int] = frozenset()) -> Plan:
        plan = Plan(equal)
        for i, (function, args, kwargs) in enumerate(self._calls):
            plan.add(function, args, kwargs, is_traced=i == 0)
        return plan

    def _finish(self) -> None:
        by_captures = _engine.equal_functions()
        plan = self._plan(_ids_of(by_captures[0]) if by_captures else frozenset())
        if _engine.is_retracing():
            _engine.note_changed(*plan.changed())
        _report(plan.impure)
        for what, where in plan.effects:
            _logging.inform_once(
                f"{what} is changed {where} while it is traced, and not by calls that find the "
                "trace. See docs/captures.md",
                topic="captures",
            )
        plan.of_gradient = True
        for function in self._gradients:
            plan.add(function, (), {})
        watched = plan.watch_list()
        if watched is not None:
            _engine.set_watch_list(watched)
        if by_captures is None:
            return
        for kind, owner, name in by_captures[1]:
            if not plan.watches(kind, owner, name):
                _engine.refuse_equal_functions(f"a change of `{name}` would not be noticed")


def _ids_of(functions: list[Any], depth: int = 0) -> frozenset[int]:
    """The ids of Python functions, and of those that they have captured."""
    found: set[int] = set()
    for function in functions:
        if type(function) is not FunctionType or depth > 5:
            continue
        found.add(id(function))
        found |= _ids_of(captures_of(function), depth + 1)
    return frozenset(found)


@contextlib.contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a trace is not to fail for what it could not watch
        _engine.refuse_equal_functions("what it has read could not be found")
        _logging.warn_once(
            f"What a trace has read could not be found, so changes of it are not noticed: "
            f"{error!r}. Please report this. See docs/captures.md",
            matter="captures",
        )


def _report(impure: list[tuple[str, str, str]]) -> None:
    for what, where, instead in impure:
        _logging.warn_once(
            f"{what} {where} gives another value at each call, but the trace keeps the one that it "
            f"got: use {instead}. See docs/captures.md",
            matter=f"{what} {where}",
        )
