"""Whether a trace is right for all functions of the same code with equal captures.

A Function that gets a fresh lambda at each call may use one trace for all of them only if nothing
can tell them apart, and if tracing again could find nothing new. Both are proven here, before the
trace, by the byte code of all that runs in it: of the traced function, of the functions among its
arguments, and of what these call. Code is *closed* if it computes with its parameters, constants,
locals, plain data and tensors from outside, and calls nothing but pure functions of Graven's, some
builtins, and closed functions. Functions may be called, or passed to functions of Graven's that
call them; they may not be compared, stored, looked into or returned. All that is not known to be
harmless refuses: then a function is an argument by its identity, as in TensorFlow.

What closed code reads outside of itself is noted as places. The engine compares them before it
takes the proof for another call (graven/python/equal_functions.h), and the trace watches them.

No code of the program runs here.
"""

from __future__ import annotations

import builtins
import dis
import math
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from graven import _engine
from graven._captures._byte_code import instructions
from graven._captures._objects import is_a, is_users
from graven._dtypes import DType
from graven._tensor_shape import TensorShape
from graven._variable import Variable

DICT, OBJECT, CELL = range(3)  # as WatchedPlace::Kind

_MAX_INSTRUCTIONS = 3000
_MAX_DEPTH = 12
_MAX_ITEMS = 64

# The classes of data whose methods Python code could replace.
_CLASSES = (_engine.EagerTensor, _engine.SymbolicTensor, Variable, DType, TensorShape)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
# CO_NESTED and the like do not matter; generators and coroutines run when nobody looks.
_NOT_PLAIN_CODE = 0x20 | 0x80 | 0x100 | 0x200

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
# What tensors, variables, shapes and dtypes have, and the containers that closed code makes; no
# methods of tensors and variables, which the program may put attributes before.
_ATTRIBUTES = frozenset({"dtype", "ndim", "ndims", "rank", "shape"})
_METHODS = frozenset(
    {
        "append",
        "as_list",
        "extend",
        "get",
        "is_fully_defined",
        "items",
        "keys",
        "values",
    }
)


class Place(NamedTuple):
    """Something outside of the code that it reads.

    Attributes:
      kind: DICT, OBJECT or CELL.
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


class _RefusedError(Exception):
    pass


class _Value:
    """What a variable or a place of the stack holds, as far as it matters.

    Attributes:
      kind: "data": a tensor, variable, dtype, plain data, or a container of such that was made
        here. Or something that only some instructions may touch: "function", "local" (a function
        made here), "method", "public", "builtin", "class", "Function", "module", "object", "cell",
        "cells", "null", "data method".
      what: The object itself, or what belongs to the kind.
      more: Of a local function its frame and defaults, of a method its `self`.
    """

    __slots__ = ("kind", "more", "what")

    def __init__(self, kind: str, what: Any = None, more: Any = None) -> None:
        self.kind = kind
        self.what = what
        self.more = more

    def is_like(self, other: _Value) -> bool:
        if self is other:
            return True
        return (
            self.kind == other.kind
            and (self.what is other.what or (self.kind == "cell" and self.what == other.what))
            and self.more is other.more
        )


_DATA = _Value("data")
_NONE = _Value("none")  # the constant, which is data too
_NULL = _Value("null")
_ABSENT = ()
_GETTER: Any = object.__getattribute__


def _is_data(value: _Value) -> bool:
    return value.kind in ("data", "none")


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is known by its type and value alone. No number that is not one is."""
    kind = type(value)
    if kind is float:
        return not math.isnan(value)
    if kind is complex:
        return not (math.isnan(value.real) or math.isnan(value.imag))
    if kind is tuple:
        return depth < 3 and len(value) <= _MAX_ITEMS and all(is_plain(v, depth + 1) for v in value)
    return kind in _PLAIN


class _Frame:
    """One run of a code object.

    Attributes:
      function: The Python function whose globals it has.
      free: What gives the values of its free variables by name.
    """

    def __init__(
        self, code: CodeType, function: FunctionType, free: Callable[[str], _Value]
    ) -> None:
        self.code = code
        self.function = function
        self.free = free
        self.values: dict[str, _Value] = {}
        self.assumed: set[str] = set()  # read as data before they were seen to be stored
        self.stores: dict[str, int] = {}
        self.makers: dict[int, tuple[_Frame, int]] = {}

    def maker(self, number: int) -> tuple[_Frame, int]:
        """For local functions with so many defaults; the same object each time."""
        return self.makers.setdefault(number, (self, number))

    def load(self, name: str) -> _Value:
        found = self.values.get(name)
        if found is None:
            if name in self.code.co_freevars:
                return self.free(name)
            self.assumed.add(name)
            return _DATA
        return found

    def store(self, name: str, value: _Value) -> None:
        before = self.values.get(name)
        if _is_data(value):
            value = _DATA
            if before is not None and not _is_data(before):
                raise _RefusedError(f"stores more than one thing in `{name}`")
        elif before is not None:
            if not before.is_like(value):
                raise _RefusedError(f"stores a function or object in `{name}`")
        elif name in self.assumed or self.stores.get(name, 0) > 1:
            raise _RefusedError(f"stores a function or object in `{name}`")
        self.values[name] = value


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
        """Raises _RefusedError unless the trace of the function is the same for equal arguments.

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
        frame = _Frame(code, function, self._free_of(function))
        for name in names:
            value = arguments.get(name)
            frame.values[name] = _DATA if value is None else self._classify(value)
        for name in _names_of_rest(code):
            frame.values[name] = _DATA
        self._functions_of(function)
        self._run(frame)

    # --- Functions and values from outside.

    def _add_by_code(self, value: Any, depth: int) -> None:
        if type(value) is not FunctionType or depth > 4 or id(value) in self._by_code:
            return
        self._by_code.add(id(value))
        for cell in value.__closure__ or ():
            try:
                self._add_by_code(cell.cell_contents, depth + 1)
            except ValueError:
                raise _RefusedError("has captured a variable that has no value") from None
        for default in value.__defaults__ or ():
            self._add_by_code(default, depth + 1)

    def _check_function(self, function: Any, what: str) -> None:
        if type(function) is not FunctionType:
            raise _RefusedError(f"is not all plain Python functions: {what} is none")
        if function.__dict__ or function.__kwdefaults__:
            raise _RefusedError(
                f"reaches `{function.__qualname__}`, which has attributes, a wrapper or defaults "
                "of keyword-only parameters"
            )
        if not is_users(function):
            raise _RefusedError(f"calls `{function.__qualname__}` of a library")
        if function.__builtins__ is not vars(builtins):  # type: ignore[attr-defined]
            raise _RefusedError("has builtins of its own")
        if _module_of(function) is None:
            raise _RefusedError(f"reaches `{function.__qualname__}`, whose globals are no module's")

    def _functions_of(self, function: FunctionType) -> None:
        if id(function) not in self._by_code:
            self.functions[id(function)] = (function, function.__code__, function.__defaults__)

    def _free_of(self, function: FunctionType) -> Callable[[str], _Value]:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

        def free(name: str) -> _Value:
            cell = cells[name]
            try:
                value = cell.cell_contents
            except ValueError:
                raise _RefusedError(f"reads `{name}`, which has no value") from None
            if id(function) in self._by_code:
                return self._classify(value)
            return self._at(Place(CELL, cell, name, function, value, False))

        return free

    def _classify(self, value: Any) -> _Value:
        kind = type(value)
        if is_plain(value) or kind in (_engine.EagerTensor, Variable, DType):
            return _DATA
        if kind is FunctionType:
            return _Value("function", value)
        if kind is MethodType:
            if type(value.__func__) is not FunctionType:
                raise _RefusedError("gets a method that is no Python function")
            return _Value("method", value.__func__, self._classify(value.__self__))
        if kind is _engine.PublicFunction:
            _check_public(value)
            return _Value("public", value)
        if kind is _engine.Function:
            return _Value("Function", value)
        if kind is ModuleType:
            return _Value("module", value)
        if value is isinstance:
            return _Value("isinstance")
        if any(value is each for each in _BUILTINS):
            return _Value("builtin", value)
        if any(value is vars(sys.modules["graven"]).get(name) for name in _OF_GRAVEN):
            return _Value("public", value)
        if kind is BuiltinFunctionType and vars(math).get(value.__name__) is value:
            return _Value("builtin", value)
        if kind is type or (is_a(value, type) and kind.__module__.startswith("graven.")):
            return _Value("class", value)
        return _Value("object", value)

    def _at(self, place: Place) -> _Value:
        """The value of a place, which is noted."""
        value = place.expected
        found = self._classify(value)
        if id(value) in self._by_code:
            raise _RefusedError(f"reaches a function of the arguments as `{place.name}`, too")
        if type(value) is tuple:
            raise _RefusedError(f"reads the tuple `{place.name}`")
        if is_plain(value):
            if not place.is_fixed:
                place = place._replace(expected=None)
        elif found.kind == "module":
            place = place._replace(is_fixed=True)
        self._note(place)
        return found

    def _note(self, place: Place) -> None:
        self.places[place.kind, id(place.owner), place.name] = place

    def _global(self, function: FunctionType, name: str) -> _Value:
        names = function.__globals__
        module = _module_of(function)
        if name in names:
            return self._at(Place(DICT, names, name, module, names[name], False))
        inner = vars(builtins)
        if name not in inner:
            raise _RefusedError(f"reads `{name}`, which is not there")
        self._note(Place(DICT, names, name, module, _ABSENT, True))
        return self._at(Place(DICT, inner, name, builtins, inner[name], True))

    def _attribute(self, owner: _Value, name: str) -> _Value:
        if _is_data(owner):
            if name in _ATTRIBUTES:
                return _DATA
            raise _RefusedError(f"reads the attribute `{name}` of a value")
        if owner.kind == "module":
            return self._attribute_of_module(owner.what, name)
        if owner.kind == "object":
            return self._attribute_of_object(owner, name)
        raise _RefusedError(f"reads the attribute `{name}` of a function or class")

    def _attribute_of_module(self, module: ModuleType, name: str) -> _Value:
        of = vars(module).get("__name__")
        if type(of) is not str or sys.modules.get(of) is not module:
            raise _RefusedError(f"reads `{name}` of a module that is not imported")
        is_gravens = of == "graven" or of.startswith("graven.")
        if is_gravens:
            if name.startswith("_") or name in _LEFT_OUT or of.startswith("graven._"):
                raise _RefusedError(f"reads `{of}.{name}`")
            getattr(module, name, None)  # it may be made when it is first asked for
        elif module is not math and not _is_users_module(of):
            raise _RefusedError(f"reads `{of}.{name}`, of a library")
        if name not in vars(module):
            raise _RefusedError(f"reads `{of}.{name}`, which is not there")
        is_fixed = is_gravens or module is math
        value = vars(module)[name]
        found = self._at(Place(DICT, vars(module), name, module, value, is_fixed))
        if is_gravens and found.kind not in ("class", "data", "module", "none", "public"):
            raise _RefusedError(f"uses `{of}.{name}`, which may do more than compute")
        return found

    def _attribute_of_object(self, owner: _Value, name: str) -> _Value:
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
            raise _RefusedError(f"reads {what}")
        self.objects[id(value)] = value
        found, is_there, is_own = _engine.raw_attribute(value, name)
        if not is_there:
            raise _RefusedError(f"reads {what}, which is not there")
        if not is_own and hasattr(type(found), "__get__") and type(found) is not FunctionType:
            raise _RefusedError(f"reads {what}, which is computed")
        read = self._at(Place(OBJECT, value, name, value, found, False))
        if read.kind == "function" and not is_own:
            return _Value("method", found, owner)
        return read

    # --- Calls.

    def _call(self, callee: _Value, args: list[_Value], kwargs: dict[str, _Value]) -> _Value:
        if callee.kind == "data method":
            _check_data(args, kwargs, f"passes a function or object to `{callee.what}`")
            return _DATA
        if callee.kind == "public":
            for value in (*args, *kwargs.values()):
                if not _is_data(value):
                    self._call_with_data(value)
            return _DATA
        if callee.kind == "isinstance":
            is_known = len(args) == 2 and not kwargs and args[1].kind in ("builtin", "class")
            if not is_known or not _is_data(args[0]):
                raise _RefusedError("asks for the class of a function or object")
            return _DATA
        if callee.kind == "builtin":
            if kwargs:
                raise _RefusedError(f"passes keywords to `{callee.what.__name__}`")
            _check_data(args, kwargs, f"passes a function or object to `{callee.what.__name__}`")
            return _DATA
        if callee.kind == "Function":
            raise _RefusedError("calls another Function, whose random numbers go on")
        if callee.kind == "method":
            return self._call(_Value("function", callee.what), [callee.more, *args], kwargs)
        if callee.kind == "function":
            function = callee.what
            self._check_function(function, "what it calls")
            self._functions_of(function)
            if id(function) not in self._by_code and not is_plain(function.__defaults__):
                raise _RefusedError("calls a function with defaults that are no plain data")
            defaults = [self._classify(each) for each in function.__defaults__ or ()]
            frame = _Frame(function.__code__, function, self._free_of(function))
            return self._enter(frame, args, kwargs, defaults)
        if callee.kind == "local":
            maker, number = callee.more
            frame = _Frame(callee.what, maker.function, maker.load)
            return self._enter(frame, args, kwargs, [_DATA] * number)
        raise _RefusedError("calls something that is not known to be harmless")

    def _call_with_data(self, value: _Value) -> None:
        """Calls what a function of Graven's got, which passes tensors to it."""
        if value.kind == "public":
            return
        if value.kind not in ("function", "local", "method"):
            raise _RefusedError("passes an object to a function of Graven's")
        code = value.what if value.kind == "local" else value.what.__code__
        number = code.co_argcount - (value.kind == "method")
        if value.kind == "local":
            number -= value.more[1]
        else:
            number -= len(value.what.__defaults__ or ())
        self._call(value, [_DATA] * max(number, 0), {})

    def _enter(
        self,
        frame: _Frame,
        args: list[_Value],
        kwargs: dict[str, _Value],
        defaults: list[_Value],
    ) -> _Value:
        code = frame.code
        names = code.co_varnames[: code.co_argcount]
        values = frame.values
        for i, value in enumerate(args[: len(names)]):
            values[names[i]] = value
        if len(args) > len(names):
            _check_data(args[len(names) :], {}, "passes a function or object by *args")
        for name, value in kwargs.items():
            is_named = name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if not is_named or name in values:
                raise _RefusedError(f"passes the keyword `{name}`")
            values[name] = value
        for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            values.setdefault(name, value)
        for name in names:
            if name not in values:
                raise _RefusedError(f"does not pass `{name}`")
        for name in _names_of_rest(code):
            values[name] = _DATA
        return self._run(frame)

    # --- Code.

    def _run(self, frame: _Frame) -> _Value:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _RefusedError("calls functions too deep, or itself")
        _Run(self, frame).run()
        self._depth -= 1
        return _DATA

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _RefusedError("is too long to be read")


class _Run:
    """Follows the byte code of one frame, each instruction once for each depth of the stack."""

    def __init__(self, judge: Judge, frame: _Frame) -> None:
        self.judge = judge
        self.frame = frame
        self.keywords: tuple[str, ...] = ()

    def run(self) -> None:
        code, frame = self.frame.code, self.frame
        begin = f"{code.co_filename}:{code.co_firstlineno}"
        if code.co_flags & _NOT_PLAIN_CODE:
            raise _RefusedError("is or makes a generator", begin)
        if code.co_exceptiontable:
            raise _RefusedError("has `try` or `with`", begin)
        steps = _steps_of(code)
        for opname, _, argval, _ in steps:
            if opname in ("STORE_FAST", "STORE_DEREF"):
                frame.stores[argval] = frame.stores.get(argval, 0) + 1
        at = {offset: i for i, (_, _, _, offset) in enumerate(steps)}
        seen: dict[int, list[_Value]] = {}
        to_do: list[tuple[int, list[_Value]]] = [(0, [])]
        while to_do:
            i, stack = to_do.pop()
            known = seen.get(i)
            if known is not None:
                merged = _merged(known, stack)
                if merged is None:
                    continue
                stack = merged
            seen[i] = list(stack)
            opname, arg, argval, offset = steps[i]
            self.judge.spend()
            try:
                targets = self._step(opname, arg, argval, stack)
            except _RefusedError as refusal:
                if len(refusal.args) == 1:
                    line = _line_of(code, offset)
                    refusal.args = (refusal.args[0], f"{code.co_filename}:{line}")
                raise
            if targets is None:
                continue
            jumps, falls = targets
            for target, left in jumps:
                to_do.append((at[target], left))
            if falls:
                to_do.append((i + 1, stack))

    def _pop_data(self, stack: list[_Value], what: str) -> None:
        if not _is_data(stack.pop()):
            raise _RefusedError(what)

    def _step(self, op: str, arg: int, argval: Any, stack: list[_Value]) -> Any:
        """Runs an instruction; returns jumps, and whether the next one follows; None at an end."""
        frame, judge = self.frame, self.judge
        on = ((), True)
        if op in ("RESUME", "NOP", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL"):
            return on
        if op in ("LOAD_FAST", "LOAD_DEREF"):
            stack.append(frame.load(argval))
        elif op in ("STORE_FAST", "STORE_DEREF"):
            if op == "STORE_DEREF" and argval in frame.code.co_freevars:
                raise _RefusedError(f"sets the captured variable `{argval}`")
            frame.store(argval, stack.pop())
        elif op == "LOAD_CONST":
            stack.append(_NONE if argval is None else _constant(argval))
        elif op == "LOAD_GLOBAL":
            if arg & 1:
                stack.append(_NULL)
            stack.append(judge._global(frame.function, argval))
        elif op == "PUSH_NULL":
            stack.append(_NULL)
        elif op == "POP_TOP":
            stack.pop()
        elif op == "COPY":
            stack.append(stack[-arg])
        elif op == "SWAP":
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif op in ("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT", "UNARY_NOT"):
            self._pop_data(stack, "computes with what is no plain data or tensor")
            stack.append(_DATA)
        elif op in ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "CONTAINS_OP"):
            for _ in range(2):
                self._pop_data(stack, "computes with what is no plain data or tensor")
            stack.append(_DATA)
        elif op == "IS_OP":
            pair = [stack.pop(), stack.pop()]
            if not any(each.kind == "none" for each in pair):
                raise _RefusedError("compares identities by `is`")
            stack.append(_DATA)
        elif op in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE", "BUILD_MAP"):
            self._build(op, arg, stack)
        elif op == "BUILD_CONST_KEY_MAP":
            for _ in range(arg + 1):
                self._pop_data(stack, "puts a function or object into a container")
            stack.append(_DATA)
        elif op in ("LIST_EXTEND", "LIST_APPEND"):
            self._pop_data(stack, "puts a function or object into a container")
        elif op == "MAP_ADD":
            for _ in range(2):
                self._pop_data(stack, "puts a function or object into a container")
        elif op == "LIST_TO_TUPLE":
            pass
        elif op == "STORE_SUBSCR":
            for _ in range(3):
                self._pop_data(stack, "puts a function or object into a container")
        elif op in ("UNPACK_SEQUENCE", "GET_ITER"):
            self._pop_data(stack, "iterates over an object")
            stack.extend([_DATA] * (arg if op == "UNPACK_SEQUENCE" else 1))
        elif op == "FOR_ITER":
            end = stack[:-1]
            stack.append(_DATA)
            return ((argval, end),), True
        elif op in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"):
            return ((argval, list(stack)),), False
        elif op.startswith("POP_JUMP_"):
            if stack.pop().kind not in ("data", "none", "function", "local"):
                raise _RefusedError("asks for the truth of an object")
            return ((argval, list(stack)),), True
        elif op in ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"):
            if not _is_data(stack[-1]):
                raise _RefusedError("asks for the truth of a function or object")
            kept = list(stack)
            stack.pop()
            return ((argval, kept),), True
        elif op == "LOAD_ATTR":
            stack.append(judge._attribute(stack.pop(), argval))
        elif op == "LOAD_METHOD":
            self._load_method(argval, stack)
        elif op == "LOAD_CLOSURE":
            stack.append(_Value("cell", argval))
        elif op == "MAKE_FUNCTION":
            self._make_function(arg, stack)
        elif op == "KW_NAMES":
            self.keywords = frame.code.co_consts[arg]
        elif op == "CALL":
            self._call(arg, stack)
        elif op == "RETURN_VALUE":
            self._pop_data(stack, "returns a function or object")
            return None
        elif op == "LOAD_ASSERTION_ERROR":
            stack.append(_DATA)
        elif op == "RAISE_VARARGS":
            return None  # A trace that raises is not kept.
        else:
            raise _RefusedError(f"does what is not known to be harmless ({op})")
        return on

    def _build(self, op: str, arg: int, stack: list[_Value]) -> None:
        number = 2 * arg if op == "BUILD_MAP" else arg
        items = stack[len(stack) - number :]
        del stack[len(stack) - number :]
        if op == "BUILD_TUPLE" and items and all(item.kind == "cell" for item in items):
            stack.append(_Value("cells"))
            return
        if not all(_is_data(item) for item in items):
            raise _RefusedError("puts a function or object into a container")
        stack.append(_Value("data", None, arg) if op == "BUILD_TUPLE" else _DATA)

    def _load_method(self, name: str, stack: list[_Value]) -> None:
        owner = stack.pop()
        if _is_data(owner):
            if name not in _METHODS:
                raise _RefusedError(f"calls the method `{name}` of a value")
            stack += [_Value("data method", name), _DATA]
        else:
            stack += [_NULL, self.judge._attribute(owner, name)]

    def _make_function(self, flags: int, stack: list[_Value]) -> None:
        code = stack.pop()
        if code.kind != "code" or flags & 6:
            raise _RefusedError("makes a function with annotations or keyword-only defaults")
        if flags & 8:
            stack.pop()  # the cells; its free variables are those of this frame, by name
        number = 0
        if flags & 1:
            defaults = stack.pop()
            if defaults.kind != "data" or defaults.more is None:
                raise _RefusedError("makes a function with unusual defaults")
            number = defaults.more
        stack.append(_Value("local", code.what, self.frame.maker(number)))

    def _call(self, number: int, stack: list[_Value]) -> None:
        args = stack[len(stack) - number :]
        del stack[len(stack) - number :]
        own = stack.pop()
        first = stack.pop()
        callee = own
        if first.kind != "null":
            callee, args = first, [own, *args]
        names, self.keywords = self.keywords, ()
        kwargs = dict(zip(names, args[len(args) - len(names) :], strict=True)) if names else {}
        args = args[: len(args) - len(names)]
        stack.append(self.judge._call(callee, args, kwargs))


def _constant(value: Any) -> _Value:
    if type(value) is CodeType:
        return _Value("code", value)
    if type(value) is tuple and is_plain(value):
        return _Value("data", None, len(value))
    if is_plain(value) or type(value) in (type(Ellipsis), slice):
        return _DATA
    raise _RefusedError("has an unusual constant")


def _merged(known: list[_Value], now: list[_Value]) -> list[_Value] | None:
    """None if an instruction has nothing new to be run for."""
    if len(known) != len(now):
        raise _RefusedError("has a stack that is not understood")
    merged, is_new = list(known), False
    for i, (before, value) in enumerate(zip(known, now, strict=True)):
        if before.is_like(value):
            continue
        if not (_is_data(before) and _is_data(value)):
            raise _RefusedError("chooses between functions or objects")
        if before is not _DATA:
            merged[i], is_new = _DATA, True
    return merged if is_new else None


def _check_data(args: list[_Value], kwargs: dict[str, _Value], what: str) -> None:
    if not all(_is_data(value) for value in (*args, *kwargs.values())):
        raise _RefusedError(what)


def _check_classes() -> None:
    """Raises _RefusedError if the program has put a function of its own into a class of data."""
    for kind in {base for each in _CLASSES for base in each.__mro__}:
        for value in vars(kind).values():
            if type(value) is FunctionType and is_users(value):
                raise _RefusedError(f"finds a method of the program's in `{kind.__name__}`")


def _check_public(function: Any) -> None:
    parameters = [name for name, _ in function._parameters]
    if any("seed" in name for name in parameters):
        raise _RefusedError(f"calls `{function.__name__}`, which draws random numbers")


def _names_of_rest(code: CodeType) -> tuple[str, ...]:
    """The names of *args and **kwargs."""
    first = code.co_argcount + code.co_kwonlyargcount
    number = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[first : first + number]


def _module_of(function: FunctionType) -> ModuleType | None:
    """The module whose names are a function's globals."""
    name = function.__globals__.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    is_its = type(module) is ModuleType and vars(module) is function.__globals__
    return module if is_its else None


def _is_users_module(name: str) -> bool:
    return is_users(FunctionType((lambda: None).__code__, {"__name__": name}))


def _steps_of(code: CodeType) -> list[tuple[str, int, Any, int]]:
    return [(i.opname, i.arg, i.argval, i.offset) for i in instructions(code)]


def _line_of(code: CodeType, offset: int) -> int:
    line = code.co_firstlineno
    for start, starts in dis.findlinestarts(code):
        if start > offset:
            break
        line = starts or line
    return line


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
    except _RefusedError as refusal:
        where = f" at {refusal.args[1]}" if len(refusal.args) > 1 else ""
        return f"code of the trace {refusal.args[0]}{where}"
    except Exception as error:  # a trace does not fail for a proof
        return f"its code could not be read: {error!r}"
    places = list(made.places.values())
    objects = list(made.objects.values())
    return Verdict(places, list(made.functions.values()), objects, list(_CLASSES))
