"""What surrounds the body of a converted function."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import TracebackType
from typing import Any, TypeVar

from graven import _engine
from graven import _functions as ops
from graven._debug_ops import Assert
from graven._scopes import name_scope
from graven._static_value import static_scalar
from graven.autograph._operators import returns
from graven.autograph._operators.variables import UndefinedReturnValue
from graven.autograph._options import ConversionOptions, Feature
from graven.autograph._status import Status, state

T = TypeVar("T")

# The options of functions within functions, and of those that converted code calls.
STD = ConversionOptions(recursive=True)

_of_callees = lru_cache(maxsize=None)(ConversionOptions.of_callees)


class FunctionScope:
    """The context that the body of a converted function runs in.

    Args:
      function_name: The name of the function.
      scope_name: The name that converted code binds this object to.
      options: How the function was converted.

    Attributes:
      name: scope_name; `locals()` and its kin find the function's frame by it.
      callopts: The options of the functions that it calls.
    """

    __slots__ = ("_before", "_name_scope", "callopts", "name", "options")

    def __init__(self, function_name: str, scope_name: str, options: ConversionOptions) -> None:
        self.name = scope_name
        self.options = options
        self.callopts = _of_callees(options)
        self._name_scope: Any = None
        if options.optional_features and options.uses(Feature.NAME_SCOPES):
            self._name_scope = name_scope(function_name.strip("_<>") or "lambda")

    def __enter__(self) -> FunctionScope:
        self._before = state.status
        if self.options.user_requested:
            state.status = Status.ENABLED
        if self._name_scope is not None:
            self._name_scope.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._name_scope is not None:
            self._name_scope.__exit__(kind, error, traceback)
        state.status = self._before

    def ret(self, value: Any, did_return: Any) -> Any:
        """Returns what the function returns.

        Args:
          value: What was returned, or UndefinedReturnValue.
          did_return: Whether the function ran into a `return`; a tensor if that was staged.

        Raises:
          ValueError: Some path of a staged `if` ends without a `return`.
          NotImplementedError: So does some path of a staged loop.
        """
        if isinstance(did_return, _engine.Tensor):
            _check_returned(did_return)
        if type(value) is UndefinedReturnValue:
            return None
        return value


def _check_returned(did_return: Any) -> None:
    missing = returns.missing_return(did_return)
    if missing is None:
        known = static_scalar(did_return)
        if known is None or not known:
            raise returns.branch_without_return("else", "somewhere in it")
    elif isinstance(missing, str):
        Assert(ops.identity(did_return), [missing])
    else:
        raise missing


def with_function_scope(
    thunk: Callable[[FunctionScope], T], scope_name: str, options: ConversionOptions
) -> T:
    """Runs the body of a converted lambda.

    Args:
      thunk: The body; takes the scope.
      scope_name: The name of the thunk's parameter.
      options: How the lambda was converted.
    """
    with FunctionScope("lambda", scope_name, options) as scope:
        return thunk(scope)
