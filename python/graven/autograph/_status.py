"""Whether AutoGraph is at work on a thread."""

from __future__ import annotations

import enum
import threading
from types import TracebackType
from typing import Any


class Status(enum.Enum):
    """What is done with functions that code calls.

    Attributes:
      UNSPECIFIED: Nobody has said anything, as in eager code.
      ENABLED: Converted code runs; what it calls is converted.
      REPLAYED: autograph="replay": nothing is converted, but conditions on tensors work.
      DISABLED: do_not_convert, or autograph=False: nothing is converted.
    """

    UNSPECIFIED = 0
    ENABLED = 1
    REPLAYED = 2
    DISABLED = 3


class Attempt:
    """How a function is traced, and what that shows.

    Args:
      graph: The graph of the function.
      stages_objects: Whether lists and None become values of the graph, and the variables of
        loops may change their shapes.

    Attributes:
      changes_lists: Whether a staged body has given a tensor to a method of a list.
      errors: Errors that a second attempt may do without.
    """

    __slots__ = ("changes_lists", "errors", "graph", "stages_objects")

    def __init__(self, graph: Any, stages_objects: bool = False) -> None:
        self.graph = graph
        self.stages_objects = stages_objects
        self.changes_lists = False
        self.errors: list[Exception] = []


class _State(threading.local):
    def __init__(self) -> None:
        self.status = Status.UNSPECIFIED
        self.attempt: Attempt | None = None
        self.rewriting = 0  # callers on the stack that will re-write an exception
        self.recorder: Any = None  # a graven._captures.Recorder, of the trace that goes on


state = _State()


class StatusScope:
    """Sets the status of the thread as long as a `with` statement runs.

    Args:
      status: The status within.
    """

    __slots__ = ("_before", "_status")

    def __init__(self, status: Status) -> None:
        self._status = status
        self._before = status

    def __enter__(self) -> None:
        self._before = state.status
        state.status = self._status

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        state.status = self._before
