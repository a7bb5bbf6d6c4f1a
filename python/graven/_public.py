"""Names of public modules: functions of records by name, made when they are first asked for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from typing import Any

from graven import _engine
from graven._unsupported import missing


@functools.cache
def public_names() -> dict[str, str]:
    """The record of each public name, such as "math.add": an OpDef name, or "" in the library."""
    return _engine.public_op_names() | dict.fromkeys(_engine.library_names(), "")


@functools.cache
def names_in(module: str) -> dict[str, str]:
    """The public names that records give a module, by what follows its own.

    What begins with "_" there is for methods of public classes, and not public.

    Args:
      module: Its full name, such as "graven.math".

    Returns:
      {"add": "math.add"}; for graven.raw_ops {"Add": "raw_ops.Add"}.
    """
    if module == "graven.raw_ops":
        return {name: f"raw_ops.{name}" for name in _engine.op_names()}
    prefix = module.removeprefix("graven").removeprefix(".")
    return {
        name.rpartition(".")[2]: name
        for name in public_names()
        if name.rpartition(".")[0] == prefix and not name.rpartition(".")[2].startswith("_")
    }


@functools.cache
def _library_function(first_name: str) -> _engine.PublicFunction:
    function = _engine.library_function(first_name)
    assert function is not None
    return function


@functools.cache
def function(name: str) -> Any:
    """The function of a public name that a record gives, such as "math.add".

    The names of one record of the library are one object; those of an op go by the name asked for.
    """
    if name.startswith("raw_ops."):
        return _engine.raw_op(name.removeprefix("raw_ops."))
    op = public_names()[name]
    return _engine.public_op(name, op) if op else _library_function(_engine.library_names()[name])


def complete(module: str) -> None:
    """Gives a public module its functions of records, and an answer for names that it lacks.

    Each function is made when it is first asked for. Each public module calls this at its end:
    `__getattr__` and `__dir__` do not stand in the module, so that type checkers, which read the
    module's stub, refuse names that are not there.

    Args:
      module: Its full name, such as "graven.math".
    """
    space = vars(sys.modules[module])

    def listed() -> Iterable[str]:
        return sorted({name for name in space if not name.startswith("_")} | set(names_in(module)))

    def get(name: str) -> Any:
        public = None if name.startswith("_") else names_in(module).get(name)
        if public is None:
            raise missing("tf" + module.removeprefix("graven"), name, listed())
        space[name] = function(public)
        return space[name]

    space["__getattr__"], space["__dir__"] = get, listed
