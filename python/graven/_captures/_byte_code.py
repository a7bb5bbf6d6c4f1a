"""The instructions and parameters of a code object."""

import dis
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any


class Instruction:
    """What `dis` says of an instruction, as far as a _Reader asks; the object is used again."""

    arg: int
    argrepr: str
    argval: Any
    is_jump_target: bool
    line_number: int
    offset: int
    opcode: int
    opname: str
    starts_line: int | bool | None


def instructions(code: CodeType) -> Iterator[Any]:
    """The instructions of a code object; like `dis`, which takes three times as long."""
    if sys.version_info[:2] != (3, 11):
        yield from dis.get_instructions(code)
        return
    raw = code.co_code
    lines = dict(dis.findlinestarts(code))
    labels = frozenset(dis.findlabels(raw))  # type: ignore[arg-type]
    made = Instruction()
    made.argrepr = ""
    extended = 0
    for offset in range(0, len(raw), 2):
        opcode, arg = raw[offset], raw[offset + 1] | extended
        if opcode == _CACHE:
            continue
        if opcode == dis.EXTENDED_ARG:
            extended = arg << 8
            continue
        extended = 0
        made.opcode, made.arg, made.offset = opcode, arg, offset
        made.opname = dis.opname[opcode]
        made.starts_line = lines.get(offset)
        made.is_jump_target = offset in labels
        kind = _OPERANDS.get(opcode)
        made.argval = arg if kind is None else kind(code, arg, offset)
        yield made


def parameters(code: CodeType) -> tuple[str, ...]:
    """The names of a function's parameters, those of *args and **kwargs at the end."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def _jump_of(opname: str) -> Callable[[CodeType, int, int], int]:
    sign = -2 if "JUMP_BACKWARD" in opname else 2
    return lambda code, arg, offset: offset + 2 + sign * arg


def _name_of(opname: str) -> Callable[[CodeType, int, int], str]:
    shift = opname == "LOAD_GLOBAL"
    return lambda code, arg, offset: code.co_names[arg >> shift]


def _variable(code: CodeType, arg: int, offset: int) -> str:
    name: str = code._varname_from_oparg(arg)  # type: ignore[attr-defined]
    return name


_CACHE = dis.opmap.get("CACHE", 0)
# How to find what the number in an instruction means.
_OPERANDS: dict[int, Callable[[CodeType, int, int], Any]] = {
    **{op: _name_of(dis.opname[op]) for op in dis.hasname},
    **{op: lambda code, arg, offset: code.co_consts[arg] for op in dis.hasconst},
    **{op: _variable for op in (*dis.haslocal, *dis.hasfree)},
    **{op: _jump_of(dis.opname[op]) for op in dis.hasjrel},
}
