"""The Python function of a Function, as it is called to be traced."""

from __future__ import annotations

from typing import Any

from graven.autograph import _replay
from graven.autograph._errors import rewriting_errors
from graven.autograph._operators import attempts, converted_call
from graven.autograph._options import ConversionOptions, Feature
from graven.autograph._status import Status, StatusScope


def call(
    python_function: Any,
    autograph: bool | str,
    optional_features: tuple[Feature, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Calls a Python function, converted or as it is.

    Args:
      python_function: The function.
      autograph: Whether it is converted. If not, then functions that it gives to tf.cond and its
        kin are not either. "replay": it is run once for each way through its conditions instead.
      optional_features: The Features that are on.
      args: Positional arguments.
      kwargs: Keyword arguments.
    """
    if not autograph:
        # It may call what to_graph has converted.
        with StatusScope(Status.DISABLED):
            return attempts.call(lambda: python_function(*args, **kwargs))
    if autograph == "replay":
        with StatusScope(Status.REPLAYED), rewriting_errors():
            return _replay.call(python_function, args, kwargs, 'autograph="replay" asks for that')
    options = ConversionOptions(
        recursive=True, user_requested=True, optional_features=optional_features
    )
    with StatusScope(Status.ENABLED), rewriting_errors():
        return attempts.call(lambda: converted_call(python_function, args, kwargs, None, options))
