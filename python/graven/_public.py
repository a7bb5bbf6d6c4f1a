"""Names of public modules: functions of ops by name, made when they are first asked for."""

from __future__ import annotations

import functools
import sys
from typing import Any

from graven import _engine
from graven._unsupported import missing


@functools.cache
def op_names() -> dict[str, str]:
    """The OpDef name of each public name, such as "math.add"."""
    return _engine.public_op_names()


@functools.cache
def names_of_ops(module: str) -> dict[str, str]:
    """The OpDef names of the ops that a public module has functions of, by the functions' names.

    Args:
      module: Its full name, such as "graven.math".
    """
    if module == "graven.raw_ops":
        return {name: name for name in _engine.op_names()}
    return {
        name.rpartition(".")[2]: op
        for name, op in op_names().items()
        if name.rpartition(".")[0] == module.removeprefix("graven").removeprefix(".")
    }


def complete(module: str) -> None:
    """Gives a public module its functions of ops, and an answer for names that it does not have.

    Each function is made when it is first asked for. Each public module calls this at its end:
    `__getattr__` and `__dir__` do not stand in the module, so that type checkers, which read the
    module's stub, refuse names that are not there.

    Args:
      module: Its full name, such as "graven.math".
    """
    space = vars(sys.modules[module])

    def listed() -> list[str]:
        return sorted(
            {name for name in space if not name.startswith("_")} | set(names_of_ops(module))
        )

    def get(name: str) -> Any:
        op = None if name.startswith("_") else names_of_ops(module).get(name)
        if op is None:
            raise missing("tf" + module.removeprefix("graven"), name, listed())
        function = _engine.public_op(name, op)
        space[name] = function
        return function

    space["__getattr__"], space["__dir__"] = get, listed
