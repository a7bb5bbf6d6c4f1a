"""The logger of Graven, `tf.get_logger()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graven import _engine

if TYPE_CHECKING:
    import logging

_sanitized_warnings = 0
_seen: set[str] = set()


def get_logger() -> logging.Logger:
    """Returns the logger that Graven writes its warnings to.

    Source: tf.get_logger.
    """
    import logging  # Takes milliseconds, and most programs warn of nothing.

    return logging.getLogger("graven")


def warn(message: str) -> None:
    """Logs a warning.

    Where nobody has set up logging, Python prints messages bare, and this one begins as
    TensorFlow's do in that case, with level and logger.
    """
    logger = get_logger()
    logger.warning(message if logger.hasHandlers() else f"WARNING:{logger.name}:{message}")


def inform_once(message: str, topic: str) -> None:
    """Logs for those who asked for level INFO or for the topic, the first time that it is told.

    Args:
      message: The text.
      topic: One of those of graven.logging.set_logs.
    """
    if message in _seen:
        return
    _seen.add(message)
    if topic in _engine.logs().split(","):
        log(topic, message)
    else:
        get_logger().info(message)


def log(topic: str, line: str) -> None:
    """Logs a line of a log that was asked for (graven.logging.set_logs); the engine calls it.

    The logger is "graven.trace", "graven.cache" or "graven.captures". It takes the line whatever
    the level of the program's logging is; where nobody has set up logging, standard error does.
    """
    import logging
    import sys

    logger = get_logger().getChild(topic)
    if not logger.hasHandlers():
        print(f"{logger.name}: {line}", file=sys.stderr)
        return
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    logger.info("%s", line)


def warn_once(message: str, matter: str = "") -> None:
    """Logs a warning the first time that it, or one about the same matter, is asked for."""
    key = matter or message
    if key not in _seen:
        _seen.add(key)
        warn(message)


def warn_sanitized(name: str, new: str) -> None:
    """Says that a keyword was renamed, at most five times a process."""
    global _sanitized_warnings
    if _sanitized_warnings < 5:
        _sanitized_warnings += 1
        warn(f"`{name}` is not a valid tf.function parameter name. Sanitizing to `{new}`.")
