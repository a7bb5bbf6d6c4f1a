"""Calls in converted code: what is called is converted first, or called as it is.

A call of an op or of a function that is converted already is on the path of everything that is
traced: it takes a look or two into a table.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from graven import _engine, _logging
from graven.autograph import _conversion, _replay, _verbosity
from graven.autograph._errors import rewriting_errors
from graven.autograph._operators import (
    attempts,
    caller_frame,
    callers,
    list_calls,
    python_builtins,
    reducing_builtins,
)
from graven.autograph._operators.allow_list import (
    AS_THEY_ARE,
    Plan,
    cause_of_failure,
    is_of_test_case,
    is_wrapt,
    keep_as_is,
    known_plan,
    note_failure,
    plan_of,
)
from graven.autograph._operators.scopes import STD, FunctionScope
from graven.autograph._options import ConversionOptions, Feature
from graven.autograph._status import Status, StatusScope, state

Keywords = dict[str, Any] | None
_LOOK_AT_FRAMES = caller_frame.BY_BUILTIN | callers.BY_BUILTIN
_USERS = (Plan.CONVERT, Plan.REPLAYED)


def converted_call(
    f: Any,
    args: tuple[Any, ...],
    kwargs: Keywords,
    caller_fn_scope: FunctionScope | None = None,
    options: ConversionOptions | None = None,
) -> Any:
    """Calls something, converted if it is the user's.

    Args:
      f: What is called.
      args: Its positional arguments.
      kwargs: Its keyword arguments, or None.
      caller_fn_scope: The scope of the function that calls.
      options: How it is converted; None asks the scope.

    Returns:
      What it returns.
    """
    kind = type(f)
    if kind is FunctionType:
        plan = known_plan(id(f.__code__))
        # Nobody has asked for just this function if there are no options of its own.
        if plan is Plan.AS_IS or (plan is Plan.LISTED and options is None):
            return f(*args, **kwargs) if kwargs else f(*args)
    elif kind in AS_THEY_ARE:
        return f(*args, **kwargs) if kwargs else f(*args)
    if kind is BuiltinFunctionType or kind is type:
        return _call_builtin(f, args, kwargs, caller_fn_scope)
    if options is None:
        options = STD if caller_fn_scope is None else caller_fn_scope.callopts
    if kind is FunctionType:
        converted = _converted(f, options)
        if state.recorder is not None and converted is not f:
            state.recorder.note(f, args, kwargs)
        return converted(*args, **kwargs) if kwargs else converted(*args)
    if kind is MethodType:
        return _call_method(f, args, kwargs, options)
    return _call_object(f, args, kwargs, caller_fn_scope, options)


def call_with_lists(
    f: Any, args: tuple[Any, ...], kwargs: Keywords, caller_fn_scope: FunctionScope | None = None
) -> Any:
    """Calls something with arguments that may be lists, or None or a value, of the graph.

    Args:
      f: What is called.
      args: Its positional arguments.
      kwargs: Its keyword arguments, or None.
      caller_fn_scope: The scope of the function that calls.

    Returns:
      What it returns.
    """
    if list_calls.has_objects(args, kwargs):
        overload = list_calls.overload(f)
        if overload is not None:
            return overload(*args, **(kwargs or {}))
        if type(f) is _engine.PublicFunction:
            args, kwargs = list_calls.plain(args, kwargs)
    return converted_call(f, args, kwargs, caller_fn_scope)


def _call_builtin(
    f: Any, args: tuple[Any, ...], kwargs: Keywords, scope: FunctionScope | None
) -> Any:
    """Calls a builtin function or a class."""
    named = kwargs or {}
    if type(getattr(f, "__self__", None)) is list:
        attempts.note_list_call(args)
        return f(*args, **named)
    if f in _LOOK_AT_FRAMES and scope is not None:
        return _LOOK_AT_FRAMES[f](scope, *args, **named)
    if f is map or f is filter:
        args = (*map(convert_callable, args[:1]), *args[1:])
    elif named.get("key") is not None and (f is sorted or f is min or f is max):
        named = {**named, "key": convert_callable(named["key"])}
    overload = python_builtins.BY_BUILTIN.get(f)
    if scope is not None and scope.callopts.uses(Feature.BUILTIN_FUNCTIONS):
        overload = reducing_builtins.overload(f, args) or overload
    if overload is None or state.status is Status.DISABLED:
        return f(*args, **named)
    return overload(*args, **named)


def _call_method(
    f: MethodType, args: tuple[Any, ...], kwargs: Keywords, options: ConversionOptions
) -> Any:
    function = f.__func__
    named = kwargs or {}
    if type(function) is not FunctionType or is_of_test_case(f.__self__):
        return f(*args, **named)
    converted = _converted(function, options)
    if converted is function:
        return f(*args, **named)
    if state.recorder is not None:
        state.recorder.note(function, (f.__self__, *args), named)
    return converted(f.__self__, *args, **named)


def _call_object(
    f: Any,
    args: tuple[Any, ...],
    kwargs: Keywords,
    scope: FunctionScope | None,
    options: ConversionOptions,
) -> Any:
    """Calls a class, a partial, or an object whose class has `__call__`."""
    named = kwargs or {}
    if isinstance(f, type):
        return f(*args, **named)
    if isinstance(f, functools.partial):
        both = {**f.keywords, **named}
        return converted_call(f.func, (*f.args, *args), both, scope, options)
    if is_wrapt(f):
        _logging.warn_once(f"AutoGraph does not convert wrappers of wrapt; {f!r} runs as it is.")
        return f(*args, **named)
    call = type(f).__call__
    if type(call) is not FunctionType:
        return f(*args, **named)
    converted = _converted(call, options)
    if converted is call:
        return f(*args, **named)
    if state.recorder is not None:
        state.recorder.note(call, (f, *args), named)
    return converted(f, *args, **named)


def _converted(function: FunctionType, options: ConversionOptions) -> Callable[..., Any]:
    """Returns the converted form of a function, one that replays it, or the function itself."""
    plan = plan_of(function)
    if plan is Plan.AS_IS or state.status is Status.DISABLED:
        return function
    if plan is Plan.SEES_CALLER:
        return callers.BY_CODE[function.__code__]
    if plan is Plan.REPLAYED:
        return _replay.replayed(
            function,
            "its source is not kept: it is part of a text that was given to exec, or to python -c",
        )
    if not options.user_requested:
        is_wanted = options.recursive and options.internal_convert_user_code
        if plan is Plan.LISTED or not is_wanted:
            return function
    known = cause_of_failure(function, options)
    if known is not None and not _is_strict():
        return _replay.replayed(function, f"AutoGraph could not transform it: {known}")
    stages_objects = attempts.stages_objects()
    was_converted = _conversion.is_converted(function, options, stages_objects)
    operators = sys.modules["graven.autograph._operators"]
    try:
        converted = _conversion.convert(function, options, operators, stages_objects)
    except Exception as error:
        if _is_strict():
            raise
        cause = str(error) if isinstance(error, _conversion.ConversionError) else repr(error)
        if note_failure(function, options, cause):
            _warn_of_failure(function, cause)
        return _replay.replayed(function, f"AutoGraph could not transform it: {cause}")
    if was_converted:
        _verbosity.log(2, "Calling converted %s", function)
    else:
        _verbosity.log(1, "Converted %s", function)
    return converted


def _is_strict() -> bool:
    return os.environ.get("AUTOGRAPH_STRICT_CONVERSION", "0") not in ("", "0")


def _warn_of_failure(function: FunctionType, cause: str) -> None:
    _logging.warn(
        f"AutoGraph could not transform {function!r} and will run it as-is. If it has conditions "
        f"on tensors, it runs once for each way through them. Cause: {cause}. To silence this "
        "warning, decorate the function with @tf.autograph.experimental.do_not_convert"
    )


def autograph_artifact(entity: Any) -> Any:
    """Marks a function of converted code, which must not be converted again; returns it."""
    if type(entity) is FunctionType:
        keep_as_is(entity)
    return entity


def convert_callable(f: Any) -> Any:
    """Returns what functions of control flow call in the place of a function of the user's.

    Args:
      f: Anything.

    Returns:
      A function that calls f converted, under f's name; f itself if it is not to be converted, or
      not callable.
    """
    if state.status is Status.DISABLED or not _may_convert(f):
        return f

    is_replayed = state.status is Status.REPLAYED

    def converted(*args: Any, **kwargs: Any) -> Any:
        if is_replayed:
            with StatusScope(Status.REPLAYED), rewriting_errors():
                return _replay.call(f, args, kwargs)
        with StatusScope(Status.ENABLED), rewriting_errors():
            return attempts.call_body(lambda: converted_call(f, args, kwargs, None, STD))

    functools.update_wrapper(converted, f, updated=())
    keep_as_is(converted)
    return converted


def _may_convert(f: Any) -> bool:
    kind = type(f)
    if kind is FunctionType:
        return plan_of(f) in _USERS
    if kind is MethodType:
        return type(f.__func__) is FunctionType and plan_of(f.__func__) in _USERS
    if kind in AS_THEY_ARE or kind is BuiltinFunctionType or isinstance(f, type):
        return False
    if isinstance(f, functools.partial):
        return _may_convert(f.func)
    call = kind.__call__ if callable(f) else None
    return type(call) is FunctionType and plan_of(call) in _USERS
