"""Conversion of Python's control flow to that of graphs (tf.autograph).

tf.function converts the functions that it traces; this module is for a closer look.
"""

from collections.abc import Callable as _Callable
from types import FunctionType as _FunctionType
from typing import Any as _Any

from graven import _public
from graven.autograph import experimental as experimental
from graven.autograph._options import ConversionOptions as _ConversionOptions
from graven.autograph._options import features as _features
from graven.autograph._verbosity import set_verbosity as set_verbosity

# The converter and the operators are imported when a function is first converted: that takes
# milliseconds, and many programs never need them.


def _python_function(entity: _Any) -> _FunctionType:
    from types import MethodType

    function = entity.__func__ if type(entity) is MethodType else entity
    if type(function) is not _FunctionType:
        from graven.autograph._conversion import ConversionError

        raise ConversionError(
            f"Cannot convert {entity!r} of type {type(entity).__name__}: only functions and "
            "methods of Python's have code to convert. Of a Function pass its python_function."
        )
    return function


def _asked(recursive: bool, optional_features: _Any) -> _ConversionOptions:
    return _ConversionOptions(recursive, True, _features(optional_features))


def to_graph(
    entity: _Callable[..., _Any],
    recursive: bool = True,
    experimental_optional_features: _Any = None,
) -> _Callable[..., _Any]:
    """Converts a function, so that its control flow works on tensors while a function is traced.

    Args:
      entity: A Python function or method.
      recursive: Convert what it calls, too.
      experimental_optional_features: A Feature, or several.

    Returns:
      The converted function. A method's takes the instance first.

    Raises:
      ConversionError: It has no Python code, or syntax that cannot be converted.

    Source: tf.autograph.to_graph.
    """
    from graven.autograph import _conversion, _operators

    function = _python_function(entity)
    options = _asked(recursive, experimental_optional_features)
    return _conversion.convert(function, options, _operators)


def to_code(
    entity: _Callable[..., _Any],
    recursive: bool = True,
    experimental_optional_features: _Any = None,
) -> str:
    """Returns the source of what to_graph makes of a function.

    Args:
      entity: A Python function or method.
      recursive: Convert what it calls, too.
      experimental_optional_features: A Feature, or several.

    Raises:
      ConversionError: It has no Python code, or syntax that cannot be converted.

    Source: tf.autograph.to_code.
    """
    from graven.autograph import _conversion

    function = _python_function(entity)
    return _conversion.to_code_text(function, _asked(recursive, experimental_optional_features))


def trace(*args: _Any) -> None:
    """Prints its arguments while a function is traced, and not when it runs.

    Args:
      *args: What is printed.

    Source: tf.autograph.trace.
    """
    print(*args)


_public.complete(__name__)
