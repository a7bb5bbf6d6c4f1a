"""Settings of the process (tf.config)."""

from __future__ import annotations

from graven import _engine
from graven.config import threading as threading


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Lets every Function run its Python code at each call, without traces (S11.1).

    Args:
      run_eagerly: Any truthy value switches it on.

    Source: tf.config.run_functions_eagerly.
    """
    _engine.set_run_functions_eagerly(bool(run_eagerly))


def functions_run_eagerly() -> bool:
    """Tells what run_functions_eagerly was given last.

    Source: tf.config.functions_run_eagerly.
    """
    return bool(_engine.functions_run_eagerly())
