"""Which frames the tracebacks of exceptions have that leave a Function (tf.debugging)."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any


class _Setting(threading.local):
    is_filtering = True


_setting = _Setting()


def is_traceback_filtering_enabled() -> bool:
    """Tells whether frames of Graven's own are left out of tracebacks.

    Source: tf.debugging.is_traceback_filtering_enabled.
    """
    return _setting.is_filtering


def enable_traceback_filtering() -> None:
    """Leaves frames of Graven's own out of the tracebacks of exceptions that leave a Function.

    It is so by default. Holds for the calling thread.

    Source: tf.debugging.enable_traceback_filtering.
    """
    _setting.is_filtering = True


def disable_traceback_filtering() -> None:
    """Lets tracebacks of exceptions that leave a Function have all frames.

    Holds for the calling thread.

    Source: tf.debugging.disable_traceback_filtering.
    """
    _setting.is_filtering = False


def is_ours(module: Any) -> bool:
    """Whether the `__name__` of a frame's globals is that of a module of Graven's."""
    return isinstance(module, str) and module.partition(".")[0] == "graven"


def filtered(traceback: TracebackType) -> TracebackType | None:
    """Returns a traceback without frames of ours, or as it is if filtering is off.

    The engine calls it where an exception leaves the outermost call of a Function.
    """
    if not _setting.is_filtering:
        return traceback
    entries = []
    entry: TracebackType | None = traceback
    while entry is not None:
        if not is_ours(entry.tb_frame.f_globals.get("__name__")):
            entries.append(entry)
        entry = entry.tb_next
    left: TracebackType | None = None
    for kept in reversed(entries):
        left = TracebackType(left, kept.tb_frame, kept.tb_lasti, kept.tb_lineno)
    return left
