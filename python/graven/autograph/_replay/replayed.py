"""Calls of functions that are captured by re-execution."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graven import _engine
from graven.autograph._replay.merging import Tree
from graven.autograph._replay.runs import Run, Runs
from graven.autograph._replay.writing import write


def call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function; in a graph, conditions on tensors become parts of it.

    Args:
      function: The function, which runs as it is, and more than once if there are conditions.
      args: Positional arguments.
      kwargs: Keyword arguments.

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
    finally:
        runs.finish()


def replayed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that calls another by `call`."""

    def again(*args: Any, **kwargs: Any) -> Any:
        return call(function, args, kwargs)

    return functools.update_wrapper(again, function, updated=())
