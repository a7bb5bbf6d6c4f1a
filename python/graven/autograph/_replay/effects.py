"""Whether runs of a function change Python's objects.

All runs must find Python's objects alike, or they are not runs of one program. So what a function
can reach is looked at when its first run comes to the first condition, and must be the same when
that run and each other one has ended. What the first run sets up before that, such as an attribute
that was None, is there for all.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import copyreg
import functools
import hashlib
import random
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from graven import _engine

MAX_OBJECTS = 100_000

_OPAQUE = (
    *(bool, int, float, complex, str, bytes, type(None), type(Ellipsis)),
    *(types.ModuleType, types.CodeType, types.BuiltinFunctionType, range),
    *(_engine.Tensor, _engine.VariableBase, _engine.PublicFunction),
    *(_engine.CppFunction, _engine.Function),
)
# Packages whose objects keep nothing that a function's result depends on.
_OF_LIBRARIES = ("graven", "numpy", "logging", "threading", "_thread", "weakref")
_SUSPENDED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


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
        """Returns what is wrong: what has changed, or cannot be compared; None if nothing is."""
        now = self._look()
        if len(now) > MAX_OBJECTS:
            return f"it can reach more than {MAX_OBJECTS} objects."
        for key, (name, parts, (value, _)) in self._before.items():
            changed = None
            if key not in now:
                changed = name
            elif now[key][1] != parts:
                changed = _what_differs(name, value, parts, now[key][1])
            if isinstance(value, _Hidden):
                return f"the state of {name}, {value}, cannot be compared."
            if changed is not None:
                return f"it changes {changed}."
        added = next((name for key, (name, _, _) in now.items() if key not in self._before), None)
        return None if added is None else f"it changes {added}."

    def _look(self) -> dict[int, tuple[str, Any, Any]]:
        """By id: a name, what an object consists of now, and the object, which so stays alive."""
        found: dict[int, tuple[str, Any, Any]] = {}
        pending = [(name, value) for name, value in self._roots]
        while pending and len(found) <= MAX_OBJECTS:
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


class _Hidden:
    """Stands for the state of an object that cannot be seen: never equal to another.

    Args:
      kind: The object's type.
    """

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __str__(self) -> str:
        return f"a {self._kind.__name__}"


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What an object consists of."""
    if isinstance(value, types.MethodType):
        yield "__self__", value.__self__
        yield "__func__", value.__func__
    elif isinstance(value, types.FunctionType):
        yield from _of_function(value)
    elif isinstance(value, type):
        yield from _of_class(value)
    elif isinstance(value, (staticmethod, classmethod)):
        yield "__func__", value.__func__
    elif isinstance(value, property):
        yield from (("fget", value.fget), ("fset", value.fset))
    elif _is_of(type(value), ("numpy",)):
        yield from _of_numpy(value)
    elif isinstance(value, threading.local):
        yield from vars(value).items()
    elif isinstance(value, contextvars.ContextVar):
        yield "value", value.get(None)
    elif isinstance(value, random.Random):
        yield from _leaves("state", value.getstate())
    elif not isinstance(value, _Hidden) and not _is_of(type(value), _OF_LIBRARIES):
        yield from _of_object(value)


def _of_numpy(value: Any) -> Iterator[tuple[Any, Any]]:
    import numpy as np  # which is there, or nothing of it would be

    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        yield from enumerate(value.ravel().tolist())
    elif isinstance(value, np.ndarray):
        yield "data", hashlib.blake2b(np.ascontiguousarray(value).view(np.uint8).data).digest()
    elif isinstance(value, np.random.Generator):
        yield from _leaves("state", value.bit_generator.state)
    elif isinstance(value, np.random.RandomState):
        yield from _leaves("state", value.get_state(legacy=False))


def _of_object(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, (list, tuple, collections.deque)):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from ((_identity(key), part) for key, part in value.items())
    elif isinstance(value, (set, frozenset)):
        yield from enumerate(sorted(value, key=id))
    elif isinstance(value, bytearray):
        yield "data", bytes(value)
    elif isinstance(value, functools.partial):
        yield from (("func", value.func), ("args", value.args), ("keywords", value.keywords))
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        yield from attributes.items()
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, types.MemberDescriptorType):  # of __slots__
                with contextlib.suppress(AttributeError):
                    yield name, member.__get__(value)
    yield "__class__", type(value)
    if not all(_is_of_python(kind) or kind in _SEEN_WHOLE for kind in type(value).__mro__):
        yield from _as_pickled(value)


_SEEN_WHOLE = (
    *(object, list, tuple, collections.deque, dict, collections.OrderedDict),
    *(collections.defaultdict, set, frozenset, bytearray, functools.partial),
)


def _is_of_python(kind: type) -> bool:
    """Whether a class statement made it: a heap type that can be changed."""
    return kind.__flags__ & (1 << 9 | 1 << 8) == 1 << 9


def _as_pickled(value: Any) -> Iterator[tuple[Any, Any]]:
    """What an object of a type written in C consists of, by what pickling it would keep."""
    state: Any = _Hidden(type(value))
    if not isinstance(value, _SUSPENDED):
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reduce = copyreg.dispatch_table.get(type(value))
            state = value.__reduce_ex__(2) if reduce is None else reduce(value)
    yield from _leaves("state", state)


def _leaves(path: str, state: Any) -> Iterator[tuple[str, Any]]:
    """What containers that were made to describe a state hold."""
    if type(state) is dict:
        for key, part in state.items():
            yield from _leaves(f"{path}.{key}", part)
    elif type(state) in (tuple, list):
        for i, part in enumerate(state):
            yield from _leaves(f"{path}.{i}", part)
    elif _is_of(type(state), ("numpy",)):
        for key, part in _of_numpy(state):
            yield f"{path}.{key}", part
    else:
        yield path, state


def _of_class(kind: type) -> Iterator[tuple[str, Any]]:
    if not _is_of_python(kind) or _is_of(kind, (*_OF_LIBRARIES, *_STANDARD_LIBRARY)):
        return
    for base in kind.__bases__:
        yield "__bases__", base
    for name, member in vars(kind).items():
        is_of_every_class = name.startswith("__") and name.endswith("__") and not callable(member)
        if not is_of_every_class and name != "_abc_impl":
            yield name, member


_STANDARD_LIBRARY = tuple(sys.stdlib_module_names)


def _is_of(kind: type, packages: tuple[str, ...]) -> bool:
    return kind.__module__.partition(".")[0] in packages


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    if _is_of_library(function):
        return
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # It has no value yet.
            yield name, None
    names = set(_global_names(code))
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, types.ModuleType):
            yield from _of_module(value, names)
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield "a default", default


def _of_module(module: types.ModuleType, names: set[str]) -> Iterator[tuple[str, Any]]:
    """The attributes of a user's module that a function may name."""
    package = module.__name__.partition(".")[0]
    if package not in _OF_LIBRARIES and package not in _STANDARD_LIBRARY:
        for name in sorted(names & vars(module).keys()):
            yield f"{module.__name__}.{name}", vars(module)[name]


def _is_of_library(function: types.FunctionType) -> bool:
    from graven.autograph._operators.allow_list import Plan, plan_of

    return plan_of(function) in (Plan.LISTED, Plan.AS_IS)


def _global_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _global_names(value)
