"""Functions of records that take functions, looked up when they are called."""

from __future__ import annotations

from typing import Any

from graven import _public
from graven._unsupported import unsupported


def _function(name: str) -> Any:
    if name not in _public.public_names():
        raise unsupported(f"Graven does not have tf.{name} yet")
    return _public.function(name)


def cond(*args: Any, **kwargs: Any) -> Any:
    """Calls tf.cond."""
    return _function("cond")(*args, **kwargs)


def while_loop(*args: Any, **kwargs: Any) -> Any:
    """Calls tf.while_loop."""
    return _function("while_loop")(*args, **kwargs)


def to_number(*args: Any, **kwargs: Any) -> Any:
    """Calls tf.strings.to_number."""
    return _function("strings.to_number")(*args, **kwargs)


def vectorized_map(*args: Any, **kwargs: Any) -> Any:
    """Calls tf.vectorized_map."""
    return _function("vectorized_map")(*args, **kwargs)
