"""The Python function of a Function, as it is called to be traced."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any

from graven import _engine
from graven.autograph import _replay
from graven.autograph._errors import rewriting_errors
from graven.autograph._operators import attempts, converted_call
from graven.autograph._options import ConversionOptions, Feature
from graven.autograph._status import Status, StatusScope, state


def call(
    python_function: Any,
    autograph: bool | str,
    optional_features: tuple[Feature, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    watches: bool = False,
) -> Any:
    """Calls a Python function, converted or as it is.

    Args:
      python_function: The function.
      autograph: Whether it is converted. If not, then functions that it gives to tf.cond and its
        kin are not either. "replay": it is run once for each way through its conditions instead.
      optional_features: The Features that are on.
      args: Positional arguments.
      kwargs: Keyword arguments.
      watches: Whether to tell the engine which values of Python's it reads.
    """
    outer, recorder = state.recorder, None
    if watches:
        recorder = _recorder(python_function, args, kwargs)
        if _engine.has_trace_lock():
            recorder.check_trace_lock()
    state.recorder = recorder
    try:
        # All in one frame: traces in traces come close to Python's limit of recursion.
        if not autograph:
            # It may call what to_graph has converted.
            with StatusScope(Status.DISABLED):
                result = attempts.call(lambda: python_function(*args, **kwargs))
        elif autograph == "replay":
            with StatusScope(Status.REPLAYED), rewriting_errors():
                why = 'autograph="replay" asks for that'
                result = _replay.call(python_function, args, kwargs, why)
        else:
            options = ConversionOptions(
                recursive=True, user_requested=True, optional_features=optional_features
            )
            with StatusScope(Status.ENABLED), rewriting_errors():
                result = attempts.call(
                    lambda: converted_call(python_function, args, kwargs, None, options)
                )
    except BaseException:
        if recorder is not None:
            recorder.fail()
        raise
    finally:
        state.recorder = outer
    if recorder is not None:
        recorder.finish()
    return result


def _recorder(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A Recorder that knows the call that a trace is of, which need not be of a plain function."""
    from graven._captures import Recorder  # Only where something is watched.

    recorder = Recorder()
    while isinstance(function, functools.partial):
        args, kwargs = (*function.args, *args), {**function.keywords, **kwargs}
        function = function.func
    if isinstance(function, MethodType):
        args, function = (function.__self__, *args), function.__func__
    elif not isinstance(function, FunctionType):
        args, function = (function, *args), type(function).__call__
    recorder.note(function, args, kwargs)
    return recorder
