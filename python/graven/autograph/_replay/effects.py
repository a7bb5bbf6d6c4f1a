"""Whether runs of a function change Python's objects.

All runs must find Python's objects alike, or they are not runs of one program. So what a function
can reach is looked at when its first run comes to the first condition, and must be the same when
that run and each other one has ended. What the first run sets up before that, such as an attribute
that was None, is there for all.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from graven import _engine

MAX_OBJECTS = 20_000
MAX_ARRAY_BYTES = 65_536  # of a NumPy array whose content is compared

_OPAQUE = (
    *(bool, int, float, complex, str, bytes, type(None), type, type(Ellipsis)),
    *(types.ModuleType, types.CodeType, types.BuiltinFunctionType, range),
    *(_engine.Tensor, _engine.VariableBase, _engine.Function, _engine.PublicFunction),
)
_SEQUENCES: tuple[Any, ...] = ([], (), {}, set(), "", range(0), {}.values(), {}.items())
_ITERATORS: tuple[Any, ...] = (
    *(type(iter(one)) for one in _SEQUENCES),
    type(reversed([])),
    itertools.count,
)


class Effects:
    """The objects that a function can reach, as they are now.

    Args:
      function: The function.
      args: Its positional arguments.
      kwargs: Its keyword arguments.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._roots: list[tuple[str, Any]] = [
            *((f"an argument ({i})", value) for i, value in enumerate(args)),
            *((f"the argument {name}", value) for name, value in kwargs.items()),
            ("", function),
        ]
        self._before = self._look()

    def changed(self) -> str | None:
        """Returns what has changed, in words; None if nothing has."""
        now = self._look()
        for key, (name, parts, (value, _)) in self._before.items():
            if key not in now:
                return name
            if now[key][1] != parts:
                return _what_differs(name, value, parts, now[key][1])
        return next((name for key, (name, _, _) in now.items() if key not in self._before), None)

    def _look(self) -> dict[int, tuple[str, Any, Any]]:
        """By id: a name, what an object consists of now, and the object, which so stays alive."""
        found: dict[int, tuple[str, Any, Any]] = {}
        pending = [(name, value) for name, value in self._roots]
        while pending and len(found) < MAX_OBJECTS:
            name, value = pending.pop()
            if isinstance(value, _OPAQUE) or id(value) in found:
                continue
            parts = list(_parts(value))
            found[id(value)] = (
                name or "a variable outside of the function",
                [(key, _identity(part)) for key, part in parts],
                (value, parts),
            )
            pending += [(_name_of(name, value, key), part) for key, part in parts]
        return found


def _what_differs(name: str, value: Any, before: list[Any], now: list[Any]) -> str:
    """The name of a part of an object that is another now."""
    keys = [key for key, _ in {*before} ^ {*now}]
    return _name_of(name, value, keys[0]) if keys else name


def _identity(part: Any) -> Any:
    if type(part) in (bool, int, float, complex, str, bytes):
        return (type(part), repr(part))
    return id(part)


def _name_of(name: str, value: Any, key: Any) -> str:
    if isinstance(value, types.FunctionType):
        return f"the variable {key!r}"
    if isinstance(value, (list, tuple, dict, set, frozenset, collections.deque)) or not isinstance(
        key, str
    ):
        return name or "an item of a container"
    return f"what the attribute {key!r} of a {type(value).__name__} holds"


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What an object consists of."""
    if isinstance(value, types.MethodType):
        yield "__self__", value.__self__
        yield "__func__", value.__func__
    elif isinstance(value, types.FunctionType):
        yield from _of_function(value)
    elif isinstance(value, (list, tuple, collections.deque)):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from ((_identity(key), part) for key, part in value.items())
    elif isinstance(value, (set, frozenset)):
        yield from enumerate(sorted(value, key=id))
    elif isinstance(value, _ITERATORS):
        yield from enumerate(value.__reduce__()[1:])
    elif isinstance(value, types.GeneratorType):
        frame = value.gi_frame
        yield "gi_frame", None if frame is None else frame.f_lasti
    elif _is_array(value):
        yield "data", value.tobytes() if value.nbytes <= MAX_ARRAY_BYTES else b""
    elif not _is_ours(type(value)):
        yield from _of_object(value)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")  # There are no arrays of a module that is not there.
    return numpy is not None and isinstance(value, numpy.ndarray)


def _of_object(value: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, types.MemberDescriptorType):  # of __slots__
                with contextlib.suppress(AttributeError):
                    yield name, member.__get__(value)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("graven", "numpy")


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    if _is_of_library(function):
        return
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # It has no value yet.
            yield name, None
    for name in _global_names(code):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield "a default", default


def _is_of_library(function: types.FunctionType) -> bool:
    from graven.autograph._operators.allow_list import Plan, plan_of

    return plan_of(function) in (Plan.LISTED, Plan.AS_IS)


def _global_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _global_names(value)
