"""Calls in converted code: what is converted, and what is called as it is."""

import functools
import inspect
import unittest
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import graven as tf
import numpy as np
import pytest
from graven import _logging
from graven.autograph import _conversion, experimental
from graven.autograph import _operators as ag
from graven.autograph._operators import allow_list
from graven.autograph._operators.allow_list import Plan, plan_of
from graven.autograph._options import ConversionOptions
from graven.autograph._status import Status, StatusScope, state

CALLER = ag.FunctionScope("f", "fscope", ConversionOptions(True, True))


@pytest.fixture(autouse=True)
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Notes what is converted, to functions that say so."""
    noted: list[Any] = []

    def convert(
        function: Any, options: ConversionOptions, operators: Any, stages_objects: bool
    ) -> Callable[..., Any]:
        assert not stages_objects
        assert operators is ag and not options.user_requested
        noted.append(function)
        return lambda *args, **kwargs: ("converted", args, kwargs)

    monkeypatch.setattr(_conversion, "convert", convert)
    monkeypatch.setattr(allow_list._plans, "failures", {})
    return noted


def call(f: Any, *args: Any, **kwargs: Any) -> Any:
    return ag.converted_call(f, args, kwargs or None, CALLER)


def plain(*args: Any, **kwargs: Any) -> str:
    return "as it is"


class Users:
    def method(self, x: int) -> str:
        return "as it is"

    def __call__(self, x: int) -> str:
        return "as it is"

    @classmethod
    def of_class(cls) -> str:
        return "as it is"


USERS = Users()


def test_a_function_of_the_users_is_converted() -> None:
    assert call(plain, 1, k=2) == ("converted", (1,), {"k": 2})


def test_a_method_is_converted_with_its_object() -> None:
    assert call(USERS.method, 1) == ("converted", (USERS, 1), {})
    assert call(Users.of_class) == ("converted", (Users,), {})


def test_a_callable_object_is_converted_with_itself() -> None:
    assert call(USERS, 1) == ("converted", (USERS, 1), {})


def test_a_partial_is_taken_apart() -> None:
    partial = functools.partial(functools.partial(plain, 1, a=1), 2, b=2)
    assert call(partial, 3, a=3) == ("converted", (1, 2, 3), {"a": 3, "b": 2})


def generator() -> Iterator[str]:
    yield "as it is"


class Case(unittest.TestCase):
    def method(self) -> str:
        return "as it is"


@functools.cache
def cached() -> str:
    return "as it is"


def made_by_exec() -> Any:
    space: dict[str, Any] = {}
    exec("def f(): return 'as it is'", space)
    return space["f"]


AS_THEY_ARE = {
    "an artifact": ag.autograph_artifact(lambda: "as it is"),
    "do_not_convert": experimental.do_not_convert(lambda: "as it is"),
    "a function cache": cached,
    "a builtin method": "as it is".strip,
    "a method of a test case": Case("method").method,
    "code made by exec": made_by_exec(),
    "a function of NumPy's": lambda: str(np.array("as it is").item()),
}
ag.autograph_artifact(AS_THEY_ARE["a function of NumPy's"])


@pytest.mark.parametrize("f", AS_THEY_ARE.values(), ids=AS_THEY_ARE)
def test_some_callables_are_called_as_they_are(f: Any, conversions: list[Any]) -> None:
    assert call(f) == "as it is"
    assert conversions == []


def test_functions_of_libraries_and_generators_are_listed() -> None:
    of_libraries: list[Any] = [tf.nest.flatten, inspect.unwrap(np.array_split), generator]
    assert [plan_of(f) for f in of_libraries] == [Plan.LISTED] * 3
    users: Any = plain
    assert plan_of(users) is Plan.CONVERT


def test_a_wrapper_of_a_library_is_the_librarys_whatever_it_wraps() -> None:
    # functools.wraps makes the wrapper say that it comes from the user's module.
    space = {"__name__": "numpy.lib"}
    wrapper = FunctionType(plain.__code__.replace(co_name="of_a_library"), space)
    functools.update_wrapper(wrapper, plain)
    assert wrapper.__module__ == __name__
    assert plan_of(wrapper) is Plan.LISTED


def test_a_class_is_called_as_it_is(conversions: list[Any]) -> None:
    assert isinstance(call(Users), Users)
    assert conversions == []


def test_nothing_is_converted_while_autograph_is_disabled(conversions: list[Any]) -> None:
    with StatusScope(Status.DISABLED):
        assert call(plain) == "as it is"
        assert call(USERS, 1) == "as it is"
        assert ag.convert_callable(plain) is plain
    assert conversions == []


def test_what_is_called_sees_the_status_of_do_not_convert() -> None:
    seen = experimental.do_not_convert(lambda: state.status)
    with StatusScope(Status.ENABLED):
        assert call(seen) is Status.DISABLED
        assert state.status is Status.ENABLED


def test_without_recursion_callees_run_as_they_are() -> None:
    scope = ag.FunctionScope("f", "fscope", ConversionOptions(recursive=False, user_requested=True))
    assert ag.converted_call(plain, (), None, scope) == "as it is"


def test_a_scope_asked_for_by_the_user_enables_autograph() -> None:
    def status_in(scope: ag.FunctionScope) -> Status:
        with scope:
            return state.status

    assert status_in(CALLER) is Status.ENABLED
    assert status_in(ag.FunctionScope("f", "fscope", ag.STD)) is Status.UNSPECIFIED


# What cannot be converted


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    def fail(*_: Any, **__: Any) -> Any:
        raise _conversion.ConversionError("no source code")

    monkeypatch.setattr(_conversion, "convert", fail)
    monkeypatch.setattr(_logging, "warn", texts.append)
    return texts


def test_what_cannot_be_converted_runs_as_it_is_and_is_warned_of_once(warnings: list[str]) -> None:
    assert [call(plain), call(plain)] == ["as it is", "as it is"]
    (text,) = warnings
    assert text.startswith(f"AutoGraph could not transform {plain!r} and will run it as-is.")
    assert "Cause: no source code" in text and "do_not_convert" in text


def test_strict_conversion_raises(warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_STRICT_CONVERSION", "1")
    for _ in range(2):
        with pytest.raises(_conversion.ConversionError, match="no source code"):
            call(plain)
    assert warnings == []


# Functions that functions of control flow take


def test_a_function_for_a_branch_is_converted_under_its_name() -> None:
    f = ag.convert_callable(plain)
    assert (f.__name__, f.__module__, f(1)) == ("plain", __name__, ("converted", (1,), {}))
    assert ag.convert_callable(f) is f


@pytest.mark.parametrize(
    "f", [len, Users, tf.nn.relu, tf.function(plain), cached, None, 5], ids=repr
)
def test_what_need_not_be_converted_is_given_as_it_is(f: Any) -> None:
    assert ag.convert_callable(f) is f


def test_methods_partials_and_callable_objects_are_converted_for_a_branch() -> None:
    assert ag.convert_callable(USERS.method)(1) == ("converted", (USERS, 1), {})
    assert ag.convert_callable(functools.partial(plain, 1))(2) == ("converted", (1, 2), {})
    assert ag.convert_callable(USERS)(1) == ("converted", (USERS, 1), {})


def test_a_function_for_a_branch_runs_enabled() -> None:
    f = ag.convert_callable(functools.partial(ag.autograph_artifact(lambda: state.status)))
    assert f() is Status.UNSPECIFIED  # it needs no conversion, and got none
    inside: list[Status] = []
    key = ag.convert_callable(lambda: None)
    assert key() == ("converted", (), {}) and inside == []


# Builtins that take functions, or look at frames


def test_builtins_convert_the_functions_that_they_take() -> None:
    assert list(call(map, plain, [1])) == [("converted", (1,), {})]
    assert list(call(filter, plain, [1])) == [1]
    assert call(sorted, [2, 1], key=plain) == [1, 2]
    assert call(max, [2, 1], key=plain) == 2


def test_eval_sees_the_names_of_the_function() -> None:
    with ag.FunctionScope("f", "fscope", ag.STD) as fscope:
        x = 20
        assert ag.converted_call(eval, ("x + len('ab')",), None, fscope) == 22
        assert ag.converted_call(eval, ("y", {"y": x}), None, fscope) == 20
        assert ag.converted_call(globals, (), None, fscope) is globals()


class Base:
    def name(self) -> str:
        return "base"


class Derived(Base):
    def name(self) -> str:
        with ag.FunctionScope("name", "fscope", ag.STD) as fscope:
            assert __class__ is Derived  # type: ignore[name-defined]

            def if_body() -> Any:
                return ag.converted_call(super, (), None, fscope)

            found: Any = if_body()
            assert found.__self__ is self
            two: Any = ag.converted_call(super, (Derived, self), None, fscope)
            return str(found.name() + two.name())


def test_super_is_that_of_the_method() -> None:
    assert Derived().name() == "basebase"
