"""Functions that look at who calls them: warnings, logs, and looks at the stack.

Between converted code and what it calls stand frames of operators, and one of each statement that
the call is in. These functions are given the frame, or its distance, that they would find in the
user's program: that of its function, at its line.
"""

from __future__ import annotations

import inspect
import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from graven.autograph._conversion import converted_frame
from graven.autograph._operators.scopes import FunctionScope


def _user_frames(frame: FrameType | None) -> Iterator[tuple[int, FrameType]]:
    """Yields the frames that the user's program has, and their distances from a frame.

    Of a function and its helpers that is the innermost one, which has the line.
    """
    distance = 0
    is_helper = False
    while frame is not None:
        if not _is_ours(frame):
            if not is_helper:
                yield distance, frame
            converted = converted_frame(frame.f_code)
            is_helper = converted is not None and converted.is_helper
        distance += not _is_of_import(frame)
        frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] == "graven"


def _is_of_import(frame: FrameType) -> bool:
    """Whether a frame is one of the import system, which warnings and logs do not count."""
    name = frame.f_code.co_filename
    return "importlib" in name and "_bootstrap" in name


def _real_level(level: Any) -> Any:
    """Returns the level, counted from the caller, of the frame of a level in the user's program."""
    if not isinstance(level, int) or level < 1:
        return level
    distance = 0
    for distance, _ in _user_frames(sys._getframe(1)):
        if level == 1:
            return 1 + distance
        level -= 1
    return 1 + distance + level


def _caller(depth: int = 0) -> FrameType:
    """Returns a frame of the user's program.

    Args:
      depth: How many frames of it lie below.

    Raises:
      ValueError: There are not so many.
    """
    for number, (_, frame) in enumerate(_user_frames(sys._getframe(1))):
        if number >= depth:
            return frame
    raise ValueError("call stack is not deep enough")


def warn(
    scope: FunctionScope,
    message: Any,
    category: Any = None,
    stacklevel: Any = 1,
    source: Any = None,
) -> None:
    """Calls warnings.warn."""
    warnings.warn(message, category, _real_level(stacklevel), source)


def getframe(scope: FunctionScope, depth: int = 0) -> FrameType:
    """Calls sys._getframe."""
    return _caller(depth)


def _current_frame() -> FrameType:
    return _caller()


def _stack(context: int = 1) -> list[inspect.FrameInfo]:
    return inspect.getouterframes(_caller(), context)


def _of_traceback(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(f: FrameType | None = None, *args: Any, **kwargs: Any) -> Any:
        return function(_caller() if f is None else f, *args, **kwargs)

    return called


def _of_logging(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, stacklevel: Any = 1, **kwargs: Any) -> Any:
        return function(*args, stacklevel=_real_level(stacklevel), **kwargs)

    return called


BY_BUILTIN: dict[Any, Any] = {warnings.warn: warn, sys._getframe: getframe}

_LOGGING = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")

# What is called in the place of a Python function, by its code.
BY_CODE: dict[CodeType, Callable[..., Any]] = {
    inspect.currentframe.__code__: _current_frame,
    inspect.stack.__code__: _stack,
    **{
        function.__code__: _of_traceback(function)
        for function in (traceback.extract_stack, traceback.format_stack, traceback.print_stack)
    },
    **{
        function.__code__: _of_logging(function)
        for place in (logging, logging.Logger)
        for function in (getattr(place, name) for name in _LOGGING)
    },
}
