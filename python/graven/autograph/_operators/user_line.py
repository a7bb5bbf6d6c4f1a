"""The line of the user's that runs an operator."""

from __future__ import annotations

import sys
from types import FrameType


def _user_frame() -> FrameType | None:
    """The innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if not isinstance(module, str) or module.partition(".")[0] != "graven":
            return frame
        frame = frame.f_back
    return None


def user_line() -> str:
    """Returns "line 12" for the innermost frame that is not of this package."""
    frame = _user_frame()
    return "an unknown line" if frame is None else f"line {frame.f_lineno}"


def user_place() -> str:
    """Returns 'File "a.py", line 12, in f' for the innermost frame that is not of this package."""
    frame = _user_frame()
    if frame is None:
        return "an unknown place"
    code = frame.f_code
    return f'File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}'
