"""What Functions have traced and why; locks of traces."""

from __future__ import annotations

import os
from typing import Any, Self

from graven import _engine


class Explanation:
    """What one Function, or all of them, have traced, and why.

    str() is a text to read; to_dict() has the same and more for programs; to_html() is a page.

    Source: Graven's own.
    """

    def __init__(self, made: _engine.Explanation) -> None:
        self._made = made

    @classmethod
    def _of(cls, made: _engine.Explanation, html: str | os.PathLike[str] | None) -> Self:
        if html is not None:
            made.write_html(os.fsdecode(os.fspath(html)))
        return cls(made)

    def __str__(self) -> str:
        return self._made.to_text()

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Returns the explanation as dicts, lists, numbers and texts.

        Returns:
          A dict with a list `functions`. Each has counts, `traces` with their reasons (`why`:
          cause, path, now, before, advice), their price, the graph with the lines that it comes
          from, and kernels; `gone`, `events` (the timeline) and `call` (what the call that was
          asked about would do, or None).
        """
        import json

        made: dict[str, Any] = json.loads(self._made.to_json())
        return made

    def to_html(self) -> str:
        """Returns the page that explain(html=) writes. It needs no other file."""
        return self._made.to_html()


def explain(html: str | os.PathLike[str] | None = None) -> Explanation:
    """Says what all Functions of the process have traced, and why.

    Args:
      html: Where to write a page with the same, and with graphs, kernels and timelines.

    Returns:
      An Explanation.

    Raises:
      OpError: The page cannot be written.

    Source: Graven's own.
    """
    return Explanation._of(_engine.explain_process(), html)


class TraceLock:
    """A trace lock that is on; a context that ends it.

    Source: Graven's own.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        end_trace_lock()


def trace_lock(path: str | os.PathLike[str], mode: str = "record") -> TraceLock:
    """Records which traces the program makes from now on, or holds it to such a record.

    The file has a line of JSON for each trace, sorted: the Function by module and qualified name,
    and the types of its arguments; objects are named by their class. Nested Functions count too.
    The environment variable GRAVEN_TRACE_LOCK, "record:PATH" or "locked:PATH", does the same for
    a program as it is.

    Args:
      path: The file. It is written when the lock ends: at the end of a `with`, by end_trace_lock(),
        or when the program exits.
      mode: "record", or "locked": a trace that the file does not list is a TraceLockError before
        the function's code runs, with what differs.

    Returns:
      A context that ends the lock; without `with` it stays on.

    Raises:
      ValueError: The mode is neither.
      OpError: The file cannot be written; or it is missing, damaged or of another version.
      FailedPreconditionError: There is a lock already.

    Source: Graven's own.
    """
    if mode not in ("record", "locked"):
        raise ValueError(f'mode must be "record" or "locked", not {mode!r}.')
    _engine.begin_trace_lock(os.fsdecode(os.fspath(path)), mode == "locked")
    return TraceLock()


def end_trace_lock() -> None:
    """Ends the trace lock, if there is one, and writes what it recorded.

    Raises:
      OpError: The file cannot be written.

    Source: Graven's own.
    """
    _engine.end_trace_lock()
