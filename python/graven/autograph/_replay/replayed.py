"""Calls of functions that are captured by re-execution."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graven import _engine, errors
from graven.autograph._causes import tell_why_unconverted
from graven.autograph._replay.merging import Tree
from graven.autograph._replay.runs import Run, Runs
from graven.autograph._replay.writing import write


def call(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    why: str | None = None,
) -> Any:
    """Calls a function; in a graph, conditions on tensors become parts of it.

    Args:
      function: The function, which runs as it is, and more than once if there are conditions.
      args: Positional arguments.
      kwargs: Keyword arguments.
      why: Why the function is not converted, for errors.

    Returns:
      What it returns.

    Raises:
      OperatorNotAllowedInGraphError: Running it again does not give its ways: there is a loop on
        tensors, it changes Python's objects, or it does not do the same each time.
      TypeError: The ways give results of different structure or dtype.
    """
    if _engine.executing_eagerly():
        return function(*args, **kwargs)
    runs = Runs(function, args, kwargs)
    try:
        first = runs.first()
        if not isinstance(first, Run):
            return first
        steps = Tree(runs).steps(first, 0)
        # What comes before the first condition may be there.
        return write(runs, first, steps[1:] if runs.keeps_first_nodes else steps)
    except errors.OperatorNotAllowedInGraphError as error:
        if why is not None:
            tell_why_unconverted(error, getattr(function, "__name__", repr(function)), why)
        raise
    finally:
        runs.finish()


def replayed(function: Callable[..., Any], why: str) -> Callable[..., Any]:
    """Returns a function that calls another by `call`.

    Args:
      function: The function.
      why: Why it is not converted, for errors.
    """

    def again(*args: Any, **kwargs: Any) -> Any:
        return call(function, args, kwargs, why)

    return functools.update_wrapper(again, function, updated=())
