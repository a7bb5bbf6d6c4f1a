"""The values that a trace has read, found at its end by walking the paths of its code.

Nothing here runs code of the user's: attributes are looked up as Python does, but properties and
`__getattr__` are read like other functions, by their code.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from graven import _engine
from graven._captures._impure import replacement
from graven._captures._reads import (
    ARGUMENT,
    ATTRIBUTE,
    CALLED,
    EACH,
    GLOBAL,
    ITEM,
    LENGTH,
    Call,
    Path,
    Reads,
    reads_of,
)

_DICT, _OBJECT, _CELL, _FUNCTION = range(4)  # WatchedPlace::Kind

_MAX_EACH = 64  # items of a container whose attributes are watched
_MAX_WALKS = 20_000  # steps of one trace
_MAX_DEPTH = 24  # of calls

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_CONTAINERS = (list, tuple, dict, set, frozenset)

_known: WeakKeyDictionary[CodeType, Reads] = WeakKeyDictionary()


def _reads(code: CodeType) -> Reads:
    found = _known.get(code)
    if found is None:
        found = _known[code] = reads_of(code)
    return found


class _Spec:
    """What was read of one value.

    Attributes:
      label: Its name and its place, for messages.
      whole: Whether all of it was.
      length: Whether its length was.
      items: What was read of its items, by index or key.
    """

    __slots__ = ("items", "label", "length", "whole")

    def __init__(self, label: tuple[str, str]) -> None:
        self.label = label
        self.whole = False
        self.length = False
        self.items: dict[Any, _Spec] = {}

    def reads(self) -> Any:
        if self.whole:
            return None
        return self.length, {key: spec.reads() for key, spec in self.items.items()}


class _Activation:
    """A function as it was called."""

    def __init__(
        self,
        function: FunctionType,
        arguments: dict[str, Any],
    ) -> None:
        self.function = function
        self.code = function.__code__
        self.arguments = arguments
        self.cells = dict(zip(self.code.co_freevars, function.__closure__ or (), strict=False))


_MISSING = object()


class Plan:
    """The places and values that a trace has read.

    Attributes:
      of_gradient: Whether what is added now is read by functions of custom gradients, and comes
        after all others.
      impure: Calls of impure functions whose results go on: what is called, where, and what could
        be called instead.
    """

    def __init__(self) -> None:
        self.of_gradient = False
        self.impure: list[tuple[str, str, str]] = []
        self._places: dict[tuple[bool, int, int], tuple[Any, dict[Any, _Spec]]] = {}
        self._done: dict[Any, bool] = {}
        self._steps = 0
        self._looks = False  # without watching
        self._kept: list[Any] = []  # so that ids stay theirs

    def add(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Adds what a function reads that ran with these arguments."""
        if not isinstance(function, FunctionType):
            return
        code = function.__code__
        arguments = dict(zip(code.co_varnames[: code.co_argcount], args, strict=False))
        arguments.update(kwargs)
        if code.co_flags & 4:  # *args
            number = code.co_argcount + code.co_kwonlyargcount
            arguments[code.co_varnames[number]] = tuple(args[code.co_argcount :])
        self._add(function, arguments, 0)

    def watch_list(self) -> Any:
        """Returns the list for the engine; None if nothing was read."""
        if not self._places:
            return None
        made = _engine.WatchList()
        for (of_gradient, kind, _), (owner, items) in self._places.items():
            reads = [(name, spec.reads(), spec.label) for name, spec in items.items()]
            made.add(kind, owner, reads, of_gradient)
        return made

    # --- Functions.

    def _add(self, function: FunctionType, arguments: dict[str, Any], depth: int) -> None:
        if depth > _MAX_DEPTH or not _is_users(function):
            return
        named = {n: v for n, v in arguments.items() if not isinstance(v, _engine.Tensor)}
        key = (self.of_gradient, id(function), tuple(sorted((n, id(v)) for n, v in named.items())))
        if key in self._done:
            return
        self._done[key] = True
        self._kept.append((function, named))
        activation = _Activation(function, named)
        reads = _reads(activation.code)
        if function.__defaults__:
            self._place(
                _FUNCTION, function, "__defaults__", _label((activation, 0), function)
            ).whole = True
        used = dict(reads.used)
        for path, sites in reads.passed.items():
            for line, call, which in () if path in used else sites:
                if self._goes_on(activation, call, which, depth):
                    used[path] = line
                    break
        for path, line in used.items():
            for _, spec in self._walk(activation, path, line, depth):
                if spec is not None:
                    spec.whole = True
        for call in reads.calls:
            for callee in call.callee:
                for value, _ in self._walk(activation, callee, 0, depth):
                    self._call(activation, value, call, depth)

    def _goes_on(self, activation: _Activation, call: Call, which: int | str, depth: int) -> bool:
        """Whether a value that a call gets is used, and not only logged."""
        callees = self._values(activation, call.callee, depth)
        return not callees or any(_uses(callee, which) for callee in callees)

    def _call(self, activation: _Activation, callee: Any, call: Call, depth: int) -> Any:
        """Adds what a call reads; returns the function and its arguments, or None."""
        if callee is os.getenv and call.constant is not None:
            where = (activation, 0)
            for _, spec, _ in self._item(os.environ, None, call.constant, where, "os.environ", 0):
                spec.whole = True
        function, first = _function_of(callee)
        if function is None or not _is_users(function):
            return None
        code = function.__code__
        arguments: dict[str, Any] = {}
        names = code.co_varnames[: code.co_argcount]
        if function.__defaults__:
            arguments.update(
                zip(names[-len(function.__defaults__) :], function.__defaults__, strict=True)
            )
        arguments.update(function.__kwdefaults__ or {})
        start = 0
        if first is not _MISSING and names:
            arguments[names[0]] = first
            start = 1
        given = [*zip(names[start:], call.args, strict=False), *call.kwargs.items()]
        for name, paths in given:
            arguments.pop(name, None)
            for value in self._values(activation, paths, depth)[:1]:
                arguments[name] = value
        self._add(function, arguments, depth + 1)
        return function, arguments

    def _returned(self, called: Any, depth: int) -> Iterator[tuple[Any, _Spec | None]]:
        if called is None or depth > _MAX_DEPTH:
            return
        function, arguments = called
        named = {n: v for n, v in arguments.items() if not isinstance(v, _engine.Tensor)}
        inner = _Activation(function, named)
        for path in _reads(inner.code).returned:
            yield from self._walk(inner, path, function.__code__.co_firstlineno, depth + 1)

    # --- Paths.

    def _values(self, activation: _Activation, paths: frozenset[Path], depth: int) -> list[Any]:
        """The values that paths lead to, which are not watched for that."""
        before, self._looks = self._looks, True
        try:
            found = [pair[0] for path in paths for pair in self._walk(activation, path, 0, depth)]
        finally:
            self._looks = before
        return found

    def _place(self, kind: int, owner: Any, name: Any, label: tuple[str, str]) -> _Spec:
        if self._looks:
            return _Spec(label)
        key = (self.of_gradient, kind, id(owner))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = (owner, {})
        spec = place[1].get(name)
        if spec is None:
            spec = place[1][name] = _Spec(label)
        return spec

    def _walk(
        self, activation: _Activation, path: Path, line: int, depth: int
    ) -> Iterator[tuple[Any, _Spec | None]]:
        """Yields the values that a path leads to, and what watches each; None if nothing does."""
        kind, name = path[0]
        spec: _Spec | None = None
        where = (activation, line or activation.code.co_firstlineno)
        if kind == GLOBAL:
            names = activation.function.__globals__
            value = names.get(name, _MISSING)
            if value is _MISSING:
                builtins = names.get("__builtins__", {})
                if isinstance(builtins, ModuleType):
                    builtins = vars(builtins)
                if name not in builtins:
                    self._place(_DICT, names, name, _label(where, name))
                    return
                value = builtins[name]
            elif not _is_foreign_module(value):
                spec = self._place(_DICT, names, name, _label(where, name))
        elif kind == ARGUMENT:
            value = activation.arguments.get(name, _MISSING)
        else:
            cell = activation.cells.get(name)
            if cell is None:
                return
            value = _contents(cell)
            if isinstance(value, _engine.Tensor) and not isinstance(value, _engine.EagerTensor):
                return  # a variable of a function that ran in the trace
            spec = self._place(_CELL, cell, name, _label(where, name))
        yield from self._follow(value, spec, path, 1, where, str(name), depth)

    def _follow(
        self,
        value: Any,
        spec: _Spec | None,
        path: Path,
        at: int,
        where: tuple[_Activation, int],
        text: str,
        depth: int,
    ) -> Iterator[tuple[Any, _Spec | None]]:
        self._steps += 1
        if self._steps > _MAX_WALKS:
            return
        if at == len(path):
            yield value, spec
            return
        if value is _MISSING:
            return
        kind, what = path[at]
        steps: dict[str, Callable[..., Iterator[tuple[Any, Any, str]]]] = {
            ATTRIBUTE: self._attribute,
            ITEM: self._item,
            EACH: self._each,
            LENGTH: self._length,
            CALLED: self._called,
        }
        for following, inner, inner_text in steps[kind](value, spec, what, where, text, depth):
            yield from self._follow(following, inner, path, at + 1, where, inner_text, depth)

    def _attribute(
        self, value: Any, spec: Any, name: str, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        text = f"{text}.{name}"
        label = _label(where, text)
        if isinstance(value, ModuleType):
            if _is_foreign_module(value):
                # What it holds is not watched, but what lies behind it may be: os.environ.
                yield vars(value).get(name, _MISSING), None, text
            else:
                yield (
                    vars(value).get(name, _MISSING),
                    self._place(_DICT, vars(value), name, label),
                    text,
                )
            return
        if _is_foreign_name(type(value).__module__, _RANDOM):
            yield getattr(value, name, _MISSING), None, text
            return
        if _is_opaque(value):
            return
        if name == "__class__":
            yield type(value), None, text
            return
        fields = getattr(type(value), "_fields", ()) if isinstance(value, tuple) else ()
        if name in fields:
            yield from self._item(value, spec, fields.index(name), where, text, depth)
            return
        if isinstance(value, _CONTAINERS) and type(value).__module__ == "builtins":
            return
        found, is_there, is_own = _engine.raw_attribute(value, name)
        if not is_there:
            yield _MISSING, self._place(_OBJECT, value, name, label), text
            fallback, has_fallback, _ = _engine.raw_attribute(type(value), "__getattr__")
            if has_fallback and isinstance(fallback, FunctionType):
                yield from self._from_call(fallback, value, text, depth, name)
            return
        inner = self._place(_OBJECT, value, name, label)
        if is_own or (isinstance(value, type) and isinstance(found, type)):
            yield found, inner, text
        elif isinstance(found, property):
            if isinstance(found.fget, FunctionType):
                yield from self._from_call(found.fget, value, text, depth)
        elif isinstance(found, functools.cached_property):
            if isinstance(found.func, FunctionType):
                yield from self._from_call(found.func, value, text, depth)
        elif isinstance(found, FunctionType):
            yield (found if isinstance(value, type) else MethodType(found, value)), inner, text
        elif isinstance(found, staticmethod):
            yield found.__func__, inner, text
        elif isinstance(found, classmethod):
            owner = value if isinstance(value, type) else type(value)
            yield MethodType(found.__func__, owner), inner, text
        else:
            yield found, inner, text

    def _from_call(
        self, function: FunctionType, instance: Any, text: str, depth: int, *more: Any
    ) -> Iterator[tuple[Any, Any, str]]:
        """The results of a property, or of `__getattr__`."""
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        arguments = dict(zip(names, (instance, *more), strict=False))
        if not _is_users(function) or depth > _MAX_DEPTH:
            return
        self._add(function, arguments, depth + 1)
        for value, spec in self._returned((function, arguments), depth + 1):
            yield value, spec, text

    def _item(
        self, value: Any, spec: Any, key: Any, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        text = f"{text}[{key!r}]"
        if value is os.environ:
            if isinstance(key, str):
                # Where os.environ keeps it, in the encoding of the system.
                data = os.environ._data
                encoded = os.environ.encodekey(key)
                yield (
                    data.get(encoded, _MISSING),
                    self._place(_DICT, data, encoded, _label(where, text)),
                    text,
                )
            return
        if isinstance(value, _CONTAINERS):
            inner = None
            if spec is not None:
                inner = spec.items.get(key)
                if inner is None:
                    inner = spec.items[key] = _Spec(_label(where, text))
            yield _item_of(value, key), inner, text
            return
        if _is_opaque(value) or isinstance(value, ModuleType | type):
            return
        getter, is_there, _ = _engine.raw_attribute(type(value), "__getitem__")
        if is_there and isinstance(getter, FunctionType):
            yield from self._from_call(getter, value, text, depth, key)

    def _each(
        self, value: Any, spec: Any, what: Any, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        if not isinstance(value, _CONTAINERS):
            return
        if spec is not None:
            spec.whole = True
        items = list(value.values() if isinstance(value, dict) else value)
        for i, item in enumerate(items[:_MAX_EACH]):
            yield item, None, f"{text}[{i}]"

    def _length(
        self, value: Any, spec: Any, what: Any, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        if isinstance(value, _CONTAINERS):
            if spec is not None:
                spec.length = True
            return
        if not _is_opaque(value) and not isinstance(value, ModuleType | type):
            getter, is_there, _ = _engine.raw_attribute(type(value), "__len__")
            if is_there and isinstance(getter, FunctionType):
                yield from self._from_call(getter, value, text, depth)

    def _called(
        self, value: Any, spec: Any, call: Call, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        text += "()"
        instead = replacement(value)
        if instead is not None:
            self.impure.append((*_label(where, text), instead))
            return
        if depth > _MAX_DEPTH:
            return
        called = self._call(where[0], value, call, depth + 1)
        for result, inner in self._returned(called, depth + 1):
            yield result, inner, text


def _label(where: tuple[_Activation, int], what: Any) -> tuple[str, str]:
    activation, line = where
    code = activation.code
    name = what.__qualname__ + ".__defaults__" if isinstance(what, FunctionType) else str(what)
    return name, f"at {code.co_filename}:{line or code.co_firstlineno} in {code.co_name}"


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _item_of(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return dict.get(value, key, _MISSING)
    if not isinstance(value, list | tuple) or not isinstance(key, int):
        return _MISSING
    if not -len(value) <= key < len(value):
        return _MISSING
    if isinstance(value, list):
        return list.__getitem__(value, key)
    return tuple.__getitem__(value, key)


def _function_of(callee: Any) -> tuple[FunctionType | None, Any]:
    """The Python function that a call runs, and its first argument."""
    if isinstance(callee, FunctionType):
        return callee, _MISSING
    if isinstance(callee, MethodType):
        inner = callee.__func__
        return (inner, callee.__self__) if isinstance(inner, FunctionType) else (None, None)
    if _is_opaque(callee) or isinstance(callee, ModuleType):
        return None, None
    if isinstance(callee, type):
        init, is_there, _ = _engine.raw_attribute(callee, "__init__")
        if is_there and isinstance(init, FunctionType):
            return init, None
        return None, None
    call, is_there, _ = _engine.raw_attribute(type(callee), "__call__")
    return (call, callee) if is_there and isinstance(call, FunctionType) else (None, None)


def _uses(callee: Any, which: int | str) -> bool:
    """Whether a function does more with an argument than to log it; if in doubt, it does."""
    function, first = _function_of(callee)
    if function is None or not _is_users(function):
        return True
    code = function.__code__
    name = which
    if isinstance(which, int):
        index = which + (first is not _MISSING)
        if index >= code.co_argcount:
            return True
        name = code.co_varnames[index]
    elif which not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return True
    reads = _reads(code)
    return any(path[0] == (ARGUMENT, name) for path in (*reads.used, *reads.passed))


def _is_opaque(value: Any) -> bool:
    """Whether nothing is read within a value: plain data, tensors, objects of Graven's."""
    if isinstance(value, _PLAIN):
        return True
    return _is_foreign_name(type(value).__module__, _OURS)


_RANDOM = frozenset({"numpy.random"})
_OURS = frozenset({"graven", "numpy", "tensorflow", "keras"})


@functools.cache
def _is_foreign_name(module: Any, of: frozenset[str]) -> bool:
    if not isinstance(module, str):
        return False
    return module.partition(".")[0] in of or any(module.startswith(name + ".") for name in of)


_LIBRARIES = _OURS | frozenset(sys.stdlib_module_names) - {"__main__"}


def _is_foreign_module(value: Any) -> bool:
    """Whether a value is a module whose contents are not the user's."""
    if not isinstance(value, ModuleType):
        return False
    return _is_foreign_name(value.__name__, _LIBRARIES)


def _is_users(function: FunctionType) -> bool:
    from graven.autograph._operators.allow_list import is_listed

    module = function.__globals__.get("__name__")
    if not isinstance(module, str):
        return True
    return not _is_foreign_name(module, _LIBRARIES) and not is_listed(module)
