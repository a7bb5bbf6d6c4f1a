"""Names that may be unbound, and reads of names in converted code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from graven.autograph._conversion import converted_frame


class Undefined:
    """Stands for the value of a name that is not bound.

    Converted code needs something to hand to operators. It answers attributes and items with
    itself, because operators read `a.b` of an unbound `a` too, and is refused by `ld`, so that it
    never gets into the user's hands.

    Args:
      symbol_name: The name, as the user wrote it.
    """

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name == "symbol_name":
            return object.__getattribute__(self, name)
        return self

    def __getitem__(self, key: Any) -> Undefined:
        return self

    def __repr__(self) -> str:
        return self.symbol_name


class UndefinedReturnValue(Undefined):
    """Stands for the value of a function that has not returned yet."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("return value")


def is_undefined(value: Any) -> bool:
    """Tells whether a value stands for an unbound name, or for a return value not yet there."""
    return type(value) is Undefined or type(value) is UndefinedReturnValue


def _raise_unbound(undefined: Undefined) -> NoReturn:
    name = undefined.symbol_name
    kind = NameError if _is_free(name, sys._getframe(2)) else UnboundLocalError
    raise kind(f"'{name}' is used before assignment")


def _is_free(name: str, frame: FrameType | None) -> bool:
    """Whether a name is of a function around the one that reads it. Python has two errors.

    Args:
      name: The name.
      frame: The frame of converted code that reads it, perhaps of a helper of its function.
    """
    while frame is not None:
        converted = converted_frame(frame.f_code)
        if converted is not None and not converted.is_helper:
            own = (*frame.f_code.co_varnames, *frame.f_code.co_cellvars)
            return name not in own and not name.startswith("__")
        frame = frame.f_back
    return False


def ld(value: Any) -> Any:
    """Returns the value of a name that converted code reads.

    Args:
      value: What the name is bound to.

    Raises:
      NameError: It is bound to nothing; an UnboundLocalError if it is the reading function's.
    """
    if type(value) is Undefined:
        _raise_unbound(value)
    return value


def ldu(load: Callable[[], Any], name: str) -> Any:
    """Returns what a composite such as `a.b` or `d['k']` holds, or an Undefined.

    Args:
      load: Reads it.
      name: Its text.
    """
    try:
        return load()
    except (AttributeError, LookupError, NameError, TypeError):
        return Undefined(name)
