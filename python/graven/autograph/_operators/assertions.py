"""`assert` statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graven._debug_ops import Assert
from graven.autograph._operators.values import is_dense


def assert_stmt(test: Any, message: Callable[[], Any]) -> None:
    """Runs an `assert`; one on a tensor is checked when the function runs.

    Args:
      test: What must hold.
      message: What the error says.

    Raises:
      AssertionError: It is no tensor and does not hold. If a tensor does not, an
        InvalidArgumentError is raised.
    """
    if not is_dense(test):
        assert test, message()
        return
    text = message()
    Assert(test, ["" if text is None else text])
