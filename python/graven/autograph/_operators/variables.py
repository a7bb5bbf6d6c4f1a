"""Names that may be unbound, and reads of names in converted code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


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
    raise UnboundLocalError(f"'{undefined.symbol_name}' is used before assignment")


def ld(value: Any) -> Any:
    """Returns the value of a name that converted code reads.

    Args:
      value: What the name is bound to.

    Raises:
      UnboundLocalError: It is bound to nothing.
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
