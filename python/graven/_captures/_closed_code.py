"""Whether the byte code of one function does only what closed code may do.

Each instruction is followed with what is on the stack: it takes and gives data, or passes on one of
the values that only calls and attributes may touch. What the code gets from outside of itself, and
what its calls do, the caller of the walk answers (`_closed`).
"""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Any, Protocol

from graven._captures._byte_code import instructions
from graven._captures._closed_values import (
    DATA,
    NONE,
    NULL,
    Frame,
    RefusedError,
    Value,
    is_data,
    is_plain,
)

# CO_NESTED and the like do not matter; generators and coroutines run when nobody looks.
_NOT_PLAIN_CODE = 0x20 | 0x80 | 0x100 | 0x200
# Methods of shapes and of the containers that closed code makes; none of tensors and variables,
# which the program may put attributes before.
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

# Instructions that leave the stack as it is.
_NO_EFFECT = frozenset({"RESUME", "NOP", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "LIST_TO_TUPLE"})
# Instructions that compute with so many values, and those that put so many into a container.
_OPERANDS = {
    **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT", "UNARY_NOT"), 1),
    **dict.fromkeys(("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "CONTAINS_OP"), 2),
}
_PUT = {"LIST_EXTEND": 1, "LIST_APPEND": 1, "MAP_ADD": 2, "STORE_SUBSCR": 3}
_INTO_CONTAINER = "puts a function or object into a container"


class Outside(Protocol):
    """What a walk asks for all that is not in the code itself. Each may raise RefusedError."""

    def spend(self) -> None:
        """Counts an instruction."""

    def global_of(self, function: FunctionType, name: str) -> Value:
        """The value of a global of a function."""

    def attribute(self, owner: Value, name: str) -> Value:
        """The value of an attribute."""

    def call(self, callee: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What a call gives."""


class Walk:
    """Follows the byte code of one frame, each instruction once for each depth of the stack."""

    def __init__(self, outside: Outside, frame: Frame) -> None:
        self.outside = outside
        self.frame = frame
        self.keywords: tuple[str, ...] = ()

    def run(self) -> None:
        code, frame = self.frame.code, self.frame
        begin = f"{code.co_filename}:{code.co_firstlineno}"
        if code.co_flags & _NOT_PLAIN_CODE:
            raise RefusedError("is or makes a generator", begin)
        if code.co_exceptiontable:
            raise RefusedError("has `try` or `with`", begin)
        steps = _steps_of(code)
        for opname, _, argval, _ in steps:
            if opname in ("STORE_FAST", "STORE_DEREF"):
                frame.stores[argval] = frame.stores.get(argval, 0) + 1
        at = {offset: i for i, (_, _, _, offset) in enumerate(steps)}
        seen: dict[int, list[Value]] = {}
        to_do: list[tuple[int, list[Value]]] = [(0, [])]
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
            self.outside.spend()
            try:
                targets = self._step(opname, arg, argval, stack)
            except RefusedError as refusal:
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

    def _pop_data(self, stack: list[Value], number: int, what: str) -> None:
        for _ in range(number):
            if not is_data(stack.pop()):
                raise RefusedError(what)

    def _step(self, op: str, arg: int, argval: Any, stack: list[Value]) -> Any:
        """Runs an instruction; returns jumps, and whether the next one follows; None at an end."""
        frame, outside = self.frame, self.outside
        on = ((), True)
        if op in _NO_EFFECT:
            return on
        if op in ("LOAD_FAST", "LOAD_DEREF"):
            stack.append(frame.load(argval))
        elif op in ("STORE_FAST", "STORE_DEREF"):
            if op == "STORE_DEREF" and argval in frame.code.co_freevars:
                raise RefusedError(f"sets the captured variable `{argval}`")
            frame.store(argval, stack.pop())
        elif op == "LOAD_CONST":
            stack.append(NONE if argval is None else _constant(argval))
        elif op == "LOAD_GLOBAL":
            if arg & 1:
                stack.append(NULL)
            stack.append(outside.global_of(frame.function, argval))
        elif op == "PUSH_NULL":
            stack.append(NULL)
        elif op == "POP_TOP":
            stack.pop()
        elif op == "COPY":
            stack.append(stack[-arg])
        elif op == "SWAP":
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif op in _OPERANDS:
            self._pop_data(stack, _OPERANDS[op], "computes with what is no plain data or tensor")
            stack.append(DATA)
        elif op == "IS_OP":
            pair = [stack.pop(), stack.pop()]
            if not any(each.kind == "none" for each in pair):
                raise RefusedError("compares identities by `is`")
            stack.append(DATA)
        elif op in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE", "BUILD_MAP"):
            self._build(op, arg, stack)
        elif op == "BUILD_CONST_KEY_MAP":
            self._pop_data(stack, arg + 1, _INTO_CONTAINER)
            stack.append(DATA)
        elif op in _PUT:
            self._pop_data(stack, _PUT[op], _INTO_CONTAINER)
        elif op in ("UNPACK_SEQUENCE", "GET_ITER"):
            self._pop_data(stack, 1, "iterates over an object")
            stack.extend([DATA] * (arg if op == "UNPACK_SEQUENCE" else 1))
        elif op == "FOR_ITER":
            end = stack[:-1]
            stack.append(DATA)
            return ((argval, end),), True
        elif op in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"):
            return ((argval, list(stack)),), False
        elif op.startswith("POP_JUMP_"):
            if stack.pop().kind not in ("data", "none", "function", "local"):
                raise RefusedError("asks for the truth of an object")
            return ((argval, list(stack)),), True
        elif op in ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"):
            if not is_data(stack[-1]):
                raise RefusedError("asks for the truth of a function or object")
            kept = list(stack)
            stack.pop()
            return ((argval, kept),), True
        elif op == "LOAD_ATTR":
            stack.append(outside.attribute(stack.pop(), argval))
        elif op == "LOAD_METHOD":
            self._load_method(argval, stack)
        elif op == "LOAD_CLOSURE":
            stack.append(Value("cell", argval))
        elif op == "MAKE_FUNCTION":
            self._make_function(arg, stack)
        elif op == "KW_NAMES":
            self.keywords = frame.code.co_consts[arg]
        elif op == "CALL":
            self._call(arg, stack)
        elif op == "RETURN_VALUE":
            self._pop_data(stack, 1, "returns a function or object")
            return None
        elif op == "LOAD_ASSERTION_ERROR":
            stack.append(DATA)
        elif op == "RAISE_VARARGS":
            return None  # A trace that raises is not kept.
        else:
            raise RefusedError(f"does what is not known to be harmless ({op})")
        return on

    def _build(self, op: str, arg: int, stack: list[Value]) -> None:
        number = 2 * arg if op == "BUILD_MAP" else arg
        items = stack[len(stack) - number :]
        del stack[len(stack) - number :]
        if op == "BUILD_TUPLE" and items and all(item.kind == "cell" for item in items):
            stack.append(Value("cells"))
            return
        if not all(is_data(item) for item in items):
            raise RefusedError(_INTO_CONTAINER)
        stack.append(Value("data", None, arg) if op == "BUILD_TUPLE" else DATA)

    def _load_method(self, name: str, stack: list[Value]) -> None:
        owner = stack.pop()
        if is_data(owner):
            if name not in _METHODS:
                raise RefusedError(f"calls the method `{name}` of a value")
            stack += [Value("data method", name), DATA]
        else:
            stack += [NULL, self.outside.attribute(owner, name)]

    def _make_function(self, flags: int, stack: list[Value]) -> None:
        code = stack.pop()
        if code.kind != "code" or flags & 6:
            raise RefusedError("makes a function with annotations or keyword-only defaults")
        if flags & 8:
            stack.pop()  # the cells; its free variables are those of this frame, by name
        number = 0
        if flags & 1:
            defaults = stack.pop()
            if defaults.kind != "data" or defaults.more is None:
                raise RefusedError("makes a function with unusual defaults")
            number = defaults.more
        stack.append(Value("local", code.what, self.frame.maker(number)))

    def _call(self, number: int, stack: list[Value]) -> None:
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
        stack.append(self.outside.call(callee, args, kwargs))


def _constant(value: Any) -> Value:
    if type(value) is CodeType:
        return Value("code", value)
    if type(value) is tuple and is_plain(value):
        return Value("data", None, len(value))
    if is_plain(value) or type(value) in (type(Ellipsis), slice):
        return DATA
    raise RefusedError("has an unusual constant")


def _merged(known: list[Value], now: list[Value]) -> list[Value] | None:
    """None if an instruction has nothing new to be run for."""
    if len(known) != len(now):
        raise RefusedError("has a stack that is not understood")
    merged, is_new = list(known), False
    for i, (before, value) in enumerate(zip(known, now, strict=True)):
        if before.is_like(value):
            continue
        if not (is_data(before) and is_data(value)):
            raise RefusedError("chooses between functions or objects")
        if before is not DATA:
            merged[i], is_new = DATA, True
    return merged if is_new else None


def _steps_of(code: CodeType) -> list[tuple[str, int, Any, int]]:
    return [(i.opname, i.arg, i.argval, i.offset) for i in instructions(code)]


def _line_of(code: CodeType, offset: int) -> int:
    line = code.co_firstlineno
    for start, starts in dis.findlinestarts(code):
        if start > offset:
            break
        line = starts or line
    return line
