"""The line of the user's that runs an operator."""

from __future__ import annotations

import sys


def user_line() -> str:
    """Returns "line 12" for the innermost frame that is not of this package."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if not isinstance(module, str) or module.partition(".")[0] != "graven":
            return f"line {frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "an unknown line"
