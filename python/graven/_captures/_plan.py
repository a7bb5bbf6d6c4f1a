"""The values that a trace has read, found at its end by walking the paths of its code.

Nothing here runs code of the user's: attributes are looked up as Python does, but properties and
`__getattr__` are read like other functions, by their code.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from graven import _engine
from graven._captures._impure import replacement
from graven._captures._objects import (
    IN_CELL,
    IN_DICT,
    IN_OBJECT,
    MISSING,
    OF_FUNCTION,
    PLAIN,
    RANDOM,
    code_of,
    contents,
    function_of,
    is_a,
    is_foreign_module,
    is_foreign_name,
    is_of_ours,
    is_opaque,
    is_opaque_kind,
    is_users,
    item_of,
    operators_of,
    python_method,
)
from graven._captures._paths import (
    ARGUMENT,
    ATTRIBUTE,
    CALLED,
    CELL,
    EACH,
    GLOBAL,
    ITEM,
    LENGTH,
    Call,
    Node,
    Path,
    Reads,
)
from graven._captures._reads import reads_of

_MAX_EACH = 64  # items of a container whose attributes are watched
_MAX_WALKS = 20_000  # steps of one trace
_MAX_DEPTH = 24  # of calls

_PLAIN_KINDS = frozenset(PLAIN)
_TENSOR = _engine.Tensor
_SPECIAL = frozenset({"__class__", "__dict__"})
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_ITEMS_OF: dict[type, Callable[[Any], Any]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    dict: lambda value: iter(dict.values(value)),
    set: set.__iter__,
    frozenset: frozenset.__iter__,
    deque: deque.__iter__,
}

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
        self.items: dict[Any, _Spec] | None = None

    def reads(self) -> Any:
        if self.whole:
            return None
        items = self.items or {}
        return self.length, {key: spec.reads() for key, spec in items.items()}


class _Namespace:
    """What `globals()` gives, or `vars` of an object."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner


class _Activation:
    """A function as it was called."""

    __slots__ = ("arguments", "cells", "code", "function", "reads")

    def __init__(
        self,
        function: FunctionType,
        reads: Reads,
        arguments: dict[str, Any],
    ) -> None:
        self.function = function
        self.code = function.__code__
        self.reads = reads
        self.arguments = arguments
        names = self.code.co_freevars
        cells = zip(names, function.__closure__ or (), strict=False) if names else ()
        self.cells: dict[str, CellType] = dict(cells)


class _Kind:
    """What there is to know of a class to read attributes of its objects."""

    def __init__(self, kind: type) -> None:
        self.is_opaque = is_opaque_kind(kind)
        self.is_random = is_foreign_name(kind.__module__, RANDOM)
        self.is_metaclass = issubclass(kind, type) and kind is not type
        self.fields = getattr(kind, "_fields", ()) if issubclass(kind, tuple) else ()
        getter, has_getter, _ = _engine.raw_attribute(kind, "__getattribute__")
        self.getter = getter if has_getter and is_a(getter, FunctionType) else None
        self.is_simple = not (
            self.is_opaque
            or self.is_random
            or self.getter
            or issubclass(kind, (ModuleType, type, *_CONTAINERS))
        )
        self.operators: list[FunctionType] = []
        if self.is_opaque or issubclass(kind, (ModuleType, type, FunctionType, MethodType)):
            return
        for name in operators_of(kind):
            operator, is_there, _ = _engine.raw_attribute(kind, name)
            if is_there and is_a(operator, FunctionType):
                self.operators.append(operator)


_Where = tuple[_Activation, int]  # and the line


class Plan:
    """The places and values that a trace has read.

    Args:
      equal: The ids of functions whose captures and defaults are part of the key that finds the
        trace, and so are not watched.

    Attributes:
      of_gradient: Whether what is added now is read by functions of custom gradients, and comes
        after all others.
      impure: Calls of impure functions whose results go on: what is called, where, and what could
        be called instead.
      effects: What the code changes outside of it while it is traced, and where.
    """

    def __init__(self, equal: frozenset[int] = frozenset()) -> None:
        self.of_gradient = False
        self._equal = equal
        self.impure: list[tuple[str, str, str]] = []
        self.effects: list[tuple[str, str]] = []
        self._places: dict[tuple[bool, int, int], tuple[Any, dict[Any, _Spec]]] = {}
        self._done: dict[Any, bool] = {}
        self._steps = 0
        self._looks = False  # without watching
        self._changing: list[tuple[_Activation, Iterable[Path], int]] = []
        # What calls were found to run, and what keeps the ids of the key.
        self._calls: dict[tuple[int, int, int, bool], tuple[Any, Any, Any]] = {}
        # The same for what they get and return, by the ids of activations and calls.
        self._activations: dict[Any, _Activation] = {}
        self._given: dict[tuple[int, int], tuple[list[Any], dict[str, Any]]] = {}
        self._results: dict[tuple[int, bool], list[tuple[Any, _Spec | None]]] = {}
        self._callees: dict[tuple[int, int], list[Any]] = {}
        self._kinds: dict[type, _Kind] = {}

    def add(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        is_traced: bool = False,
    ) -> None:
        """Adds what a function reads that ran with these arguments.

        Args:
          function: The function.
          args: Its positional arguments.
          kwargs: Its keyword arguments.
          is_traced: Whether it is a Function's own, which has bound the default arguments.
        """
        if not is_a(function, FunctionType):
            return
        code = function.__code__
        arguments = dict(zip(code.co_varnames[: code.co_argcount], args, strict=False))
        arguments.update(kwargs)
        if code.co_flags & 4:  # *args
            number = code.co_argcount + code.co_kwonlyargcount
            arguments[code.co_varnames[number]] = tuple(args[code.co_argcount :])
        self._add(function, arguments, 0, is_traced=is_traced)

    def changed(self) -> tuple[list[tuple[int, Any, Any]], list[Any]]:
        """What the added code assigns to: names, as (kind, owner, name), and containers."""
        names: list[tuple[int, Any, Any]] = []
        containers: list[Any] = []
        for activation, paths, depth in self._changing:
            for path in paths:
                # An item, or the contents of what the path leads to.
                for value in self._values(activation, frozenset([path]), depth):
                    if is_a(value, list | dict):
                        containers.append(value)
                kind, name = path[-1]
                if kind == GLOBAL:
                    names.append((IN_DICT, activation.function.__globals__, name))
                elif kind == CELL and name in activation.cells:
                    names.append((IN_CELL, activation.cells[name], name))
                if len(path) == 1:
                    continue
                for owner in self._values(activation, frozenset([path[:-1]]), depth):
                    if kind == ITEM and is_a(owner, list | dict):
                        containers.append(owner)
                    elif kind == ATTRIBUTE and is_a(owner, ModuleType):
                        names.append((IN_DICT, vars(owner), name))
                    elif kind == ATTRIBUTE and not is_opaque(owner):
                        names.append((IN_OBJECT, owner, name))
        return names, containers

    def watches(self, kind: int, owner: Any, name: Any) -> bool:
        """Whether a name in a dict, of an object or in a cell is watched."""
        place = self._places.get((False, kind, id(owner)))
        return place is not None and name in place[1]

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

    def _add(
        self,
        function: FunctionType,
        arguments: dict[str, Any],
        depth: int,
        is_of_object: bool = False,
        is_traced: bool = False,
    ) -> None:
        """Adds what a function reads; one of a library only if it makes an attribute or item."""
        is_left_out = is_of_ours(function) if is_of_object else not is_users(function)
        if depth > _MAX_DEPTH or is_left_out:
            return
        activation = self._activation(function, arguments)
        key = (self.of_gradient, id(activation))
        if key in self._done:
            return
        self._done[key] = True
        reads = activation.reads
        if function.__defaults__ and not is_traced and id(function) not in self._equal:
            where = (activation, 0)
            self._place(OF_FUNCTION, function, "__defaults__", where, function).whole = True
        self.effects += [
            _label((activation, line), _text(path)) for path, line in reads.changed.items()
        ]
        if reads.changed:
            self._changing.append((activation, reads.changed, depth))
        calls: list[tuple[Any, Call]] = []
        for (kind, name), node in reads.roots():
            if not node.is_read and not self._is_read(activation, node, depth):
                continue
            where = (activation, node.line or activation.code.co_firstlineno)
            for value, spec in self._root(activation, kind, name, where):
                self._visit(activation, node, value, spec, str(name), depth, calls)
        for value, call in calls:
            self._call(activation, value, call, depth)

    def _visit(
        self,
        activation: _Activation,
        node: Node,
        value: Any,
        spec: _Spec | None,
        text: str,
        depth: int,
        calls: list[tuple[Any, Call]],
    ) -> None:
        """Adds what the code reads of a value, and appends the calls of it."""
        self._steps += 1
        if self._steps > _MAX_WALKS:
            return
        if node.is_used or (node.passed and self._goes_on(activation, node.passed, depth)):
            if spec is not None:
                spec.whole = True
            self._add_operators(value, depth)
        if value is MISSING or type(value) in _PLAIN_KINDS:
            return
        for call in node.calls:
            calls.append((value, call))
        if not node.steps:
            return
        of_kind = self._kind_of(type(value))
        for kind, what, child in node.steps:
            if not child.is_read and not self._is_read(activation, child, depth):
                continue
            if kind == ATTRIBUTE and of_kind.is_simple and what not in _SPECIAL:
                # Most steps are this one, which _attribute does too.
                found, _, is_own = _engine.raw_attribute(value, what)
                if is_own:
                    inner_text = f"{text}.{what}"
                    inner = self._place(
                        IN_OBJECT, value, what, (activation, child.line), inner_text
                    )
                    self._visit(activation, child, found, inner, inner_text, depth, calls)
                    continue
            where = (activation, child.line or activation.code.co_firstlineno)
            if kind == CALLED and not child.steps:
                # What it returns the function that is called has used itself.
                self._entered(value, what, where, text, depth)
                continue
            for following, inner, inner_text in _STEPS[kind](
                self, value, spec, what, where, text, depth
            ):
                self._visit(activation, child, following, inner, inner_text, depth, calls)

    def _add_operators(self, value: Any, depth: int) -> None:
        """Adds what operators read that Python may call where an object of the user's is used."""
        if type(value) in _PLAIN_KINDS:
            return
        for operator in self._kind_of(type(value)).operators:
            names = operator.__code__.co_varnames[:1]
            self._add(operator, dict(zip(names, (value,), strict=False)), depth + 1)

    def _kind_of(self, kind: type) -> _Kind:
        found = self._kinds.get(kind)
        if found is None:
            found = self._kinds[kind] = _Kind(kind)
        return found

    def _is_read(self, activation: _Activation, node: Node, depth: int) -> bool:
        """Whether a value, or what steps from it lead to, is used by a call that gets it."""
        return self._goes_on(activation, node.passed, depth) or any(
            child.is_read or self._is_read(activation, child, depth) for _, _, child in node.steps
        )

    def _goes_on(
        self, activation: _Activation, sites: list[tuple[Call, int | str]], depth: int
    ) -> bool:
        """Whether a value that calls get is used, and not only logged."""
        for call, which in sites:
            key = (id(activation), id(call))
            callees = self._callees.get(key)
            if callees is None:
                callees = self._values(activation, call.callee, depth)
                by_code = {code_of(callee) or id(callee): callee for callee in callees}
                callees = self._callees[key] = list(by_code.values())
            if not callees or any(_uses(callee, which) for callee in callees):
                return True
        return False

    def _call(self, activation: _Activation, callee: Any, call: Call, depth: int) -> Any:
        """Adds what a call reads; returns the function and its arguments, or None."""
        key = (id(activation), id(call), id(callee), self._looks)
        known = self._calls.get(key)
        if known is None:
            # A loop may give a call what it has returned before.
            self._calls[key] = None, activation, callee
            known = self._calls[key] = (
                self._found_call(activation, callee, call, depth),
                activation,
                callee,
            )
        return known[0]

    def _found_call(self, activation: _Activation, callee: Any, call: Call, depth: int) -> Any:
        if callee is os.getenv and call.constant is not None:
            where = (activation, 0)
            for _, spec, _ in self._item(os.environ, None, call.constant, where, "os.environ", 0):
                spec.whole = True
        if callee is getattr or callee is hasattr:
            self._add_getattr(activation, call, depth)
            return None
        function, first = function_of(callee)
        if function is None or not is_users(function):
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
        if first is not MISSING and names:
            arguments[names[0]] = first
            start = 1
        args, kwargs = self._given_to(activation, call, depth)
        for name, value in (*zip(names[start:], args, strict=False), *kwargs.items()):
            arguments.pop(name, None)
            if value is not MISSING:
                arguments[name] = value
        if not self._looks:
            self._add(function, arguments, depth + 1)
        return function, arguments

    def _given_to(
        self, activation: _Activation, call: Call, depth: int
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, MISSING where they are not found."""
        key = (id(activation), id(call))
        found = self._given.get(key)
        if found is None:
            self._given[key] = [], {}  # a loop may give a call what it has returned before

            def first(paths: frozenset[Path]) -> Any:
                return next(iter(self._values(activation, paths, depth, most=1)), MISSING)

            args = [first(paths) for paths in call.args]
            found = args, {name: first(paths) for name, paths in call.kwargs.items()}
            self._given[key] = found
        return found

    def _activation(self, function: FunctionType, arguments: dict[str, Any]) -> _Activation:
        reads = _reads(function.__code__)
        values = [arguments.get(name, MISSING) for name in reads.arguments]
        key = (id(function), *[0 if issubclass(type(v), _TENSOR) else id(v) for v in values])
        found = self._activations.get(key)
        if found is None:
            named = {
                name: value
                for name, value in zip(reads.arguments, values, strict=True)
                if value is not MISSING and not issubclass(type(value), _TENSOR)
            }
            found = self._activations[key] = _Activation(function, reads, named)
        return found

    def _add_getattr(self, activation: _Activation, call: Call, depth: int) -> None:
        owners, names = (self._values(activation, paths, depth) for paths in call.args[:2])
        for owner, name in itertools.product(owners, names):
            if type(name) is not str or owner is MISSING:
                continue
            found = self._attribute(owner, None, name, (activation, 0), "getattr()", depth)
            for value, spec, _ in found:
                if spec is not None:
                    spec.whole = True
                self._add_operators(value, depth)

    def _returned(self, called: Any, depth: int) -> Iterator[tuple[Any, _Spec | None]]:
        if called is None or depth > _MAX_DEPTH:
            return
        inner = self._activation(*called)
        key = (id(inner), self._looks)
        found = self._results.get(key)
        if found is None:
            self._results[key] = []  # a recursive call
            line = inner.code.co_firstlineno
            walks = (self._walk(inner, path, line, depth + 1) for path in inner.reads.returned)
            found = self._results[key] = list(itertools.chain.from_iterable(walks))
        yield from found

    # --- Paths.

    def _values(
        self, activation: _Activation, paths: frozenset[Path], depth: int, most: int = _MAX_EACH
    ) -> list[Any]:
        """The values that paths lead to, which are not watched for that."""
        before, self._looks = self._looks, True
        try:
            walks = (self._walk(activation, path, 0, depth) for path in paths)
            pairs = itertools.islice(itertools.chain.from_iterable(walks), most)
            return [value for value, _ in pairs]
        finally:
            self._looks = before

    def _place(self, kind: int, owner: Any, name: Any, where: _Where, what: Any) -> _Spec:
        if self._looks:
            return _Spec(("", ""))
        key = (self.of_gradient, kind, id(owner))
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = (owner, {})
        spec = place[1].get(name)
        if spec is None:
            spec = place[1][name] = _Spec(_label(where, what))
        return spec

    def _walk(
        self, activation: _Activation, path: Path, line: int, depth: int
    ) -> Iterator[tuple[Any, _Spec | None]]:
        """Yields the values that a path leads to, and what watches each; None if nothing does."""
        kind, name = path[0]
        where = (activation, line or activation.code.co_firstlineno)
        for value, spec in self._root(activation, kind, name, where):
            yield from self._follow(value, spec, path, 1, where, str(name), depth)

    def _root(
        self, activation: _Activation, kind: str, name: str, where: _Where
    ) -> Iterable[tuple[Any, _Spec | None]]:
        """The value of a variable, if it has one."""
        spec: _Spec | None = None
        if kind == GLOBAL:
            names = activation.function.__globals__
            value = names.get(name, MISSING)
            if value is MISSING:
                builtins = names.get("__builtins__", {})
                if is_a(builtins, ModuleType):
                    builtins = vars(builtins)
                if name not in builtins:
                    self._place(IN_DICT, names, name, where, name)
                    return ()
                value = builtins[name]
            elif not is_foreign_module(value):
                spec = self._place(IN_DICT, names, name, where, name)
        elif kind == ARGUMENT:
            value = activation.arguments.get(name, MISSING)
        else:
            cell = activation.cells.get(name)
            if cell is None:
                return ()
            value = contents(cell)
            if is_a(value, _engine.Tensor) and not is_a(value, _engine.EagerTensor):
                return ()  # a variable of a function that ran in the trace
            if id(activation.function) not in self._equal:
                spec = self._place(IN_CELL, cell, name, where, name)
        return ((value, spec),)

    def _follow(
        self,
        value: Any,
        spec: _Spec | None,
        path: Path,
        at: int,
        where: _Where,
        text: str,
        depth: int,
    ) -> Iterator[tuple[Any, _Spec | None]]:
        self._steps += 1
        if self._steps > _MAX_WALKS:
            return
        if at == len(path):
            yield value, spec
            return
        if value is MISSING:
            return
        kind, what = path[at]
        for following, inner, inner_text in _STEPS[kind](
            self, value, spec, what, where, text, depth
        ):
            yield from self._follow(following, inner, path, at + 1, where, inner_text, depth)

    def _attribute(
        self, value: Any, spec: Any, name: str, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        text = f"{text}.{name}"
        if is_a(value, ModuleType):
            if is_foreign_module(value):
                # What it holds is not watched, but what lies behind it may be: os.environ.
                yield vars(value).get(name, MISSING), None, text
            else:
                yield (
                    vars(value).get(name, MISSING),
                    self._place(IN_DICT, vars(value), name, where, text),
                    text,
                )
            return
        of_kind = self._kind_of(type(value))
        if of_kind.is_random:
            yield getattr(value, name, MISSING), None, text
            return
        if of_kind.is_opaque:
            return
        if name == "__class__":
            yield type(value), None, text
            return
        if name == "__dict__":
            yield _Namespace(value), None, text
            return
        if of_kind.getter is not None:
            yield from self._from_call(of_kind.getter, value, text, depth, name)
            return
        if of_kind.is_metaclass and type(value) is not type:
            found, is_there, _ = _engine.raw_attribute(type(value), name)
            if is_there and is_a(found, property) and is_a(found.fget, FunctionType):
                yield from self._from_call(found.fget, value, text, depth)
                return
        if name in of_kind.fields:
            yield from self._item(value, spec, of_kind.fields.index(name), where, text, depth)
            return
        if type(value) in _CONTAINERS:
            return
        found, is_there, is_own = _engine.raw_attribute(value, name)
        if not is_there:
            yield MISSING, self._place(IN_OBJECT, value, name, where, text), text
            fallback, has_fallback, _ = _engine.raw_attribute(type(value), "__getattr__")
            if has_fallback and is_a(fallback, FunctionType):
                yield from self._from_call(fallback, value, text, depth, name)
            return
        inner = self._place(IN_OBJECT, value, name, where, text)
        if is_own or (is_a(value, type) and is_a(found, type)):
            yield found, inner, text
        elif is_a(found, property):
            if is_a(found.fget, FunctionType):
                yield from self._from_call(found.fget, value, text, depth)
        elif (own_get := python_method(found, "__get__")) is not None:
            yield from self._from_call(own_get, found, text, depth, value, type(value))
        elif is_a(found, functools.cached_property):
            if is_a(found.func, FunctionType):
                yield from self._from_call(found.func, value, text, depth)
        elif is_a(found, FunctionType):
            yield (found if is_a(value, type) else MethodType(found, value)), inner, text
        elif is_a(found, staticmethod):
            yield found.__func__, inner, text
        elif is_a(found, classmethod):
            owner = value if is_a(value, type) else type(value)
            yield MethodType(found.__func__, owner), inner, text
        else:
            yield found, inner, text

    def _from_call(
        self, function: FunctionType, instance: Any, text: str, depth: int, *more: Any
    ) -> Iterator[tuple[Any, Any, str]]:
        """The results of a property, or of `__getattr__`."""
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        arguments = dict(zip(names, (instance, *more), strict=False))
        if is_of_ours(function) or depth > _MAX_DEPTH:
            return
        if not self._looks:
            self._add(function, arguments, depth + 1, is_of_object=True)
        for value, spec in self._returned((function, arguments), depth + 1):
            yield value, spec, text

    def _item(
        self, value: Any, spec: Any, key: Any, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        text = f"{text}[{key!r}]"
        if value is os.environ:
            if is_a(key, str):
                # Where os.environ keeps it, in the encoding of the system.
                data = os.environ._data
                encoded = os.environ.encodekey(key)
                yield (
                    data.get(encoded, MISSING),
                    self._place(IN_DICT, data, encoded, where, text),
                    text,
                )
            return
        if is_a(value, _Namespace):
            if is_a(value.owner, dict):
                inner = self._place(IN_DICT, value.owner, key, where, text)
                yield value.owner.get(key, MISSING), inner, text
            elif type(key) is str:
                yield from self._attribute(value.owner, spec, key, where, text, depth)
            return
        if is_a(value, deque):
            yield from self._each(value, spec, None, where, text, depth)
            return
        if is_a(value, _CONTAINERS):
            of_item: _Spec | None = None
            if spec is not None:
                if spec.items is None:
                    spec.items = {}
                of_item = spec.items.get(key)
                if of_item is None:
                    of_item = spec.items[key] = _Spec(_label(where, text))
            yield item_of(value, key), of_item, text
            return
        if is_opaque(value) or is_a(value, ModuleType | type):
            return
        getter, is_there, _ = _engine.raw_attribute(type(value), "__getitem__")
        if is_there and is_a(getter, FunctionType):
            yield from self._from_call(getter, value, text, depth, key)

    def _each(
        self, value: Any, spec: Any, what: Any, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        if not is_a(value, _CONTAINERS):
            return
        if spec is not None:
            spec.whole = True
        # A subclass may have an __iter__ of its own, which is the program's code.
        items = next(items for base, items in _ITEMS_OF.items() if is_a(value, base))
        for i, item in enumerate(list(itertools.islice(items(value), _MAX_EACH))):
            yield item, None, f"{text}[{i}]"

    def _length(
        self, value: Any, spec: Any, what: Any, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        if is_a(value, _CONTAINERS):
            if spec is not None:
                spec.length = True
            return
        if not is_opaque(value) and not is_a(value, ModuleType | type):
            getter, is_there, _ = _engine.raw_attribute(type(value), "__len__")
            if is_there and is_a(getter, FunctionType):
                yield from self._from_call(getter, value, text, depth)

    def _called(
        self, value: Any, spec: Any, call: Call, where: Any, text: str, depth: int
    ) -> Iterator[tuple[Any, Any, str]]:
        called = self._entered(value, call, where, text, depth)
        text += "()"
        if value is globals:
            yield _Namespace(where[0].function.__globals__), None, text
            return
        if value is vars and call.args:
            for owner in self._values(where[0], call.args[0], depth):
                yield _Namespace(owner), None, text
            return
        for result, inner in self._returned(called, depth + 1):
            yield result, inner, text

    def _entered(self, value: Any, call: Call, where: Any, text: str, depth: int) -> Any:
        """Adds a call; returns what _call does."""
        instead = replacement(value)
        if instead is not None:
            self.impure.append((*_label(where, text + "()"), instead))
            return None
        return self._call(where[0], value, call, depth + 1) if depth <= _MAX_DEPTH else None


_STEPS: dict[str, Callable[..., Iterator[tuple[Any, Any, str]]]] = {
    ATTRIBUTE: Plan._attribute,
    ITEM: Plan._item,
    EACH: Plan._each,
    LENGTH: Plan._length,
    CALLED: Plan._called,
}


def _label(where: _Where, what: Any) -> tuple[str, str]:
    activation, line = where
    places = activation.reads.places
    place = places.get(line)
    if place is None:
        code = activation.code
        place = f"at {code.co_filename}:{line or code.co_firstlineno} in {code.co_name}"
        places[line] = place
    name = what.__qualname__ + ".__defaults__" if is_a(what, FunctionType) else str(what)
    return name, place


def _text(path: Path) -> str:
    parts = [str(path[0][1])]
    for kind, what in path[1:]:
        parts.append(f".{what}" if kind == ATTRIBUTE else f"[{what!r}]")
    return "".join(parts)


def _uses(callee: Any, which: int | str) -> bool:
    """Whether a function does more with an argument than to log it; if in doubt, it does."""
    function, first = function_of(callee)
    if function is None or not is_users(function):
        return True
    code = function.__code__
    name = which
    if isinstance(which, int):
        index = which + (first is not MISSING)
        if index >= code.co_argcount:
            return True
        name = code.co_varnames[index]
    elif which not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return True
    reads = _reads(code)
    return any(path[0] == (ARGUMENT, name) for path in (*reads.used, *reads.passed))
