"""The errors of what TensorFlow has and Graven has not (DESIGN 5)."""

from __future__ import annotations

from typing import Any


def unsupported(text: str) -> NotImplementedError:
    """Returns the error that says so, to be raised."""
    return NotImplementedError(f"{text}. See docs/errors/not-in-graven.md")


def refuse(function: str, **arguments: Any) -> None:
    """Raises for arguments of TensorFlow's that mean nothing here, if they are given.

    Args:
      function: The public name without "tf.".
      **arguments: The arguments; None and False are not given.

    Raises:
      NotImplementedError: An argument is given.
    """
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise unsupported(f"tf.{function}: Graven does not support {name}={value!r}")
