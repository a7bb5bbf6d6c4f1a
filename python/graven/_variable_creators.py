"""Functions of the program that take part when a tf.Variable is made: variable_creator_scope."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any


class _Creators(threading.local):
    """The creators of the variable_creator_scopes of a thread, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Callable[..., Any]] = []


_creators = _Creators()


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Lets a function make, or change, the variables that a `with` block makes on this thread.

    Args:
      variable_creator: Called as `variable_creator(next_creator, **kwargs)` with the arguments of
        tf.Variable by keyword. It returns the variable, in general what next_creator gives.

    Returns:
      A context manager.

    Source: tf.variable_creator_scope.
    """
    outer = _creators.stack
    _creators.stack = [*outer, variable_creator]
    try:
        yield
    finally:
        _creators.stack = outer


def has_creators() -> bool:
    """Whether this thread is in a variable_creator_scope."""
    return bool(_creators.stack)


def create_by_creators(
    create: Callable[..., Any],
    init: Callable[..., None],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Makes a variable by the innermost creator of this thread, which calls the next one.

    Args:
      create: What the outermost one calls.
      init: What has the parameters of a variable, and `self`.
      args: The arguments of the call.
      kwargs: Its arguments by keyword.
    """
    import inspect  # Takes milliseconds.

    bound = inspect.signature(init).bind(None, *args, **kwargs)
    bound.apply_defaults()
    arguments = {name: value for name, value in bound.arguments.items() if name != "self"}
    for creator in _creators.stack:
        create = functools.partial(creator, create)
    return create(**arguments)
