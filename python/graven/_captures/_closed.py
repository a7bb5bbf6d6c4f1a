"""Whether a trace is right for all functions of the same code with equal captures.

A Function that gets a fresh lambda at each call may use one trace for all of them only if nothing
can tell them apart, and if tracing again could find nothing new. Both are proven here, before the
trace, by the byte code of all that runs in it: of the traced function, of the functions among its
arguments, and of what these call. Code is *closed* if it computes with its parameters, constants,
locals, plain data and tensors from outside, and calls nothing but pure functions of Graven's, some
builtins, and closed functions. Functions may be called, or passed to functions of Graven's that
call them; they may not be compared, stored, looked into or returned. All that is not known to be
harmless refuses: then a function is an argument by its identity, as in TensorFlow.

Here is what values from outside are, and what calls do with them; `_closed_code` walks through the
code of each function.

What closed code reads outside of itself is noted as places. The engine compares them before it
takes the proof for another call (graven/python/equal_functions.h), and the trace watches them.

No code of the program runs here.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from graven import _engine
from graven._captures._byte_code import parameters
from graven._captures._closed_code import Walk
from graven._captures._closed_values import DATA, Frame, RefusedError, Value, is_data, is_plain
from graven._captures._objects import (
    IN_CELL,
    IN_DICT,
    IN_OBJECT,
    MISSING,
    captures_of,
    contents,
    is_a,
    is_library,
    is_users,
)
from graven._dtypes import DType
from graven._tensor_shape import TensorShape
from graven._variable import Variable

_MAX_INSTRUCTIONS = 3000
_MAX_DEPTH = 12

# The classes of data whose methods Python code could replace.
_CLASSES = (_engine.EagerTensor, _engine.SymbolicTensor, Variable, DType, TensorShape)
# Builtins that give equal results for equal arguments, read nothing else and change nothing.
_BUILTINS = (
    abs,
    bool,
    complex,
    dict,
    divmod,
    enumerate,
    float,
    int,
    len,
    list,
    max,
    min,
    pow,
    range,
    reversed,
    round,
    slice,
    sum,
    tuple,
    zip,
)
# Functions of Graven's that are no records.
_OF_GRAVEN = ("constant", "convert_to_tensor")
# They give random numbers, whose state begins anew with each trace, or raw access to resources.
_LEFT_OUT = frozenset({"compat", "random", "raw_ops"})
# What tensors, variables, shapes and dtypes have, and may be read.
_ATTRIBUTES = frozenset({"dtype", "ndim", "ndims", "rank", "shape"})
_ABSENT = ()
_GETTER: Any = object.__getattribute__


class Place(NamedTuple):
    """Something outside of the code that it reads.

    Attributes:
      kind: IN_DICT, IN_OBJECT or IN_CELL.
      owner: The dict, object or cell.
      name: The name in it.
      keeper: What lives as long as the owner and can be weakly referenced.
      expected: What was found there: None for plain data, whose value the trace watches; a tuple
        of nothing if there is nothing.
      is_fixed: Whether nothing watches it, so that it may not change.
    """

    kind: int
    owner: Any
    name: str
    keeper: Any
    expected: Any
    is_fixed: bool


class Verdict(NamedTuple):
    """What a proof rests on.

    Attributes:
      places: What the code reads outside of itself.
      functions: Functions that it reaches, but for those that are known by what they have captured,
        each with its code and defaults.
      objects: Objects whose attributes it reads.
      classes: Classes of data, whose operators it uses.
    """

    places: list[Place]
    functions: list[tuple[FunctionType, CodeType, Any]]
    objects: list[Any]
    classes: list[type]


class Judge:
    """The proof for one traced function and the functions among its arguments."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int, str], Place] = {}
        self.functions: dict[int, tuple[FunctionType, CodeType, Any]] = {}
        self.objects: dict[int, Any] = {}
        self._left = _MAX_INSTRUCTIONS
        self._depth = 0
        self._by_code: set[int] = set()  # functions whose captures are part of the key

    def run(self, function: Any, arguments: dict[str, Any]) -> None:
        """Raises RefusedError unless the trace of the function is the same for equal arguments.

        Args:
          function: The traced function.
          arguments: The functions and methods among its arguments, by the parameters' names. All
            other arguments are data.
        """
        _check_classes()
        self._check_function(function, "the traced function")
        for value in arguments.values():
            self._add_by_code(value, 0)
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        frame = Frame(code, function, self._free_of(function))
        for name in names:
            value = arguments.get(name)
            frame.values[name] = DATA if value is None else self._classify(value)
        for name in _names_of_rest(code):
            frame.values[name] = DATA
        self._note_function(function)
        self._run(frame)

    # --- Functions and values from outside.

    def _add_by_code(self, value: Any, depth: int) -> None:
        if type(value) is not FunctionType or depth > 4 or id(value) in self._by_code:
            return
        self._by_code.add(id(value))
        for captured in captures_of(value):
            if captured is MISSING:
                raise RefusedError("has captured a variable that has no value")
            self._add_by_code(captured, depth + 1)

    def _check_function(self, function: Any, what: str) -> None:
        if type(function) is not FunctionType:
            raise RefusedError(f"is not all plain Python functions: {what} is none")
        if function.__dict__ or function.__kwdefaults__:
            raise RefusedError(
                f"reaches `{function.__qualname__}`, which has attributes, a wrapper or defaults "
                "of keyword-only parameters"
            )
        if not is_users(function):
            raise RefusedError(f"calls `{function.__qualname__}` of a library")
        if function.__builtins__ is not vars(builtins):
            raise RefusedError("has builtins of its own")
        if _module_of(function) is None:
            raise RefusedError(f"reaches `{function.__qualname__}`, whose globals are no module's")

    def _note_function(self, function: FunctionType) -> None:
        if id(function) not in self._by_code:
            self.functions[id(function)] = (function, function.__code__, function.__defaults__)

    def _free_of(self, function: FunctionType) -> Callable[[str], Value]:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

        def free(name: str) -> Value:
            cell = cells[name]
            value = contents(cell)
            if value is MISSING:
                raise RefusedError(f"reads `{name}`, which has no value")
            if id(function) in self._by_code:
                return self._classify(value)
            return self._at(Place(IN_CELL, cell, name, function, value, False))

        return free

    def _classify(self, value: Any) -> Value:
        kind = type(value)
        if is_plain(value) or kind in (_engine.EagerTensor, Variable, DType):
            return DATA
        if kind is FunctionType:
            return Value("function", value)
        if kind is MethodType:
            if type(value.__func__) is not FunctionType:
                raise RefusedError("gets a method that is no Python function")
            return Value("method", value.__func__, self._classify(value.__self__))
        if kind is _engine.PublicFunction:
            _check_public(value)
            return Value("public", value)
        if kind is _engine.Function:
            return Value("Function", value)
        if kind is ModuleType:
            return Value("module", value)
        if value is isinstance:
            return Value("isinstance")
        if any(value is each for each in _BUILTINS):
            return Value("builtin", value)
        if any(value is vars(sys.modules["graven"]).get(name) for name in _OF_GRAVEN):
            return Value("public", value)
        if kind is BuiltinFunctionType and vars(math).get(value.__name__) is value:
            return Value("builtin", value)
        if kind is type or (is_a(value, type) and kind.__module__.startswith("graven.")):
            return Value("class", value)
        return Value("object", value)

    def _at(self, place: Place) -> Value:
        """The value of a place, which is noted."""
        value = place.expected
        found = self._classify(value)
        if id(value) in self._by_code:
            raise RefusedError(f"reaches a function of the arguments as `{place.name}`, too")
        if type(value) is tuple:
            raise RefusedError(f"reads the tuple `{place.name}`")
        if is_plain(value):
            if not place.is_fixed:
                place = place._replace(expected=None)
        elif found.kind == "module":
            place = place._replace(is_fixed=True)
        self._note(place)
        return found

    def _note(self, place: Place) -> None:
        self.places[place.kind, id(place.owner), place.name] = place

    # --- What walks ask for, as `Outside` says.

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise RefusedError("is too long to be read")

    def global_of(self, function: FunctionType, name: str) -> Value:
        names = function.__globals__
        module = _module_of(function)
        if name in names:
            return self._at(Place(IN_DICT, names, name, module, names[name], False))
        inner = vars(builtins)
        if name not in inner:
            raise RefusedError(f"reads `{name}`, which is not there")
        self._note(Place(IN_DICT, names, name, module, _ABSENT, True))
        return self._at(Place(IN_DICT, inner, name, builtins, inner[name], True))

    def attribute(self, owner: Value, name: str) -> Value:
        if is_data(owner):
            if name in _ATTRIBUTES:
                return DATA
            raise RefusedError(f"reads the attribute `{name}` of a value")
        if owner.kind == "module":
            return self._attribute_of_module(owner.what, name)
        if owner.kind == "object":
            return self._attribute_of_object(owner, name)
        raise RefusedError(f"reads the attribute `{name}` of a function or class")

    def _attribute_of_module(self, module: ModuleType, name: str) -> Value:
        of = vars(module).get("__name__")
        if type(of) is not str or sys.modules.get(of) is not module:
            raise RefusedError(f"reads `{name}` of a module that is not imported")
        is_gravens = of == "graven" or of.startswith("graven.")
        if is_gravens:
            if name.startswith("_") or name in _LEFT_OUT or of.startswith("graven._"):
                raise RefusedError(f"reads `{of}.{name}`")
            getattr(module, name, None)  # it may be made when it is first asked for
        elif module is not math and is_library(of):
            raise RefusedError(f"reads `{of}.{name}`, of a library")
        if name not in vars(module):
            raise RefusedError(f"reads `{of}.{name}`, which is not there")
        is_fixed = is_gravens or module is math
        value = vars(module)[name]
        found = self._at(Place(IN_DICT, vars(module), name, module, value, is_fixed))
        if is_gravens and found.kind not in ("class", "data", "module", "public"):
            raise RefusedError(f"uses `{of}.{name}`, which may do more than compute")
        return found

    def _attribute_of_object(self, owner: Value, name: str) -> Value:
        value = owner.what
        kind = type(value)
        what = f"`{name}` of a `{kind.__name__}`"
        is_simple = (
            type(kind) is type
            and kind.__getattribute__ is _GETTER
            and kind.__weakrefoffset__ != 0
            and not is_a(value, (list, tuple, dict, set, frozenset, str, bytes, int, float))
        )
        if not is_simple or name.startswith("__"):
            raise RefusedError(f"reads {what}")
        self.objects[id(value)] = value
        found, is_there, is_own = _engine.raw_attribute(value, name)
        if not is_there:
            raise RefusedError(f"reads {what}, which is not there")
        if not is_own and hasattr(type(found), "__get__") and type(found) is not FunctionType:
            raise RefusedError(f"reads {what}, which is computed")
        read = self._at(Place(IN_OBJECT, value, name, value, found, False))
        if read.kind == "function" and not is_own:
            return Value("method", found, owner)
        return read

    def call(self, callee: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if callee.kind == "data method":
            values = [*args, *kwargs.values()]
            _check_data(values, f"passes a function or object to `{callee.what}`")
            return DATA
        if callee.kind == "public":
            for value in (*args, *kwargs.values()):
                if not is_data(value):
                    self._call_with_data(value)
            return DATA
        if callee.kind == "isinstance":
            is_known = len(args) == 2 and not kwargs and args[1].kind in ("builtin", "class")
            if not is_known or not is_data(args[0]):
                raise RefusedError("asks for the class of a function or object")
            return DATA
        if callee.kind == "builtin":
            if kwargs:
                raise RefusedError(f"passes keywords to `{callee.what.__name__}`")
            _check_data(args, f"passes a function or object to `{callee.what.__name__}`")
            return DATA
        if callee.kind == "method":
            return self.call(Value("function", callee.what), [callee.more, *args], kwargs)
        if callee.kind == "function":
            function = callee.what
            self._check_function(function, "what it calls")
            self._note_function(function)
            if id(function) not in self._by_code and not is_plain(function.__defaults__):
                raise RefusedError("calls a function with defaults that are no plain data")
            defaults = [self._classify(each) for each in function.__defaults__ or ()]
            frame = Frame(function.__code__, function, self._free_of(function))
            return self._enter(frame, args, kwargs, defaults)
        if callee.kind == "local":
            maker, number = callee.more
            frame = Frame(callee.what, maker.function, maker.load)
            return self._enter(frame, args, kwargs, [DATA] * number)
        if callee.kind == "Function":
            raise RefusedError("calls another Function, whose random numbers go on")
        raise RefusedError("calls something that is not known to be harmless")

    def _call_with_data(self, value: Value) -> None:
        """Calls what a function of Graven's got, which passes tensors to it."""
        if value.kind == "public":
            return
        if value.kind not in ("function", "local", "method"):
            raise RefusedError("passes an object to a function of Graven's")
        code = value.what if value.kind == "local" else value.what.__code__
        number = code.co_argcount - (value.kind == "method")
        if value.kind == "local":
            number -= value.more[1]
        else:
            number -= len(value.what.__defaults__ or ())
        self.call(value, [DATA] * max(number, 0), {})

    def _enter(
        self,
        frame: Frame,
        args: list[Value],
        kwargs: dict[str, Value],
        defaults: list[Value],
    ) -> Value:
        code = frame.code
        names = code.co_varnames[: code.co_argcount]
        values = frame.values
        for i, value in enumerate(args[: len(names)]):
            values[names[i]] = value
        if len(args) > len(names):
            _check_data(args[len(names) :], "passes a function or object by *args")
        for name, value in kwargs.items():
            is_named = name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if not is_named or name in values:
                raise RefusedError(f"passes the keyword `{name}`")
            values[name] = value
        for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            values.setdefault(name, value)
        for name in names:
            if name not in values:
                raise RefusedError(f"does not pass `{name}`")
        for name in _names_of_rest(code):
            values[name] = DATA
        return self._run(frame)

    def _run(self, frame: Frame) -> Value:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise RefusedError("calls functions too deep, or itself")
        Walk(self, frame).run()
        self._depth -= 1
        return DATA


def _check_data(values: list[Value], what: str) -> None:
    if not all(is_data(value) for value in values):
        raise RefusedError(what)


def _check_classes() -> None:
    """Raises RefusedError if the program has put a function of its own into a class of data."""
    for kind in {base for each in _CLASSES for base in each.__mro__}:
        for value in vars(kind).values():
            if type(value) is FunctionType and is_users(value):
                raise RefusedError(f"finds a method of the program's in `{kind.__name__}`")


def _check_public(function: Any) -> None:
    parameters = [name for name, _ in function._parameters]
    if any("seed" in name for name in parameters):
        raise RefusedError(f"calls `{function.__name__}`, which draws random numbers")


def _names_of_rest(code: CodeType) -> tuple[str, ...]:
    """The names of *args and **kwargs."""
    return parameters(code)[code.co_argcount + code.co_kwonlyargcount :]


def _module_of(function: FunctionType) -> ModuleType | None:
    """The module whose names are a function's globals."""
    name = function.__globals__.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    is_its = type(module) is ModuleType and vars(module) is function.__globals__
    return module if is_its else None


def judge(function: Any, arguments: dict[str, Any]) -> Verdict | str:
    """Whether all functions that equal these ones may have one trace of a Function.

    Args:
      function: The Function.
      arguments: The Python functions and methods among the arguments of a call, by the names of
        its parameters.

    Returns:
      What the proof rests on, or why there is none, as "its code does this at that line".
    """
    if sys.version_info[:2] != (3, 11):
        return "byte code of this version of Python is not read"
    if function._options.autograph is not True:
        return "the Function is not converted by AutoGraph"
    made = Judge()
    try:
        made.run(function.python_function, arguments)
    except RefusedError as refusal:
        where = f" at {refusal.args[1]}" if len(refusal.args) > 1 else ""
        return f"code of the trace {refusal.args[0]}{where}"
    except Exception as error:  # a trace does not fail for a proof
        return f"its code could not be read: {error!r}"
    places = list(made.places.values())
    objects = list(made.objects.values())
    return Verdict(places, list(made.functions.values()), objects, list(_CLASSES))
