"""How much AutoGraph tells about its work."""

from __future__ import annotations

import os
from typing import Any

from graven import _logging


class _Verbosity:
    def __init__(self) -> None:
        text = os.environ.get("AUTOGRAPH_VERBOSITY", "")
        self.level = int(text) if text.isdecimal() else 0
        self.also_to_stdout = False


_verbosity = _Verbosity()


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much AutoGraph tells in the log.

    Args:
      level: 0 tells what went wrong only; from 1 on each function is named when it is converted,
        from 2 on also when one that was converted before is called. The default is the environment
        variable AUTOGRAPH_VERBOSITY, or 0.
      alsologtostdout: Print it, too.

    Source: tf.autograph.set_verbosity.
    """
    _verbosity.level = level
    _verbosity.also_to_stdout = alsologtostdout


def log(level: int, text: str, *args: Any) -> None:
    """Tells something from a level on."""
    if _verbosity.level < level:
        return
    _logging.get_logger().info(text, *args)
    if _verbosity.also_to_stdout:
        print(text % args)
