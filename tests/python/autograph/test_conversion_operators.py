"""Operators for converted code that do what Python does, for tests of the conversion alone.

`Plain` only calls the bodies. `Staging` also reads and writes the state where an operator that
stages does, and makes what is not live unusable, so that a wrong analysis of liveness is an error.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from graven.autograph._conversion import ConversionError, convert, to_code_text
from graven.autograph._operators.state import GetState, SetState, state_functions
from graven.autograph._operators.variables import Undefined

Thunk = Callable[[], Any]


class Feature(enum.Enum):
    ALL = "ALL"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"


class Options(NamedTuple):
    recursive: bool = True
    user_requested: bool = True
    optional_features: tuple[Feature, ...] = ()
    internal_convert_user_code: bool = True


class UndefinedReturnValue:
    pass


class FunctionScope:
    def __init__(self, name: str, scope_name: str, options: object) -> None:
        self.name = name
        assert scope_name.startswith(("fscope", "lscope"))
        assert isinstance(options, Options)

    def __enter__(self) -> FunctionScope:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def ret(self, value: object, did_return: bool) -> object:
        return value if did_return else None


class Plain:
    """What converted code knows as `ag__`."""

    ConversionOptions = Options
    STD = Options()
    Feature = Feature
    FunctionScope = FunctionScope
    Undefined = Undefined
    UndefinedReturnValue = UndefinedReturnValue

    def __init__(self) -> None:
        self.calls: list[str] = []

    def with_function_scope(self, thunk: Callable[[Any], Any], name: str, options: object) -> Any:
        with FunctionScope("lambda", name, options) as scope:
            return thunk(scope)

    def autograph_artifact(self, function: Any) -> Any:
        function.is_artifact = True
        return function

    def converted_call(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, scope: object
    ) -> Any:
        assert isinstance(scope, FunctionScope) and isinstance(args, tuple)
        self.calls.append(getattr(f, "__name__", "?"))
        if f is super and not args:
            frame = inspect.currentframe()
            found: dict[str, Any] = {}
            while (frame := frame and frame.f_back) and "self" not in found:
                if frame.f_code.co_filename != __file__:
                    found = {**frame.f_locals, **found}
            return super(found["__class__"], found["self"])
        return f(*args, **(kwargs or {}))

    def ld(self, value: Any) -> Any:
        if isinstance(value, Undefined):
            raise UnboundLocalError(f"'{value.symbol_name}' is used before assignment")
        return value

    def ldu(self, thunk: Thunk, name: str) -> Any:
        with contextlib.suppress(AttributeError, KeyError, IndexError, NameError, TypeError):
            return thunk()
        return Undefined(name)

    def if_stmt(
        self,
        cond: Any,
        body: Thunk,
        orelse: Thunk | None,
        get_state: GetState | None,
        set_state: SetState | None,
        names: tuple[str, ...],
        nouts: int,
        ncaptured: int = 0,
    ) -> None:
        assert nouts + ncaptured <= len(names)
        if cond:
            body()
        elif orelse is not None:
            orelse()

    def while_stmt(
        self,
        test: Thunk,
        body: Thunk,
        get_state: GetState | None,
        set_state: SetState | None,
        names: tuple[str, ...],
        opts: dict[str, Any],
    ) -> None:
        while test():
            body()

    def for_stmt(
        self,
        iterable: Any,
        extra_test: Thunk | None,
        body: Callable[[Any], None],
        get_state: GetState | None,
        set_state: SetState | None,
        names: tuple[str, ...],
        opts: dict[str, Any],
    ) -> None:
        assert "iterate_names" in opts
        if extra_test is not None and not extra_test():
            return
        for element in iterable:
            body(element)
            if extra_test is not None and not extra_test():
                break

    def if_exp(self, cond: Any, body: Thunk, orelse: Thunk, text: str) -> Any:
        assert text
        return body() if cond else orelse()

    def and_(self, left: Thunk, right: Thunk) -> Any:
        return left() and right()

    def or_(self, left: Thunk, right: Thunk) -> Any:
        return left() or right()

    def not_(self, value: Any) -> bool:
        return not value

    def eq(self, left: Any, right: Any) -> Any:
        return left == right

    def not_eq(self, left: Any, right: Any) -> Any:
        return left != right

    def assert_stmt(self, test: Any, message: Thunk) -> None:
        if not test:
            raise AssertionError(message())

    def new_list(self, values: Any) -> Any:
        return list(values)

    def list_append(self, values: Any, value: Any) -> Any:
        values.append(value)
        return values

    def list_pop(self, values: Any, index: Any) -> Any:
        return values, values.pop() if index is None else values.pop(index)

    def get_item(self, values: Any, index: Any) -> Any:
        return values[index]

    def set_item(self, values: Any, index: Any, value: Any) -> Any:
        values[index] = value
        return values


class Recursive(Plain):
    """Converts the functions that converted code calls, too."""

    def converted_call(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, scope: object
    ) -> Any:
        function = f.__func__ if isinstance(f, types.MethodType) else f
        if isinstance(function, types.FunctionType) and not hasattr(function, "is_artifact"):
            with contextlib.suppress(ConversionError):
                new = convert(function, Options(user_requested=False), self)
                f = types.MethodType(new, f.__self__) if function is not f else new
        return super().converted_call(f, args, kwargs, scope)


class Dead:
    """The value of a symbol that is not live. It allows nothing."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("a dead value is used")

    def __bool__(self) -> bool:
        raise AssertionError("a dead value is used")


class Staging(Plain):
    """Reads and writes the state as operators that stage do."""

    def if_stmt(
        self,
        cond: Any,
        body: Thunk,
        orelse: Thunk | None,
        get_state: GetState | None,
        set_state: SetState | None,
        names: tuple[str, ...],
        nouts: int,
        ncaptured: int = 0,
    ) -> None:
        nouts += ncaptured
        get_state, set_state = state_functions(
            get_state, set_state, names, *filter(None, (body, orelse))
        )
        before = get_state()
        assert len(before) == len(names)
        set_state(before)
        if cond:
            body()
        elif orelse is not None:
            orelse()
        after = get_state()
        set_state(after[:nouts] + (Dead(),) * (len(names) - nouts))

    def while_stmt(
        self,
        test: Thunk,
        body: Thunk,
        get_state: GetState | None,
        set_state: SetState | None,
        names: tuple[str, ...],
        opts: dict[str, Any],
    ) -> None:
        get_state, set_state = state_functions(get_state, set_state, names, body)
        while True:
            state = get_state()
            set_state((Dead(),) * len(names))
            set_state(state)
            if not test():
                return
            body()


def converted(f: Any, options: Options | None = None, operators: Plain | None = None) -> Any:
    return convert(f, options or Options(), operators or Plain())


def code_text(f: Any, options: Options | None = None) -> str:
    return to_code_text(f, options or Options())


def run(f: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a function does: its value, or the class and the text of its exception."""
    try:
        value = f(*arguments)
        if isinstance(value, types.GeneratorType):
            value = list(value)
    except NameError:
        return ("NameError",)
    except Exception as error:
        return type(error).__name__, str(error)
    return "value", value


@pytest.mark.parametrize("operators", [Plain(), Staging()], ids=["plain", "staging"])
def test_the_operators_of_these_tests_do_what_python_does(operators: Plain) -> None:
    def f(n: int) -> int:
        total = 0
        for i in range(n):
            if i == 3:
                break
            total += i
        return total

    assert converted(f, operators=operators)(9) == 3
