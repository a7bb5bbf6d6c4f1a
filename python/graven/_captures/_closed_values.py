"""What closed code computes with: values as far as the proof tells them apart, and variables.

Most are data, and all data is one. The others are functions, objects and the like, of which the
proof has to know which one they are (`_closed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

_MAX_ITEMS = 64
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class RefusedError(Exception):
    """Code is not closed: why, and where if that is known."""


class Value:
    """What a variable or a place of the stack holds, as far as it matters.

    Attributes:
      kind: "data": a tensor, variable, dtype, plain data, or a container of such that was made
        here; "none": the constant, which is data too. Or something that only some instructions may
        touch: "function", "local" (a function made here), "code", "method", "data method",
        "public", "builtin", "isinstance", "class", "module", "object", "Function" (which none may),
        "cell", "cells", "null".
      what: The object itself, or what belongs to the kind.
      more: Of a local function its frame and defaults, of a method its `self`.
    """

    __slots__ = ("kind", "more", "what")

    def __init__(self, kind: str, what: Any = None, more: Any = None) -> None:
        self.kind = kind
        self.what = what
        self.more = more

    def is_like(self, other: Value) -> bool:
        if self is other:
            return True
        return (
            self.kind == other.kind
            and (self.what is other.what or (self.kind == "cell" and self.what == other.what))
            and self.more is other.more
        )


DATA = Value("data")
NONE = Value("none")
NULL = Value("null")


def is_data(value: Value) -> bool:
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


class Frame:
    """One run of a code object.

    Attributes:
      function: The Python function whose globals it has.
      free: What gives the values of its free variables by name.
    """

    def __init__(
        self, code: CodeType, function: FunctionType, free: Callable[[str], Value]
    ) -> None:
        self.code = code
        self.function = function
        self.free = free
        self.values: dict[str, Value] = {}
        self.assumed: set[str] = set()  # read as data before they were seen to be stored
        self.stores: dict[str, int] = {}
        self.makers: dict[int, tuple[Frame, int]] = {}

    def maker(self, number: int) -> tuple[Frame, int]:
        """For local functions with so many defaults; the same object each time."""
        return self.makers.setdefault(number, (self, number))

    def load(self, name: str) -> Value:
        found = self.values.get(name)
        if found is None:
            if name in self.code.co_freevars:
                return self.free(name)
            self.assumed.add(name)
            return DATA
        return found

    def store(self, name: str, value: Value) -> None:
        before = self.values.get(name)
        if is_data(value):
            value = DATA
            if before is not None and not is_data(before):
                raise RefusedError(f"stores more than one thing in `{name}`")
        elif before is not None:
            if not before.is_like(value):
                raise RefusedError(f"stores a function or object in `{name}`")
        elif name in self.assumed or self.stores.get(name, 0) > 1:
            raise RefusedError(f"stores a function or object in `{name}`")
        self.values[name] = value
