"""The errors of what TensorFlow has and Graven has not (DESIGN 5)."""

from __future__ import annotations

import abc
import enum
import functools
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any


def unsupported(text: str) -> NotImplementedError:
    """Returns the error that says so, to be raised."""
    return NotImplementedError(f"{text}. See docs/errors/not-in-graven.md")


def refuse(function: str, **arguments: Any) -> None:
    """Raises for arguments of TensorFlow's that mean nothing here, if they are given.

    Args:
      function: The public name without "tf.".
      **arguments: The arguments; None and False are not given.

    Raises:
      NotImplementedError: An argument is given.
    """
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise unsupported(f"tf.{function}: Graven does not support {name}={value!r}")


def missing(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """Returns the error about a name that a public module or class does not have, to be raised.

    Args:
      owner: The module or class, such as "tf.math".
      name: What is asked for.
      known: The names that it has.
    """
    text = f"Graven has no {owner}.{name}"
    # Private names are asked for by Python's own machinery, which expects an error at once.
    elsewhere = None if name.startswith("_") else _elsewhere(owner, name)
    if elsewhere:
        text += f"; it has {elsewhere}"
    elif not name.startswith("_"):
        import difflib  # Takes milliseconds, and is for mistakes only.

        # Names that share less are other words: nobody who writes tf.sort means tf.sqrt.
        near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.76)
        if near:
            text += f"; the nearest that it has is {owner}.{near[0]}"
    return AttributeError(f"{text}. See docs/errors/not-in-graven.md", name=name)


def _elsewhere(owner: str, name: str) -> str | None:
    """The public name of what another module has under this name, if the owner is a module."""
    if owner.partition(".")[0] != "tf":
        return None
    for path, module in sorted(sys.modules.items()):
        public = "tf" + path.removeprefix("graven")
        is_public = path.partition(".")[0] == "graven" and "._" not in path
        if is_public and public != owner and name in dir(module):
            return f"{public}.{name}"
    return None


class PublicClass(type):
    """The class of public classes of which TensorFlow has members that Graven has not.

    It answers for the class itself (tf.RaggedTensor.from_tensor): only what is not found comes
    here. Attributes of objects are left to Python, which suggests a name in its traceback, because
    a class with `__getattr__` finds the attributes that it has more slowly; classes of which whole
    families are missing are PublicObjects, too.
    """

    if not TYPE_CHECKING:  # Type checkers are to refuse what is not there.

        def __getattr__(cls, name: str) -> Any:
            if name.startswith("_") or not cls.__module__.startswith("graven."):
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            raise missing(cls.__name__, name, dir(cls))


class PublicAbstractClass(PublicClass, abc.ABCMeta):
    """The same for abstract classes."""


class PublicEnumClass(PublicClass, enum.EnumMeta):
    """The same for enumerations."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            members = cls.__dict__.get("_member_map_", {})
            return members[name] if name in members else super().__getattr__(name)


class PublicObject:
    """A base of public classes whose objects lack methods that TensorFlow's have."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            cls = type(self)
            # Private names are asked for by Python's own machinery. A name that the class has
            # belongs to a property that raised an AttributeError, and raises it again.
            if (
                name.startswith("_")
                or not cls.__module__.startswith("graven.")
                or any(name in vars(base) for base in cls.__mro__)
            ):
                return object.__getattribute__(self, name)
            raise AttributeError(_missing_member(cls, name), name=name)


@functools.lru_cache(maxsize=256)  # Libraries ask by hasattr, again and again.
def _missing_member(cls: type, name: str) -> str:
    return str(missing(cls.__name__, name, dir(cls)))


def refused_operator(symbol: str, of: str, instead: str) -> Callable[..., Any]:
    """Returns a method for an operator that TensorFlow's class has and Graven's has not.

    Args:
      symbol: The operator, such as "+".
      of: What the class is called, such as "ragged tensors".
      instead: What a program can do.
    """

    def refuse_operator(*operands: Any) -> Any:
        raise unsupported(f"Graven does not have `{symbol}` of {of} yet: {instead}")

    return refuse_operator
